package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// writeJSON prints a document of the server's with line breaks for people. It never decodes it: decoding would bend integers
// above 2^53.
func writeJSON(w io.Writer, doc []byte) error {
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(doc), "", "  "); err != nil {
		return fmt.Errorf("printing the server's answer: %w", err)
	}
	out.WriteByte('\n')
	_, err := w.Write(quiet(out.Bytes()))
	return err
}

// writeValue prints a value of our own as JSON.
func writeValue(w io.Writer, v any) error {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(quiet(out.Bytes()))
	return err
}

// quiet escapes what drives a terminal and JSON allows as it is: what others chose must not move the cursor, or turn text around. It
// stands in strings alone, so that the document means what it meant.
func quiet(doc []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(doc); {
		r, n := utf8.DecodeRune(doc[i:])
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			out = fmt.Appendf(append(out, doc[done:i]...), `\u%04x`, r)
			done = i + n
		}
		i += n
	}
	if done == 0 {
		return doc
	}
	return append(out, doc[done:]...)
}
