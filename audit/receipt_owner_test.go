package audit_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
)

// signedByOwner gives the function of a receipt a signature and its key.
func signedByOwner(s *audit.Statement, _ *audit.Record) {
	s.Function.SignedBy, s.Function.Signature, s.Function.Key = "1", strings.Repeat("ab", 64), strings.Repeat("cd", 32)
}

// TestNoByteOfAReceiptWithAnOwnersKeyCanBeChanged, the key among them; such a receipt has version 5.
func TestNoByteOfAReceiptWithAnOwnersKeyCanBeChanged(t *testing.T) {
	t.Parallel()
	b := newBook(t, 30, 97)
	text := b.receipt(signedByOwner)
	require.True(t, strings.HasPrefix(string(text), `{"ostraka":"receipt","v":5,"statement":{"v":5,`))
	noByteCanBeChanged(t, text, func(text []byte) error { _, err := audit.OpenReceipt(text, b.verifier()); return err })
}

// TestAnOwnersKeyThatIsNoneIsRefused: one of another length, and one that has signed nothing.
func TestAnOwnersKeyThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*audit.Statement){
		"short":        func(s *audit.Statement) { s.Function.Key = "abcd" },
		"no hex":       func(s *audit.Statement) { s.Function.Key = strings.Repeat("x", 64) },
		"no signature": func(s *audit.Statement) { s.Function.Signature = "" },
	} {
		b := newBook(t, 3, 97)
		text := b.receipt(func(s *audit.Statement, r *audit.Record) {
			signedByOwner(s, r)
			change(s)
		})
		_, err := audit.OpenReceipt(text, b.verifier())
		require.ErrorContains(t, err, "the key of the function's owner is none", name)
	}
}
