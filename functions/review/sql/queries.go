// Package sql holds the queries that only review makes, each named after its file.
package sql

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed *.sql
var files embed.FS

// The queries.
var (
	ControlsOfFlag = store.Load(files, "controls_of_flag")
	GetFlag        = store.Load(files, "get_flag")
	ListFlags      = store.Load(files, "list_flags")
	LoansOfFlag    = store.Load(files, "loans_of_flag")
	ResolveFlag    = store.Load(files, "resolve_flag")
	ResolveFlags   = store.Load(files, "resolve_flags")
	ResolveShards  = store.Load(files, "resolve_shards")
	ShardsInReview = store.Load(files, "shards_in_review")
)
