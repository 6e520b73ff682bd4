// Package sql holds the queries that only dispatch makes, each named after its file.
package sql

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed *.sql
var files embed.FS

// The queries.
var (
	AddAttempts        = store.Load(files, "add_attempts")
	AddLease           = store.Load(files, "add_lease")
	AddRefusal         = store.Load(files, "add_refusal")
	AnswerControls     = store.Load(files, "answer_controls")
	AuditsToLend       = store.Load(files, "audits_to_lend")
	BeginCharge        = store.Load(files, "begin_charge")
	BeginUpload        = store.Load(files, "begin_upload")
	CapOwner           = store.Load(files, "cap_owner")
	CappedOwners       = store.Load(files, "capped_owners")
	ChargeJobTurns     = store.Load(files, "charge_job_turns")
	ChargeProjectTurns = store.Load(files, "charge_project_turns")
	ControlsOfLease    = store.Load(files, "controls_of_lease")
	ControlsToConfirm  = store.Load(files, "controls_to_confirm")
	ControlsToSkip     = store.Load(files, "controls_to_skip")
	CountReported      = store.Load(files, "count_reported")
	CountReturn        = store.Load(files, "count_return")
	DrawShards         = store.Load(files, "draw_shards")
	DropControlLoans   = store.Load(files, "drop_control_loans")
	EndProjectLease    = store.Load(files, "end_project_lease")
	EndUpload          = store.Load(files, "end_upload")
	FreeHands          = store.Load(files, "free_hands")
	GateLease          = store.Load(files, "gate_lease")
	GateRecord         = store.Load(files, "gate_record")
	GetLease           = store.Load(files, "get_lease")
	GetLoan            = store.Load(files, "get_loan")
	GiveUpControls     = store.Load(files, "give_up_controls")
	GiveUploadBack     = store.Load(files, "give_upload_back")
	HeldLeases         = store.Load(files, "held_leases")
	IdleOwners         = store.Load(files, "idle_owners")
	IndexLease         = store.Load(files, "index_lease")
	LeaseByIdempotency = store.Load(files, "lease_by_idempotency")
	LeaseHolder        = store.Load(files, "lease_holder")
	LeaseOfAny         = store.Load(files, "lease_of_any")
	LeasedShard        = store.Load(files, "leased_shard")
	LendControls       = store.Load(files, "lend_controls")
	LendShards         = store.Load(files, "lend_shards")
	LendableShards     = store.Load(files, "lendable_shards")
	LineOfJob          = store.Load(files, "line_of_job")
	ListArtifacts      = store.Load(files, "list_artifacts")
	LostByOwners       = store.Load(files, "lost_by_owners")
	MoveLastCall       = store.Load(files, "move_last_call")
	OpenJobsForAgent   = store.Load(files, "open_jobs_for_agent")
	OpenLeasesOfAgent  = store.Load(files, "open_leases_of_agent")
	OverdueLeases      = store.Load(files, "overdue_leases")
	PauseAgent         = store.Load(files, "pause_agent")
	PutBackShards      = store.Load(files, "put_back_shards")
	RecordedOutcomes   = store.Load(files, "recorded_outcomes")
	ReplicasToLend     = store.Load(files, "replicas_to_lend")
	ReviewLostShards   = store.Load(files, "review_lost_shards")
	SetCredit          = store.Load(files, "set_credit")
	SetPriority        = store.Load(files, "set_priority")
	SetStride          = store.Load(files, "set_stride")
	TakeBackShards     = store.Load(files, "take_back_shards")
	TakeTurn           = store.Load(files, "take_turn")
)
