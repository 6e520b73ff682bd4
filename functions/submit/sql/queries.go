// Package sql holds the queries that only submit makes, each named after its file.
package sql

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed *.sql
var files embed.FS

// The queries.
var (
	AddJob           = store.Load(files, "add_job")
	AddRule          = store.Load(files, "add_rule")
	CountRules       = store.Load(files, "count_rules")
	DeleteRule       = store.Load(files, "delete_rule")
	DismissShareFlag = store.Load(files, "dismiss_share_flag")
	FollowUpKeys     = store.Load(files, "follow_up_keys")
	GetRule          = store.Load(files, "get_rule")
	ListRules        = store.Load(files, "list_rules")
	LockRules        = store.Load(files, "lock_rules")
	MeanShard        = store.Load(files, "mean_shard")
	OpenJob          = store.Load(files, "open_job")
	SkippedRules     = store.Load(files, "skipped_rules")
	UpdateRule       = store.Load(files, "update_rule")
)
