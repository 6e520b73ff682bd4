// Package python holds ostraka.py, the client for Python: one file, which every server offers for download.
package python

import (
	_ "embed" // the client is part of the program
)

//go:generate go run ./generate ../../openapi.yaml ostraka.py

// Client is ostraka.py.
//
//go:embed ostraka.py
var Client []byte
