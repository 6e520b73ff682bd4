package agent

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"

	"github.com/ostraka/ostraka/agent/secretfile"
)

// loadKey reads the agent's private key, and makes one where there is none.
func loadKey(path string) (ed25519.PrivateKey, error) {
	key, err := secretfile.ReadKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if key, err = secretfile.CreateKey(path); err != nil {
			return nil, fmt.Errorf("keeping the agent's key: %w", err)
		}
		return key, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the agent's key: %w; put the right file back, or delete it and enrol as a new agent", err)
	}
	return key, nil
}
