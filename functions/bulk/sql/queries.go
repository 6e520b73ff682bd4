// Package sql holds the queries that only bulk makes, each named after its file.
package sql

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed *.sql
var files embed.FS

// The queries.
var (
	AddBulk             = store.Load(files, "add_bulk")
	AddItems            = store.Load(files, "add_items")
	ChooseAgents        = store.Load(files, "choose_agents")
	ChooseFlags         = store.Load(files, "choose_flags")
	ChooseJobs          = store.Load(files, "choose_jobs")
	ChooseProjectAgents = store.Load(files, "choose_project_agents")
	CountFailedWith     = store.Load(files, "count_failed_with")
	CountKeptItems      = store.Load(files, "count_kept_items")
	CountLeft           = store.Load(files, "count_left")
	CountRunning        = store.Load(files, "count_running")
	DoneAgents          = store.Load(files, "done_agents")
	DoneMembers         = store.Load(files, "done_members")
	EndBulk             = store.Load(files, "end_bulk")
	GetBulk             = store.Load(files, "get_bulk")
	GoesOn              = store.Load(files, "goes_on")
	KeyHolds            = store.Load(files, "key_holds")
	ListBulks           = store.Load(files, "list_bulks")
	ListFailures        = store.Load(files, "list_failures")
	LockBulk            = store.Load(files, "lock_bulk")
	LockStarts          = store.Load(files, "lock_starts")
	NextItems           = store.Load(files, "next_items")
	ReopenBulk          = store.Load(files, "reopen_bulk")
	RetryItems          = store.Load(files, "retry_items")
	SettleItem          = store.Load(files, "settle_item")
)
