// Package sql holds the queries that only aggregation makes, each named after its file.
package sql

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed *.sql
var files embed.FS

// The queries.
var (
	AddBeside           = store.Load(files, "add_beside")
	AddPartial          = store.Load(files, "add_partial")
	AskPreview          = store.Load(files, "ask_preview")
	ChooseRun           = store.Load(files, "choose_run")
	CountAccepted       = store.Load(files, "count_accepted")
	CountFolded         = store.Load(files, "count_folded")
	CountPartials       = store.Load(files, "count_partials")
	CountUnsettledPages = store.Load(files, "count_unsettled_pages")
	DropPartials        = store.Load(files, "drop_partials")
	EndTrouble          = store.Load(files, "end_trouble")
	FailAggregation     = store.Load(files, "fail_aggregation")
	FrontierSize        = store.Load(files, "frontier_size")
	GetPartialCount     = store.Load(files, "get_partial_count")
	KeepAnswer          = store.Load(files, "keep_answer")
	KeepPreview         = store.Load(files, "keep_preview")
	ListAggregations    = store.Load(files, "list_aggregations")
	ListFrontier        = store.Load(files, "list_frontier")
	ListPartials        = store.Load(files, "list_partials")
	NoteTrouble         = store.Load(files, "note_trouble")
	PageResults         = store.Load(files, "page_results")
	PageSettled         = store.Load(files, "page_settled")
	PartialDigests      = store.Load(files, "partial_digests")
	ReopenPage          = store.Load(files, "reopen_page")
	RunsOfFold          = store.Load(files, "runs_of_fold")
	SettledPages        = store.Load(files, "settled_pages")
	TakeBackAnswer      = store.Load(files, "take_back_answer")
)
