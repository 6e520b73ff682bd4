package precheck

import (
	"maps"
	"slices"
	"strings"
)

// wasiModule is the only module that may be imported from.
const wasiModule = "wasi_snapshot_preview1"

// Value types in signatures.
const (
	i32 = "\x7f"
	i64 = "\x7e"
)

// allowedImports are the WASI functions that the host offers, with their
// signatures. The file calls are here because language runtimes link them:
// without preopened directories they always fail.
var allowedImports = map[string]funcType{
	"args_get":            {i32 + i32, i32},
	"args_sizes_get":      {i32 + i32, i32},
	"environ_get":         {i32 + i32, i32},
	"environ_sizes_get":   {i32 + i32, i32},
	"clock_res_get":       {i32 + i32, i32},
	"clock_time_get":      {i32 + i64 + i32, i32},
	"fd_read":             {i32 + i32 + i32 + i32, i32},
	"fd_write":            {i32 + i32 + i32 + i32, i32},
	"fd_close":            {i32, i32},
	"fd_seek":             {i32 + i64 + i32 + i32, i32},
	"fd_fdstat_get":       {i32 + i32, i32},
	"fd_fdstat_set_flags": {i32 + i32, i32},
	"fd_filestat_get":     {i32 + i32, i32},
	"fd_prestat_get":      {i32 + i32, i32},
	"fd_prestat_dir_name": {i32 + i32 + i32, i32},
	"fd_readdir":          {i32 + i32 + i32 + i64 + i32, i32},
	"path_open":           {i32 + i32 + i32 + i32 + i32 + i64 + i64 + i32 + i32, i32},
	"path_filestat_get":   {i32 + i32 + i32 + i32 + i32, i32},
	"poll_oneoff":         {i32 + i32 + i32 + i32, i32},
	"proc_exit":           {i32, ""},
	"random_get":          {i32 + i32, i32},
	"sched_yield":         {"", i32},
}

func allowedNames() string {
	return strings.Join(slices.Sorted(maps.Keys(allowedImports)), ", ")
}
