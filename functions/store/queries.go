package store

import (
	"embed"
)

//go:embed sql/*.sql
var files embed.FS

func load(name string) Query { return Load(files, "sql/"+name) }

// The queries that several rooms make, each named after its file in sql/. Those of one room are in its own folder sql/.
var (
	AddAggregation     = load("add_aggregation")
	AskRechecks        = load("ask_rechecks")
	CaughtAgents       = load("caught_agents")
	CodeFacts          = load("code_facts")
	DismissCaughtFlags = load("dismiss_caught_flags")
	EndLease           = load("end_lease")
	FunctionOfJob      = load("function_of_job")
	VolumesOfJob       = load("volumes_of_job")
	GateRechecks       = load("gate_rechecks")
	GetFolding         = load("get_folding")
	GetJob             = load("get_job")
	GetJobState        = load("get_job_state")
	GetPartition       = load("get_partition")
	JobDrain           = load("job_drain")
	ListAttempts       = load("list_attempts")
	LockCredit         = load("lock_credit")
	LockJob            = load("lock_job")
	LockShards         = load("lock_shards")
	LockTrust          = load("lock_trust")
	OpenAudits         = load("open_audits")
	ProjectIDs         = load("project_ids")
	RaiseAudits        = load("raise_audits")
	RefusalsForJob     = load("refusals_for_job")
	ShardInputs        = load("shard_inputs")
	StrandedShards     = load("stranded_shards")
)
