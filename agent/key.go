package agent

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"

	"github.com/ostraka/ostraka/agent/secretfile"
)

const pemPrivateKey = "PRIVATE KEY"

// loadKey reads the agent's private key, and makes one where there is none.
func loadKey(path string) (ed25519.PrivateKey, error) {
	text, err := secretfile.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return makeKey(path)
	case err != nil:
		return nil, fmt.Errorf("reading the agent's key: %w", err)
	}
	key, err := parseKey(text)
	if err != nil {
		return nil, fmt.Errorf("reading the agent's key %s: %w; put the right file back, or delete it and enrol as a new agent", path, err)
	}
	return key, nil
}

func makeKey(path string) (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, fmt.Errorf("making the agent's key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("making the agent's key: %w", err)
	}
	if err := secretfile.Write(path, pem.EncodeToMemory(&pem.Block{Type: pemPrivateKey, Bytes: der})); err != nil {
		return nil, fmt.Errorf("keeping the agent's key: %w", err)
	}
	return key, nil
}

func parseKey(text []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != pemPrivateKey {
		return nil, errors.New("it holds no private key in PEM")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("decoding it: %w", err)
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, errors.New("it holds a key of another kind than Ed25519")
	}
	return key, nil
}

// publicKey is the public half of a key.
func publicKey(key ed25519.PrivateKey) ed25519.PublicKey {
	return ed25519.PublicKey(key[ed25519.PrivateKeySize-ed25519.PublicKeySize:])
}
