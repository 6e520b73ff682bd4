// Package signing signs and checks functions with the Ed25519 key of a project's owner, which never leaves the owner's machine. Server
// and agents check alike, and agents remember the key, so that a server that was taken over cannot feed them other code.
//
// A project's keys form a chain. The first signs itself; each further one is signed by the key before it, so that one known key
// is enough to follow the chain to the newest. Only the newest signs bundles. A lost key is replaced by one that signs itself:
// that breaks the chain, and a person must tell all who knew the old key about the new one.
package signing

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/runtime/statement"
)

// MaxKeys is the longest chain, in keys: it travels with every lease, and a key that is replaced every month lasts five years.
const MaxKeys = 64

// Why a signature or a chain is not believed.
var (
	ErrMalformed    = errors.New("the project's chain of signing keys is malformed")
	ErrUnknownKey   = errors.New("the project's chain of signing keys does not hold the key that is trusted here")
	ErrBroken       = errors.New("the project's signing key was replaced without a signature of the key before it")
	ErrBadSignature = errors.New("the bundle is not signed by the project's signing key")
)

// Link is one key of a chain.
type Link struct {
	Generation int // counts from 1
	PublicKey  []byte
	Signature  []byte // over statement.SigningKey, by the key before or by itself
}

// First makes the link of a key that signs itself.
func First(key ed25519.PrivateKey, project uuid.UUID, generation int) Link {
	return Next(key, project, generation, Public(key))
}

// Next makes the link of a key that the key before it vouches for.
func Next(before ed25519.PrivateKey, project uuid.UUID, generation int, publicKey []byte) Link {
	return Link{generation, publicKey, ed25519.Sign(before, statement.SigningKey(project, generation, publicKey))}
}

// SignedBy says whether a key vouches for the link.
func (l Link) SignedBy(publicKey []byte, project uuid.UUID) bool {
	return verify(publicKey, statement.SigningKey(project, l.Generation, l.PublicKey), l.Signature)
}

// Fingerprint names a public key: its SHA-256 in hexadecimal.
func Fingerprint(publicKey []byte) string {
	sum := sha256.Sum256(publicKey)
	return hex.EncodeToString(sum[:])
}

// IsFingerprint says whether a text has the form of a fingerprint.
func IsFingerprint(text string) bool {
	sum, err := hex.DecodeString(text)
	return err == nil && len(sum) == sha256.Size && hex.EncodeToString(sum) == text
}

// Public is the public half of a key.
func Public(key ed25519.PrivateKey) ed25519.PublicKey {
	return ed25519.PublicKey(key[ed25519.PrivateKeySize-ed25519.PublicKeySize:])
}

// SignBundle vouches for a bundle.
func SignBundle(key ed25519.PrivateKey, project uuid.UUID, function, digest string) []byte {
	return ed25519.Sign(key, statement.Bundle(project, function, digest))
}

// VerifyBundle says whether a key vouches for a bundle.
func VerifyBundle(publicKey []byte, project uuid.UUID, function, digest string, signature []byte) bool {
	return verify(publicKey, statement.Bundle(project, function, digest), signature)
}

// verify is ed25519.Verify for keys and signatures of any length.
func verify(publicKey, message, signature []byte) bool {
	return len(publicKey) == ed25519.PublicKeySize && len(signature) == ed25519.SignatureSize && ed25519.Verify(publicKey, message, signature)
}

// Newest is the last key of a chain, once the chain's form was checked. It says nothing about whom to trust.
func Newest(chain []Link) (Link, error) {
	if len(chain) == 0 || len(chain) > MaxKeys {
		return Link{}, fmt.Errorf("%w: it has %d keys, and 1 to %d are possible", ErrMalformed, len(chain), MaxKeys)
	}
	for i, link := range chain {
		switch {
		case link.Generation != i+1:
			return Link{}, fmt.Errorf("%w: key %d says that it is number %d", ErrMalformed, i+1, link.Generation)
		case len(link.PublicKey) != ed25519.PublicKeySize || len(link.Signature) != ed25519.SignatureSize:
			return Link{}, fmt.Errorf("%w: key %d or its signature is not of Ed25519's length", ErrMalformed, i+1)
		}
	}
	return chain[len(chain)-1], nil
}

// Follow goes from a trusted key along the chain and returns the newest key.
func Follow(project uuid.UUID, chain []Link, fingerprint string) (Link, error) {
	newest, err := Newest(chain)
	if err != nil {
		return Link{}, err
	}
	var trusted []byte
	for _, link := range chain {
		if trusted != nil {
			if !link.SignedBy(trusted, project) {
				return Link{}, fmt.Errorf("%w: key %d, %s", ErrBroken, link.Generation, Fingerprint(link.PublicKey))
			}
			trusted = link.PublicKey
		} else if Fingerprint(link.PublicKey) == fingerprint {
			trusted = link.PublicKey
		}
	}
	if trusted == nil {
		return Link{}, fmt.Errorf("%w: that one is %s, the newest is %s", ErrUnknownKey, fingerprint, Fingerprint(newest.PublicKey))
	}
	return newest, nil
}

// Has says whether a chain holds a key.
func Has(chain []Link, publicKey []byte) bool {
	for _, link := range chain {
		if bytes.Equal(link.PublicKey, publicKey) {
			return true
		}
	}
	return false
}
