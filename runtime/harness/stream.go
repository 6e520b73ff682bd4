package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// tail counts and hashes all that is written to it and keeps the end.
type tail struct {
	max  int
	kept []byte
	n    int64
	hash hash.Hash
}

func newTail(limit int64) *tail { return &tail{max: int(limit), hash: sha256.New()} }

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.n += int64(len(p))
	t.hash.Write(p)
	t.kept = append(t.kept, p[max(0, len(p)-t.max):]...)
	if over := len(t.kept) - t.max; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

func (t *tail) digest() string { return hex.EncodeToString(t.hash.Sum(nil)) }

// text is the kept end as text, at most max bytes of it.
func (t *tail) text() string { return end(string(t.kept), t.max) }

// whole reports whether text is all that was written.
func (t *tail) whole() bool { return t.n == int64(len(t.kept)) }
