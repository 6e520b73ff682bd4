package base

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// secretBytes is the randomness of a key: 256 bits, so that its plain SHA-256 can be stored.
const secretBytes = 32

// TokenKind names enrolment tokens in their prefix, as the roles name keys.
const TokenKind = "enrol"

// NewSecret makes a key or token. The prefix tells people and secret scanners what they have found.
func NewSecret(kind string) string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails: it ends the program instead
	return "ostraka_" + kind + "_" + base64.RawURLEncoding.EncodeToString(b)
}

// SecretDigest is what is stored of a key or token.
func SecretDigest(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// LooksLikeSecret spares the database what cannot be a key.
func LooksLikeSecret(s string) bool {
	return strings.HasPrefix(s, "ostraka_") && len(s) <= 100
}
