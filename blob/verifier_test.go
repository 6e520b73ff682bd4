package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"regexp"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func hexDigest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// drawBytes draws lengths around the part that is held back.
func drawBytes(t *rapid.T) []byte {
	size := rapid.OneOf(rapid.IntRange(0, 100), rapid.IntRange(heldBack-2, heldBack+2), rapid.IntRange(0, 3*heldBack)).Draw(t, "size")
	return bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, size)
}

func TestVerifierHandsOutExactlyWhatTheDigestNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := drawBytes(t)
		var in io.Reader = bytes.NewReader(data)
		if rapid.Bool().Draw(t, "halves") {
			in = iotest.HalfReader(in)
		}
		if rapid.Bool().Draw(t, "data with EOF") {
			in = iotest.DataErrReader(in)
		}
		v := newVerifier(context.Background(), io.NopCloser(in), hexDigest(data), int64(len(data)))
		got, err := io.ReadAll(v)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, got))
	})
}

func TestVerifierNeverHandsOutTheEndOfSomethingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, other := drawBytes(t), drawBytes(t)
		size := rapid.SampledFrom([]int{len(data), len(other)}).Draw(t, "claimed size")
		if bytes.Equal(data, other) {
			return // no change, nothing to find
		}
		v := newVerifier(context.Background(), io.NopCloser(bytes.NewReader(other)), hexDigest(data), int64(size))
		got, err := io.ReadAll(v)
		require.ErrorIs(t, err, ErrCorrupt)
		require.LessOrEqual(t, len(got), max(0, size-heldBack))
	})
}

func TestVerifierPassesFaultsOn(t *testing.T) {
	torn := errors.New("connection torn")
	for _, good := range []int{0, 10, 2 * heldBack} {
		body := io.MultiReader(bytes.NewReader(make([]byte, good)), iotest.ErrReader(torn))
		v := newVerifier(context.Background(), io.NopCloser(body), hexDigest(nil), 3*heldBack)
		_, err := io.ReadAll(v)
		require.ErrorIs(t, err, torn)
		require.NotErrorIs(t, err, ErrCorrupt, "a torn connection says nothing about the object")
	}
}

func FuzzCheckDigest(f *testing.F) {
	form := regexp.MustCompile(`\A[0-9a-f]{64}\z`)
	for _, seed := range []string{"", hexDigest(nil), "../../etc/passwd", hexDigest(nil) + "\n", "ÄÖ"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if err := CheckDigest(s); (err == nil) != form.MatchString(s) {
			t.Fatalf("%q: %v", s, err)
		}
	})
}
