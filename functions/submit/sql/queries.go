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
	AddControls      = store.Load(files, "add_controls")
	AddJob           = store.Load(files, "add_job")
	AddRule          = store.Load(files, "add_rule")
	ChainSpent       = store.Load(files, "chain_spent")
	CountRules       = store.Load(files, "count_rules")
	DeleteRule       = store.Load(files, "delete_rule")
	DismissShareFlag = store.Load(files, "dismiss_share_flag")
	FollowUpKeys     = store.Load(files, "follow_up_keys")
	ForgetFailed     = store.Load(files, "forget_failed")
	GetDecision      = store.Load(files, "get_decision")
	GetRule          = store.Load(files, "get_rule")
	KeepDecision     = store.Load(files, "keep_decision")
	KeepPlan         = store.Load(files, "keep_plan")
	ListChain        = store.Load(files, "list_chain")
	ListDecisions    = store.Load(files, "list_decisions")
	ListRules        = store.Load(files, "list_rules")
	LockRules        = store.Load(files, "lock_rules")
	MeanShard        = store.Load(files, "mean_shard")
	MeasuredShard    = store.Load(files, "measured_shard")
	OpenJob          = store.Load(files, "open_job")
	OwnRule          = store.Load(files, "own_rule")
	RulesOfWorkflow  = store.Load(files, "rules_of_workflow")
	SaidBefore       = store.Load(files, "said_before")
	SkippedRules     = store.Load(files, "skipped_rules")
	UpdateRule       = store.Load(files, "update_rule")
)
