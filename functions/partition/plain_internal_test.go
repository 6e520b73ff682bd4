package partition

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestALineIsWrittenAsTheEncoderWritesIt has each byte by itself and beside others.
func TestALineIsWrittenAsTheEncoderWritesIt(t *testing.T) {
	texts := []string{"", "plain text, with <html> & 'quotes'", "ü", "\u2028", "a\u2029b", "\x7f"}
	for b := range 0x80 {
		texts = append(texts, string(rune(b)), "a"+string(rune(b))+"b")
	}
	for _, text := range texts {
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		require.NoError(t, encoder.Encode(text))
		got, err := appendText([]byte("before "), []byte(text))
		require.NoError(t, err)
		require.Equal(t, "before "+string(bytes.TrimSuffix(want.Bytes(), []byte("\n"))), string(got), "%q", text)
	}
}
