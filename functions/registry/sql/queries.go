// Package sql holds the queries that only registry makes, each named after its file.
package sql

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed *.sql
var files embed.FS

// The queries.
var (
	AddFailedModuleRun   = store.Load(files, "add_failed_module_run")
	AddFunctionVersion   = store.Load(files, "add_function_version")
	AddModule            = store.Load(files, "add_module")
	AddRuntime           = store.Load(files, "add_runtime")
	AddRuntimeObjects    = store.Load(files, "add_runtime_objects")
	AddSigningKey        = store.Load(files, "add_signing_key")
	AddUpload            = store.Load(files, "add_upload")
	CompleteUpload       = store.Load(files, "complete_upload")
	CountModuleRun       = store.Load(files, "count_module_run")
	CountRuntimes        = store.Load(files, "count_runtimes")
	DeleteFile           = store.Load(files, "delete_file")
	DeleteRuntime        = store.Load(files, "delete_runtime")
	DeprecateModule      = store.Load(files, "deprecate_module")
	FilesByDigest        = store.Load(files, "files_by_digest")
	FilesByName          = store.Load(files, "files_by_name")
	FilesUnkept          = store.Load(files, "files_unkept")
	ForgetModuleRuns     = store.Load(files, "forget_module_runs")
	ForgetObject         = store.Load(files, "forget_object")
	ForgetUpload         = store.Load(files, "forget_upload")
	FunctionByDigest     = store.Load(files, "function_by_digest")
	GetFile              = store.Load(files, "get_file")
	GetFunction          = store.Load(files, "get_function")
	GetModule            = store.Load(files, "get_module")
	GetModuleRun         = store.Load(files, "get_module_run")
	GetRuntime           = store.Load(files, "get_runtime")
	GetUpload            = store.Load(files, "get_upload")
	KeepObject           = store.Load(files, "keep_object")
	KeepObjects          = store.Load(files, "keep_objects")
	ListAgentProjects    = store.Load(files, "list_agent_projects")
	ListFiles            = store.Load(files, "list_files")
	ListFunctionVersions = store.Load(files, "list_function_versions")
	ListFunctions        = store.Load(files, "list_functions")
	ListModuleRuns       = store.Load(files, "list_module_runs")
	ListModules          = store.Load(files, "list_modules")
	ListRuntimes         = store.Load(files, "list_runtimes")
	ListSigningKeys      = store.Load(files, "list_signing_keys")
	LockFunction         = store.Load(files, "lock_function")
	LockModules          = store.Load(files, "lock_modules")
	LockObject           = store.Load(files, "lock_object")
	LockRuntimes         = store.Load(files, "lock_runtimes")
	LockSigningKeys      = store.Load(files, "lock_signing_keys")
	LookLater            = store.Load(files, "look_later")
	MayCollect           = store.Load(files, "may_collect")
	ModuleByDigest       = store.Load(files, "module_by_digest")
	ObjectIsUsed         = store.Load(files, "object_is_used")
	ObjectsToLookAt      = store.Load(files, "objects_to_look_at")
	OldUploads           = store.Load(files, "old_uploads")
	PutFile              = store.Load(files, "put_file")
	RenewUpload          = store.Load(files, "renew_upload")
	RuntimeHas           = store.Load(files, "runtime_has")
	RuntimeInUse         = store.Load(files, "runtime_in_use")
	SignFunctionVersion  = store.Load(files, "sign_function_version")
	StreamFiles          = store.Load(files, "stream_files")
	TouchObject          = store.Load(files, "touch_object")
)
