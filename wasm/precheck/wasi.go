package precheck

import (
	"fmt"
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

// remedies tell, by the module that is imported from, what to do about it: each
// comes from a tool's default that the contract does not go along with.
var remedies = map[string]string{
	"env":                      "a C or C++ symbol is not defined anywhere: link what defines it, and build with clang --target=wasm32-wasi, not with Emscripten",
	"gojs":                     "build with GOOS=wasip1, not GOOS=js",
	"go":                       "build with GOOS=wasip1, not GOOS=js",
	"wasi_unstable":            "it was built for WASI's first draft: build for WASI preview 1 (wasm32-wasi or wasm32-wasip1) with a newer tool chain",
	"__wbindgen_placeholder__": "build a plain binary for wasm32-wasi or wasm32-wasip1, without wasm-bindgen",
	"wbg":                      "build a plain binary for wasm32-wasi or wasm32-wasip1, without wasm-bindgen",
	"wasi_snapshot_preview2":   "build for WASI preview 1",
}

// remedy says what to do about an import that the host does not offer.
func remedy(module, name string) string {
	if module == "env" && (name == "abort" || name == "trace" || name == "seed") {
		return fmt.Sprintf("AssemblyScript imports it unless told otherwise: build with `--use %s=` and without bindings", name)
	}
	if strings.HasPrefix(module, "wasi:") {
		return "it belongs to WASI preview 2: build a core module for WASI preview 1 (wasm32-wasi or wasm32-wasip1)"
	}
	if known, ok := remedies[module]; ok {
		return known
	}
	return fmt.Sprintf("a module may import only %s of %s", strings.Join(slices.Sorted(maps.Keys(allowedImports)), ", "), wasiModule)
}
