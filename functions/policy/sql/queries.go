// Package sql holds the queries that only policy makes, each named after its file. Those without a project's table run in a project's role
// or in the server's, on the tables of the same names.
package sql

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed *.sql
var files embed.FS

// The queries.
var (
	AddApproval           = store.Load(files, "add_approval")
	AddOverride           = store.Load(files, "add_override")
	AddGuardianRule       = store.Load(files, "add_guardian_rule")
	AwaitNext             = store.Load(files, "await_next")
	CountDecisions        = store.Load(files, "count_decisions")
	CountOverrides        = store.Load(files, "count_overrides")
	CountGuardianRules    = store.Load(files, "count_guardian_rules")
	CountServerDecisions  = store.Load(files, "count_server_decisions")
	CountWaiting          = store.Load(files, "count_waiting")
	CurrentRules          = store.Load(files, "current_rules")
	DecideApproval        = store.Load(files, "decide_approval")
	EndOverride           = store.Load(files, "end_override")
	ExpiredWaits          = store.Load(files, "expired_waits")
	FindApprovals         = store.Load(files, "find_approvals")
	FindWaiting           = store.Load(files, "find_waiting")
	GetApproval           = store.Load(files, "get_approval")
	GetOverride           = store.Load(files, "get_override")
	ListApprovals         = store.Load(files, "list_approvals")
	ListOverrides         = store.Load(files, "list_overrides")
	LockApproval          = store.Load(files, "lock_approval")
	LockPolicy            = store.Load(files, "lock_policy")
	LockRule              = store.Load(files, "lock_rule")
	LockWait              = store.Load(files, "lock_wait")
	NewestDecisions       = store.Load(files, "newest_decisions")
	NewestServerDecisions = store.Load(files, "newest_server_decisions")
	NextWait              = store.Load(files, "next_wait")
	OverridesInForce      = store.Load(files, "overrides_in_force")
	PolicyHead            = store.Load(files, "policy_head")
	ReleaseJob            = store.Load(files, "release_job")
	RetireRule            = store.Load(files, "retire_rule")
	RuleVersions          = store.Load(files, "rule_versions")
	SetFourEyes           = store.Load(files, "set_four_eyes")
	SubmitterOfJob        = store.Load(files, "submitter_of_job")
	TouchPolicy           = store.Load(files, "touch_policy")
	UseApproval           = store.Load(files, "use_approval")
)
