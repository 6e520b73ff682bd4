// Package sql holds the queries that only schedule makes, each named after its file.
package sql

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed *.sql
var files embed.FS

// The queries.
var (
	AddFiring           = store.Load(files, "add_firing")
	AddSchedule         = store.Load(files, "add_schedule")
	AdvanceSchedule     = store.Load(files, "advance_schedule")
	CountSchedules      = store.Load(files, "count_schedules")
	DeleteSchedule      = store.Load(files, "delete_schedule")
	ForgetDue           = store.Load(files, "forget_due")
	ForgetFirings       = store.Load(files, "forget_firings")
	GetSchedule         = store.Load(files, "get_schedule")
	ListFirings         = store.Load(files, "list_firings")
	ListSchedules       = store.Load(files, "list_schedules")
	LockSchedule        = store.Load(files, "lock_schedule")
	LockSchedules       = store.Load(files, "lock_schedules")
	LookAt              = store.Load(files, "look_at")
	OpenFirings         = store.Load(files, "open_firings")
	PauseSchedule       = store.Load(files, "pause_schedule")
	ReplaceSchedule     = store.Load(files, "replace_schedule")
	ResumeSchedule      = store.Load(files, "resume_schedule")
	SameSpec            = store.Load(files, "same_spec")
	SchedulesOfWorkflow = store.Load(files, "schedules_of_workflow")
	SyncSchedule        = store.Load(files, "sync_schedule")
	TakeDue             = store.Load(files, "take_due")
)
