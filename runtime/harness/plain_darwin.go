package harness

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// sandboxExec is a program that every macOS has; it may be gone in a later one.
const sandboxExec = "/usr/bin/sandbox-exec"

// peakBytes: macOS counts in bytes.
func peakBytes(u *syscall.Rusage) int64 { return u.Maxrss }

// outerWall holds the interpreter back by sandbox-exec, where that works: no
// network, and no files but the interpreter's, the bundle's and the shard's.
func outerWall(cfg *Config, shard *Shard) []string {
	profile := darwinProfile(cfg, shard)
	if !wallWorks(cfg.Interpreter, profile) {
		return nil
	}
	return []string{sandboxExec, "-p", profile}
}

// Walls are what holds functions back on macOS.
func Walls() []Wall {
	info, err := os.Stat(sandboxExec)
	return []Wall{
		{"sandbox-exec", err == nil && info.Mode().IsRegular(), "no network, and no files but the interpreter's, the bundle's and the shard's; it is left out where the interpreter does not start behind it"},
		{"process group", true, "ended with its shard; a process that leaves it and clears its environment gets away"},
		{"rlimits", true, "processor time, file size and open files of each process"},
		{"memory and processes", false, "watched once a second, and looked at again when the shard has ended: there is no hard limit"},
	}
}

// walls remembers for which interpreters it works: trying takes a start of it.
var walls sync.Map

func wallWorks(interpreter, profile string) bool {
	if known, ok := walls.Load(interpreter); ok {
		works, _ := known.(bool)
		return works
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, sandboxExec, "-p", profile, interpreter, "-s", "-S", "-B", "-c", "import json, random, threading")
	cmd.Env = []string{"PYTHONSAFEPATH=1"}
	works := cmd.Run() == nil
	walls.Store(interpreter, works)
	return works
}

// darwinProfile denies everything but what Python and the function need.
func darwinProfile(cfg *Config, shard *Shard) string {
	var p strings.Builder
	p.WriteString("(version 1)(deny default)(import \"system.sb\")")
	p.WriteString("(allow process-fork)(allow signal (target same-sandbox))(allow sysctl-read)")
	tree := filepath.Dir(filepath.Dir(real(cfg.Interpreter)))
	for _, dir := range []string{tree, "/usr/lib", "/System/Library", "/Library/Frameworks", cfg.BundleDir} {
		p.WriteString("(allow file-read* process-exec file-map-executable (subpath " + strconv.Quote(real(dir)) + "))")
	}
	p.WriteString("(allow file-read-metadata)")
	for _, dir := range []string{shard.Home, shard.Output} {
		p.WriteString("(allow file-read* file-write* (subpath " + strconv.Quote(real(dir)) + "))")
	}
	p.WriteString("(allow file-read* file-write-data (literal \"/dev/null\") (literal \"/dev/zero\"))(allow file-read* (literal \"/dev/random\") (literal \"/dev/urandom\"))")
	return p.String()
}

// real is a path without links: profiles are compared with real paths.
func real(path string) string {
	if found, err := filepath.EvalSymlinks(path); err == nil {
		return found
	}
	return path
}
