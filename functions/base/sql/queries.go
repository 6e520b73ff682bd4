// Package sql holds the queries that only base makes, each named after its file.
package sql

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed *.sql
var files embed.FS

// The queries.
var (
	AddAudit            = store.Load(files, "add_audit")
	AddEvent            = store.Load(files, "add_event")
	Announce            = store.Load(files, "announce")
	AnnounceJob         = store.Load(files, "announce_job")
	AddServerAudit      = store.Load(files, "add_server_audit")
	GetDeletedJob       = store.Load(files, "get_deleted_job")
	IsArchived          = store.Load(files, "is_archived")
	LookAtWebhooks      = store.Load(files, "look_at_webhooks")
	RememberIdempotency = store.Load(files, "remember_idempotency")
)
