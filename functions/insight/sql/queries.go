// Package sql holds the queries that only insight makes, each named after its file.
package sql

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed *.sql
var files embed.FS

// The queries.
var (
	AgentStats          = store.Load(files, "agent_stats")
	AgentsForJob        = store.Load(files, "agents_for_job")
	BeginErase          = store.Load(files, "begin_erase")
	CoarsenSamples      = store.Load(files, "coarsen_samples")
	CountOpenJobs       = store.Load(files, "count_open_jobs")
	EraseIncidents      = store.Load(files, "erase_incidents")
	EraseJob            = store.Load(files, "erase_job")
	EraseLeases         = store.Load(files, "erase_leases")
	ErasePage           = store.Load(files, "erase_page")
	EraseRest           = store.Load(files, "erase_rest")
	EraseShards         = store.Load(files, "erase_shards")
	FailingComparisons  = store.Load(files, "failing_comparisons")
	FlagsOfJob          = store.Load(files, "flags_of_job")
	ForgetIdempotency   = store.Load(files, "forget_idempotency")
	ForgetInstances     = store.Load(files, "forget_instances")
	ForgetLeases        = store.Load(files, "forget_leases")
	ForgetPending       = store.Load(files, "forget_pending")
	ForgetRecheckSpent  = store.Load(files, "forget_recheck_spent")
	ForgetRuns          = store.Load(files, "forget_runs")
	ForgetSandboxes     = store.Load(files, "forget_sandboxes")
	ForgetSessions      = store.Load(files, "forget_sessions")
	ForgetSignInLinks   = store.Load(files, "forget_sign_in_links")
	ForgetSilentPending = store.Load(files, "forget_silent_pending")
	ForgetBulkActions   = store.Load(files, "forget_bulk_actions")
	ForgetBulkItems     = store.Load(files, "forget_bulk_items")
	ForgetSwitches      = store.Load(files, "forget_switches")
	InstallationFigures = store.Load(files, "installation_figures")
	JobsToForget        = store.Load(files, "jobs_to_forget")
	LastBackupAt        = store.Load(files, "last_backup_at")
	LeasesForJob        = store.Load(files, "leases_for_job")
	LockJobToErase      = store.Load(files, "lock_job_to_erase")
	NextErasedPage      = store.Load(files, "next_erased_page")
	OutstandingAudits   = store.Load(files, "outstanding_audits")
	ProjectLoads        = store.Load(files, "project_loads")
	ProjectWaits        = store.Load(files, "project_waits")
	ProjectsThatForget  = store.Load(files, "projects_that_forget")
	QueueStats          = store.Load(files, "queue_stats")
	RunsThatWait        = store.Load(files, "runs_that_wait")
	SandboxStats        = store.Load(files, "sandbox_stats")
	ScoringOfJob        = store.Load(files, "scoring_of_job")
	TroubleOfJob        = store.Load(files, "trouble_of_job")
	UncountKept         = store.Load(files, "uncount_kept")
)
