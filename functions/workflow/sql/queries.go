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
	AddDonePart       = store.Load(files, "add_done_part")
	AddRolling        = store.Load(files, "add_rolling")
	AddRun            = store.Load(files, "add_run")
	AddSteps          = store.Load(files, "add_steps")
	AddVersion        = store.Load(files, "add_version")
	AddWorkflow       = store.Load(files, "add_workflow")
	AddWrongShard     = store.Load(files, "add_wrong_shard")
	BeginFold         = store.Load(files, "begin_fold")
	BeginStep         = store.Load(files, "begin_step")
	CountBisectionJob = store.Load(files, "count_bisection_job")
	CountOpenRuns     = store.Load(files, "count_open_runs")
	CountRunningSteps = store.Load(files, "count_running_steps")
	CountWorkflows    = store.Load(files, "count_workflows")
	DecideAgain       = store.Load(files, "decide_again")
	DeleteRun         = store.Load(files, "delete_run")
	DeleteWorkflow    = store.Load(files, "delete_workflow")
	DropParts         = store.Load(files, "drop_parts")
	DropSteps         = store.Load(files, "drop_steps")
	EndBisection      = store.Load(files, "end_bisection")
	ExtendRolling     = store.Load(files, "extend_rolling")
	ForgetOldRuns     = store.Load(files, "forget_old_runs")
	ForgetVersions    = store.Load(files, "forget_versions")
	GetFold           = store.Load(files, "get_fold")
	GetPartial        = store.Load(files, "get_partial")
	GetRun            = store.Load(files, "get_run")
	GetWorkflow       = store.Load(files, "get_workflow")
	KeepDocument      = store.Load(files, "keep_document")
	KeepFold          = store.Load(files, "keep_fold")
	ListBisections    = store.Load(files, "list_bisections")
	ListParts         = store.Load(files, "list_parts")
	ListRolling       = store.Load(files, "list_rolling")
	ListRuns          = store.Load(files, "list_runs")
	ListSteps         = store.Load(files, "list_steps")
	ListWorkflows     = store.Load(files, "list_workflows")
	ListWrongShards   = store.Load(files, "list_wrong_shards")
	LockRun           = store.Load(files, "lock_run")
	LockWorkflows     = store.Load(files, "lock_workflows")
	LosePart          = store.Load(files, "lose_part")
	MarkRolling       = store.Load(files, "mark_rolling")
	MoveNext          = store.Load(files, "move_next")
	MoveRun           = store.Load(files, "move_run")
	NoteReportTry     = store.Load(files, "note_report_try")
	PutBisection      = store.Load(files, "put_bisection")
	PutPart           = store.Load(files, "put_part")
	ReportOutput      = store.Load(files, "report_output")
	RetryParts        = store.Load(files, "retry_parts")
	SayRollingWaits   = store.Load(files, "say_rolling_waits")
	SayWaiting        = store.Load(files, "say_waiting")
	SetNewest         = store.Load(files, "set_newest")
	SetStepJob        = store.Load(files, "set_step_job")
	StretchPart       = store.Load(files, "stretch_part")
	SettleStep        = store.Load(files, "settle_step")
	Wait              = store.Load(files, "wait")
	Wake              = store.Load(files, "wake")
)
