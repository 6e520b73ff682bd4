package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
)

// outputWriter is where data goes. It remembers that it could not be written: many a line is printed by what looks at no error, and what
// looks at one takes it for the server's.
type outputWriter struct {
	io.Writer
	mu     sync.Mutex
	failed error
}

// Write implements io.Writer.
func (o *outputWriter) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.failed == nil {
			o.failed = err
		}
	}
	return n, err
}

// check says of a command that could not write its data why not, whatever came of that.
func (o *outputWriter) check(err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed == nil {
		return err
	}
	cause := o.failed
	var at *fs.PathError
	if errors.As(cause, &at) {
		cause = at.Err
	}
	return &exitError{code: exitFailed, err: fmt.Errorf("writing the output: %w", cause), hint: "what was written is not whole: make room, and run the command again"}
}
