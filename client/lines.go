package client

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxLineBytes is the longest line of a stream that is read, in bytes: a result with the largest output that is sent inline has a
// tenth of it. A longer line is not from an Ostraka server.
const MaxLineBytes = 1 << 20

// lineReader reads a stream whose lines all end with a line feed: what is cut off is told from what is whole.
type lineReader struct {
	what string // that it reads, for errors
	in   *bufio.Reader
}

func newLineReader(what string, r io.Reader) *lineReader {
	return &lineReader{what: what, in: bufio.NewReaderSize(r, MaxLineBytes+1)}
}

// next returns the next line without its end; it stays valid until the next call. The error is io.EOF at the end of the stream.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.in.ReadSlice('\n')
	switch {
	case err == nil:
		return bytes.TrimSuffix(line, []byte("\n")), nil
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, fmt.Errorf("reading %s: a line has more than %d bytes", l.what, MaxLineBytes)
	case errors.Is(err, io.EOF) && len(line) == 0:
		return nil, io.EOF
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return nil, fmt.Errorf("reading %s: %w", l.what, err)
}
