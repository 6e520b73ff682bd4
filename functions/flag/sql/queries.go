// Package sql holds the queries that only flag makes, each named after its file.
package sql

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed *.sql
var files embed.FS

// The queries.
var (
	AddFlag       = store.Load(files, "add_flag")
	OpenFlagItems = store.Load(files, "open_flag_items")
)
