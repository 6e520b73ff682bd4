// Package sql holds the queries that only jobs makes, each named after its file.
package sql

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed *.sql
var files embed.FS

// The queries.
var (
	AddPages          = store.Load(files, "add_pages")
	AddShards         = store.Load(files, "add_shards")
	AgentVersions     = store.Load(files, "agent_versions")
	ArchivedBound     = store.Load(files, "archived_bound")
	BoundStats        = store.Load(files, "bound_stats")
	CancelPage        = store.Load(files, "cancel_page")
	CloseJob          = store.Load(files, "close_job")
	CountControls     = store.Load(files, "count_controls")
	CountMarks        = store.Load(files, "count_marks")
	CountPage         = store.Load(files, "count_page")
	EndJob            = store.Load(files, "end_job")
	EndJobLeases      = store.Load(files, "end_job_leases")
	EndSplitTurn      = store.Load(files, "end_split_turn")
	ExcludedFromRerun = store.Load(files, "excluded_from_rerun")
	FailuresOfJob     = store.Load(files, "failures_of_job")
	GateSplits        = store.Load(files, "gate_splits")
	GetJobSize        = store.Load(files, "get_job_size")
	GetMetrics        = store.Load(files, "get_metrics")
	GetShard          = store.Load(files, "get_shard")
	InputsKept        = store.Load(files, "inputs_kept")
	JobConfirmation   = store.Load(files, "job_confirmation")
	JobHeuristics     = store.Load(files, "job_heuristics")
	JobStats          = store.Load(files, "job_stats")
	JobVerification   = store.Load(files, "job_verification")
	KeepFiles         = store.Load(files, "keep_files")
	KeepMeasures      = store.Load(files, "keep_measures")
	KeepMetrics       = store.Load(files, "keep_metrics")
	ListEvents        = store.Load(files, "list_events")
	ListJobs          = store.Load(files, "list_jobs")
	ListResults       = store.Load(files, "list_results")
	ListShards        = store.Load(files, "list_shards")
	LockJobForSplit   = store.Load(files, "lock_job_for_split")
	LookAgents        = store.Load(files, "look_agents")
	LookFlags         = store.Load(files, "look_flags")
	LookJobs          = store.Load(files, "look_jobs")
	MapAges           = store.Load(files, "map_ages")
	MapAgents         = store.Load(files, "map_agents")
	MapDurations      = store.Load(files, "map_durations")
	MapPages          = store.Load(files, "map_pages")
	MapShards         = store.Load(files, "map_shards")
	MeasureShards     = store.Load(files, "measure_shards")
	Measured          = store.Load(files, "measured")
	MoveSplit         = store.Load(files, "move_split")
	NextSplit         = store.Load(files, "next_split")
	OwnerShares       = store.Load(files, "owner_shares")
	PlaceJob          = store.Load(files, "place_job")
	RunsOfJob         = store.Load(files, "runs_of_job")
	SeeSplitTurn      = store.Load(files, "see_split_turn")
	SplitApart        = store.Load(files, "split_apart")
	SplitsWait        = store.Load(files, "splits_wait")
	StatsSize         = store.Load(files, "stats_size")
	TakeSplitTurn     = store.Load(files, "take_split_turn")
	TrySplit          = store.Load(files, "try_split")
	TryStats          = store.Load(files, "try_stats")
)
