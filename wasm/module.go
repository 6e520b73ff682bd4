package wasm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/ostraka/ostraka/wasm/precheck"
)

// Module is a module by its digest, with a way to get at its bytes. They are
// fetched only when a runner starts.
type Module struct {
	Digest string // SHA-256, 64 lower-case hex characters
	Open   func(context.Context) (io.ReadCloser, error)
}

// FromBytes is a module whose bytes are at hand.
func FromBytes(b []byte) Module {
	return Module{Digest: Digest(b), Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(b)), nil
	}}
}

// Digest returns the digest of a module's bytes.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// read fetches the module's bytes and holds them against the digest.
func (m Module) read(ctx context.Context) ([]byte, error) {
	r, err := m.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening module %s: %w", short(m.Digest), err)
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, precheck.MaxModuleBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading module %s: %w", short(m.Digest), err)
	}
	if len(b) > precheck.MaxModuleBytes {
		return nil, fmt.Errorf("reading module %s: it is larger than the %d bytes that are allowed", short(m.Digest), precheck.MaxModuleBytes)
	}
	if got := Digest(b); got != m.Digest {
		return nil, fmt.Errorf("reading module %s: the stored bytes have digest %s", m.Digest, got)
	}
	return b, nil
}
