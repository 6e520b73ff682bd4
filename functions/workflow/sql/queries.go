// Package sql holds the queries that only workflow makes, each named after its file.
package sql

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed *.sql
var files embed.FS

// The queries.
var (
	AddRun            = store.Load(files, "add_run")
	AddSteps          = store.Load(files, "add_steps")
	AddVersion        = store.Load(files, "add_version")
	AddWorkflow       = store.Load(files, "add_workflow")
	BeginStep         = store.Load(files, "begin_step")
	CountOpenRuns     = store.Load(files, "count_open_runs")
	CountRunningSteps = store.Load(files, "count_running_steps")
	CountWorkflows    = store.Load(files, "count_workflows")
	DeleteRun         = store.Load(files, "delete_run")
	DeleteWorkflow    = store.Load(files, "delete_workflow")
	DropSteps         = store.Load(files, "drop_steps")
	ForgetOldRuns     = store.Load(files, "forget_old_runs")
	ForgetVersions    = store.Load(files, "forget_versions")
	GetRun            = store.Load(files, "get_run")
	GetWorkflow       = store.Load(files, "get_workflow")
	ListRuns          = store.Load(files, "list_runs")
	ListSteps         = store.Load(files, "list_steps")
	ListWorkflows     = store.Load(files, "list_workflows")
	LockRun           = store.Load(files, "lock_run")
	LockWorkflow      = store.Load(files, "lock_workflow")
	LockWorkflows     = store.Load(files, "lock_workflows")
	MoveRun           = store.Load(files, "move_run")
	SayWaiting        = store.Load(files, "say_waiting")
	SetNewest         = store.Load(files, "set_newest")
	SettleStep        = store.Load(files, "settle_step")
	Wait              = store.Load(files, "wait")
	Wake              = store.Load(files, "wake")
)
