package backup

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed sql/*.sql
var files embed.FS

var (
	addBackup       = store.Load(files, "sql/add_backup")
	begunSchemas    = store.Load(files, "sql/begun_schemas")
	databaseTime    = store.Load(files, "sql/database_time")
	exportSnapshot  = store.Load(files, "sql/export_snapshot")
	holdObjects     = store.Load(files, "sql/hold_objects")
	jobsToCheck     = store.Load(files, "sql/jobs_to_check")
	knowsBackups    = store.Load(files, "sql/knows_backups")
	lastBackup      = store.Load(files, "sql/last_backup")
	lockRestore     = store.Load(files, "sql/lock_restore")
	openJobs        = store.Load(files, "sql/open_jobs")
	projectIDs      = store.Load(files, "sql/projects")
	referredObjects = store.Load(files, "sql/referred_objects")
	tables          = store.Load(files, "sql/tables")
)
