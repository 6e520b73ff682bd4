package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// readJSONFile reads what people write down as JSON: from a file, or from stdin where it is called -. what is what it is, such as "rule",
// most how many bytes the server takes of one.
func readJSONFile(t *terminal, file, what string, most int64) ([]byte, error) {
	from := t.in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, &exitError{code: exitUsage, err: fmt.Errorf("reading the %s: %w", what, err), hint: "give the path of a file with the " + what + " as JSON, or - for stdin"}
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, most+1))
	if err != nil {
		return nil, fmt.Errorf("reading the %s: %w", what, err)
	}
	if int64(len(text)) > most || !json.Valid(text) {
		return nil, usageError("%s is not a %s: it must be one JSON object of at most %d bytes", file, what, most)
	}
	return text, nil
}
