package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// writeJSON prints a document of the server's with line breaks for people. It never decodes it: decoding would bend integers
// above 2^53.
func writeJSON(w io.Writer, doc []byte) error {
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(doc), "", "  "); err != nil {
		return fmt.Errorf("printing the server's answer: %w", err)
	}
	out.WriteByte('\n')
	_, err := w.Write(out.Bytes())
	return err
}

// writeValue prints a value of our own as JSON.
func writeValue(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
