// Package sql holds the queries that only archive makes, each named after its file.
package sql

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed *.sql
var files embed.FS

// The queries.
var (
	AddImportedAggregation = store.Load(files, "add_imported_aggregation")
	AddImportedArchive     = store.Load(files, "add_imported_archive")
	AddImportedJob         = store.Load(files, "add_imported_job")
	ArchiveBlockers        = store.Load(files, "archive_blockers")
	ArchiveState           = store.Load(files, "archive_state")
	ArchivedFile           = store.Load(files, "archived_file")
	AskArchive             = store.Load(files, "ask_archive")
	DaysOf                 = store.Load(files, "days_of")
	EndRemoving            = store.Load(files, "end_removing")
	EndWriting             = store.Load(files, "end_writing")
	FailArchive            = store.Load(files, "fail_archive")
	FindVersion            = store.Load(files, "find_version")
	GetArchive             = store.Load(files, "get_archive")
	ArchivedMetrics        = store.Load(files, "archived_metrics")
	ImportedBefore         = store.Load(files, "imported_before")
	ImportedJob            = store.Load(files, "imported_job")
	JobsToArchive          = store.Load(files, "jobs_to_archive")
	JobsToPack             = store.Load(files, "jobs_to_pack")
	KeepReferred           = store.Load(files, "keep_referred")
	ArchivedAggregations   = store.Load(files, "archived_aggregations")
	ListArchives           = store.Load(files, "list_archives")
	ArchivedFlags          = store.Load(files, "archived_flags")
	ArchivedIncidents      = store.Load(files, "archived_incidents")
	MayPack                = store.Load(files, "may_pack")
	NextPage               = store.Load(files, "next_page")
	NotePacked             = store.Load(files, "note_packed")
	PackNext               = store.Load(files, "pack_next")
	PackPage               = store.Load(files, "pack_page")
	ProjectsThatArchive    = store.Load(files, "projects_that_archive")
	RemoveLeases           = store.Load(files, "remove_leases")
	RemovePage             = store.Load(files, "remove_page")
	RemoveRest             = store.Load(files, "remove_rest")
	RemoveShards           = store.Load(files, "remove_shards")
	ShardsToArchive        = store.Load(files, "shards_to_archive")
	UncountResults         = store.Load(files, "uncount_results")
)
