// Package webhook sends events to the outside as Standard Webhooks 1.0.0 defines: it makes secrets, signs and verifies messages, and posts
// them to allowed addresses. A server must not be a way into its own network, whatever URL a project names.
package webhook

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

const (
	// SecretPrefix tells people and secret scanners what they have found.
	SecretPrefix = "whsec_"
	// MinSecret is the shortest secret, in bytes, as the standard has it.
	MinSecret = 24
	// MaxSecret is the longest.
	MaxSecret = 64
	// secretBytes is the randomness of a secret that is made here.
	secretBytes = 32
)

// NewSecret makes a secret in the form of the standard.
func NewSecret() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails: it ends the program instead
	return SecretPrefix + base64.StdEncoding.EncodeToString(b)
}

// ParseSecret returns the bytes to sign with.
func ParseSecret(text string) ([]byte, error) {
	encoded, found := strings.CutPrefix(text, SecretPrefix)
	if !found {
		return nil, errors.New("a secret begins with " + SecretPrefix)
	}
	secret, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, errors.New("what follows " + SecretPrefix + " is not base64")
	}
	if len(secret) < MinSecret || len(secret) > MaxSecret {
		return nil, fmt.Errorf("the secret has %d bytes: %d to %d are a secret", len(secret), MinSecret, MaxSecret)
	}
	return secret, nil
}
