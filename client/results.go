package client

import (
	"encoding/json"
	"fmt"
	"io"
)

// ResultReader reads a stream of results.
type ResultReader struct {
	lines *lineReader
}

// NewResultReader reads the body of an answer of StreamResults.
func NewResultReader(r io.Reader) *ResultReader {
	return &ResultReader{lines: newLineReader("results", r)}
}

// Next returns the next result and the line that it was read from, which stays valid until the next call. The error is io.EOF after
// the last result; any other means that the stream broke off, and can be asked for again after the last shard that was read.
func (r *ResultReader) Next() (result ResultLine, line []byte, err error) {
	if line, err = r.lines.next(); err != nil {
		return ResultLine{}, nil, err
	}
	if err := json.Unmarshal(line, &result); err != nil {
		return ResultLine{}, nil, fmt.Errorf("reading results: %w", err)
	}
	return result, line, nil
}
