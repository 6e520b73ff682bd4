// Package sql holds the queries that only heuristics makes, each named after its file.
package sql

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed *.sql
var files embed.FS

// The queries.
var (
	AddFinding     = store.Load(files, "add_finding")
	CountFindings  = store.Load(files, "count_findings")
	DecideCode     = store.Load(files, "decide_code")
	GetFinding     = store.Load(files, "get_finding")
	GetHold        = store.Load(files, "get_hold")
	HoldJobs       = store.Load(files, "hold_jobs")
	KeepCodeScore  = store.Load(files, "keep_code_score")
	KeepPageScore  = store.Load(files, "keep_page_score")
	KnownFindings  = store.Load(files, "known_findings")
	ListCodeScores = store.Load(files, "list_code_scores")
	ListFindings   = store.Load(files, "list_findings")
	PageEvidence   = store.Load(files, "page_evidence")
	PageScores     = store.Load(files, "page_scores")
	RaiseJobsOf    = store.Load(files, "raise_jobs_of")
	ScoringJob     = store.Load(files, "scoring_job")
	SettleModel    = store.Load(files, "settle_model")
	SpendModel     = store.Load(files, "spend_model")
)
