// Package sql holds the queries that only owner makes, each named after its file.
package sql

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed *.sql
var files embed.FS

// The queries.
var (
	SuspectOwners = store.Load(files, "suspect_owners")
	TrustOfOwners = store.Load(files, "trust_of_owners")
)
