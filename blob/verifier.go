package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
)

// heldBack is how many bytes at the end of an object its reader keeps until the
// whole has been verified: small against memory, large against a read's cost.
const heldBack = 32 << 10

// verifier hands out an object and proves its digest before its end.
type verifier struct {
	body   io.ReadCloser
	in     io.Reader
	digest string
	left   int64 // bytes of the body that have not been read
	hash   hash.Hash

	tail     []byte // verified and not yet handed out
	verified bool
	err      error // sticky
}

func newVerifier(ctx context.Context, body io.ReadCloser, digest string, size int64) *verifier {
	return &verifier{body: body, in: contextReader{ctx, body}, digest: digest, left: size, hash: sha256.New()}
}

// Close releases the object; it does not verify what was not read.
func (v *verifier) Close() error { return v.body.Close() }

// Read implements io.Reader.
func (v *verifier) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	if v.left > heldBack {
		return v.pass(p)
	}
	if !v.verified {
		if err := v.finish(); err != nil {
			v.err = fmt.Errorf("reading object %s: %w", v.digest, err)
			return 0, v.err
		}
	}
	n := copy(p, v.tail)
	v.tail = v.tail[n:]
	if n == 0 {
		v.err = io.EOF
	}
	return n, v.err
}

// pass hands bytes straight through, up to the part that is held back.
func (v *verifier) pass(p []byte) (int, error) {
	n, err := v.in.Read(p[:min(int64(len(p)), v.left-heldBack)])
	v.hash.Write(p[:n])
	v.left -= int64(n)
	if err == nil {
		return n, nil
	}
	if errors.Is(err, io.EOF) {
		err = v.short()
	}
	v.err = fmt.Errorf("reading object %s: %w", v.digest, err)
	return n, v.err
}

// finish reads the rest, and one byte more that must not be there.
func (v *verifier) finish() error {
	rest, err := io.ReadAll(io.LimitReader(v.in, v.left+1))
	if err != nil {
		return err
	}
	v.hash.Write(rest)
	if got := int64(len(rest)); got < v.left {
		v.left -= got
		return v.short()
	} else if got > v.left {
		return fmt.Errorf("%w: it is longer than its size says", ErrCorrupt)
	}
	if sum := hex.EncodeToString(v.hash.Sum(nil)); sum != v.digest {
		return fmt.Errorf("%w: its content has the digest %s", ErrCorrupt, sum)
	}
	v.left, v.tail, v.verified = 0, rest, true
	return nil
}

func (v *verifier) short() error {
	return fmt.Errorf("%w: it ends %d bytes early", ErrCorrupt, v.left)
}
