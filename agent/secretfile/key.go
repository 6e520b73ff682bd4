package secretfile

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

const pemPrivateKey = "PRIVATE KEY"

// CreateKey makes an Ed25519 key and writes it as PKCS #8 in PEM.
func CreateKey(path string) (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding a key: %w", err)
	}
	return key, Write(path, pem.EncodeToMemory(&pem.Block{Type: pemPrivateKey, Bytes: der}))
}

// ReadKey reads a key that CreateKey wrote.
func ReadKey(path string) (ed25519.PrivateKey, error) {
	text, err := Read(path)
	if err != nil {
		return nil, err
	}
	key, err := parseKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
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
