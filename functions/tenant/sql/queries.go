// Package sql holds the queries that only tenant makes, each named after its file.
package sql

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed *.sql
var files embed.FS

// The queries.
var (
	AddKey              = store.Load(files, "add_key")
	AddProject          = store.Load(files, "add_project")
	AddSession          = store.Load(files, "add_session")
	AddSignInLink       = store.Load(files, "add_sign_in_link")
	Authenticate        = store.Load(files, "authenticate")
	AuthenticateSession = store.Load(files, "authenticate_session")
	CountKept           = store.Load(files, "count_kept")
	GetKey              = store.Load(files, "get_key")
	GetProject          = store.Load(files, "get_project")
	GetUsage            = store.Load(files, "get_usage")
	KeepCount           = store.Load(files, "keep_count")
	ListKeys            = store.Load(files, "list_keys")
	ListOperatorKeys    = store.Load(files, "list_operator_keys")
	ListProjects        = store.Load(files, "list_projects")
	ListSessions        = store.Load(files, "list_sessions")
	LockUsage           = store.Load(files, "lock_usage")
	QuotasUsed          = store.Load(files, "quotas_used")
	RecheckBudget       = store.Load(files, "recheck_budget")
	RetireKey           = store.Load(files, "retire_key")
	RevokeKey           = store.Load(files, "revoke_key")
	RevokeOperatorKey   = store.Load(files, "revoke_operator_key")
	RevokeSession       = store.Load(files, "revoke_session")
	SetQuotas           = store.Load(files, "set_quotas")
	TouchKey            = store.Load(files, "touch_key")
	TouchSession        = store.Load(files, "touch_session")
	TrimSessions        = store.Load(files, "trim_sessions")
	UpdateProject       = store.Load(files, "update_project")
	UseSignInLink       = store.Load(files, "use_sign_in_link")
)
