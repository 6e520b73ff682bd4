package harness

import "errors"

// ErrInput says that a shard's input cannot be given to a function. The input
// is the caller's to check, so it is an error and not a Result.
var ErrInput = errors.New("the shard's input is not acceptable")

// errClosed says that Run came after Close.
var errClosed = errors.New("the session is closed")
