// Package sql holds the queries that only auditlog makes, each named after its file.
package sql

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed *.sql
var files embed.FS

// The queries.
var (
	AddAuditCheckpoint   = store.Load(files, "add_audit_checkpoint")
	AddAuditNodes        = store.Load(files, "add_audit_nodes")
	AddLogKey            = store.Load(files, "add_log_key")
	AddReceiptRecord     = store.Load(files, "add_receipt_record")
	AddRestart           = store.Load(files, "add_restart")
	AddSignatures        = store.Load(files, "add_signatures")
	AddWitnessKey        = store.Load(files, "add_witness_key")
	AuditStats           = store.Load(files, "audit_stats")
	BeginReceipt         = store.Load(files, "begin_receipt")
	CheckpointOfSize     = store.Load(files, "checkpoint_of_size")
	DrawsOfJob           = store.Load(files, "draws_of_job")
	DropCosignatures     = store.Load(files, "drop_cosignatures")
	DropSignatures       = store.Load(files, "drop_signatures")
	DropWitnessKey       = store.Load(files, "drop_witness_key")
	EndReceipt           = store.Load(files, "end_receipt")
	ExportAudit          = store.Load(files, "export_audit")
	GateAudit            = store.Load(files, "gate_audit")
	GetAudit             = store.Load(files, "get_audit")
	GetAuditNodes        = store.Load(files, "get_audit_nodes")
	GetReceipt           = store.Load(files, "get_receipt")
	GreatestCosigned     = store.Load(files, "greatest_cosigned")
	GrowReceipt          = store.Load(files, "grow_receipt")
	InstallationID       = store.Load(files, "installation_id")
	ImportedReceipt      = store.Load(files, "imported_receipt")
	KeepCosignature      = store.Load(files, "keep_cosignature")
	LastCheckpointWithin = store.Load(files, "last_checkpoint_within")
	ListAudit            = store.Load(files, "list_audit")
	ListAuditNewest      = store.Load(files, "list_audit_newest")
	ListCosignatures     = store.Load(files, "list_cosignatures")
	ListRestarts         = store.Load(files, "list_restarts")
	LockReceipt          = store.Load(files, "lock_receipt")
	LockWitness          = store.Load(files, "lock_witness")
	LogKey               = store.Load(files, "log_key")
	LogOrigin            = store.Load(files, "log_origin")
	NewestCheckpoint     = store.Load(files, "newest_checkpoint")
	PlanByValues         = store.Load(files, "plan_by_values")
	ProjectsThatPrune    = store.Load(files, "projects_that_prune")
	PruneAudit           = store.Load(files, "prune_audit")
	PruneOldAudit        = store.Load(files, "prune_old_audit")
	ReceiptShards        = store.Load(files, "receipt_shards")
	ReceiptWitnesses     = store.Load(files, "receipt_witnesses")
	SealAudit            = store.Load(files, "seal_audit")
	SeesProject          = store.Load(files, "sees_project")
	SignaturesOfBatch    = store.Load(files, "signatures_of_batch")
	SignedHead           = store.Load(files, "signed_head")
	SignedResults        = store.Load(files, "signed_results")
	SignedSubmissions    = store.Load(files, "signed_submissions")
	SubmitRecord         = store.Load(files, "submit_record")
	UnsealedAudit        = store.Load(files, "unsealed_audit")
	WitnessKey           = store.Load(files, "witness_key")
)
