package harness

import (
	"errors"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/ostraka/ostraka/runtime/bundle"
)

// Limits of the harness itself; those of a function are in its manifest.
const (
	// MaxInputBytes is the size of a shard's input: an input is held in memory
	// by the server, the agent and the interpreter.
	MaxInputBytes = 16 << 20
	// MaxExceptionMessageBytes is how much of an exception's message is kept.
	MaxExceptionMessageBytes = 4 << 10
	// MaxTracebackBytes is how much of the end of a traceback is kept.
	MaxTracebackBytes = 16 << 10
	// MaxArtifactPathBytes is the length of the path of a file under
	// $OSTRAKA_OUTPUT: it becomes part of an object's key.
	MaxArtifactPathBytes = 240
	// TailBytes is how much of the end of a shard's stdout and stderr is kept for
	// people to read; the function's own limits say how much it may print.
	TailBytes = 4 << 10
	// AddressSpaceSlack is by how many bytes the address space of a process may
	// pass its memory limit: shared libraries, stacks of threads and
	// reservations that are never touched count as address space.
	AddressSpaceSlack = 1 << 30

	// maxInlineInput is the size up to which an input travels with its order, in
	// one packet; the buffer of a socket holds 208 KiB.
	maxInlineInput = 32 << 10
	// readAfter is how long a shard runs before anybody reads its pipes, each of
	// which holds 64 KiB: most shards have ended by then.
	readAfter = 2 * time.Millisecond
	// watchEvery is how often the watchdog counts processes and memory.
	watchEvery = 250 * time.Millisecond
	// killGrace is how long the zygote may take to report the end of a shard
	// that it was told to kill. Its own sweep gives up after 5 s.
	killGrace = 10 * time.Second
	// drainGrace is how long a pipe may stay open after all processes of the
	// shard are gone: only the template can hold it then, against the rules.
	drainGrace = time.Second
	// startGrace is how long an interpreter may take to start.
	startGrace = 30 * time.Second
	// maxPacket is the size of a control message: an exception's text, escaped.
	maxPacket = 256 << 10
	// maxExceptionFrame bounds a described exception on the result pipe.
	maxExceptionFrame = 256 << 10
)

// Config says what to run and where.
type Config struct {
	Interpreter string // path of a Python of version 3.9 or later
	// Before are the arguments that stand before the interpreter's own, where Interpreter is the dynamic loader that starts it.
	Before []string
	// Variables are set beside the usual ones, as NAME=value.
	Variables  []string
	Tree       string           // label of the interpreter's tree, told beside its name in every Result
	BundleDir  string           // absolute; the unpacked bundle
	Digest     string           // of the bundle; it is part of the seeds
	Settings   Settings         // what the caller decides
	WorkDir    string           // absolute; an empty directory, HOME while the bundle is imported
	VolumesDir string           // absolute, as the function sees it: the folder of its volumes; empty: it has none
	Manifest   bundle.Manifest  // what to call, and its limits
	Isolation  bundle.Isolation // the level that the caller achieves; copied into every Result

	// Prepare, if set, changes the command before it starts: namespaces, a
	// cgroup, a launcher. Descriptor 3 must reach the interpreter.
	Prepare func(*exec.Cmd) error
	// PIDNamespace says that Prepare makes the interpreter the first process of
	// a namespace of its own: the kernel ends everything with it, and its
	// process numbers are not those that this process sees.
	PIDNamespace bool
	// Confine is what every shard puts on itself before its handler runs.
	Confine Confinement
	// Processes is how many processes and threads the user of the sandbox may
	// have, the interpreter's own included, by RLIMIT_NPROC; 0: no such limit,
	// for a user who runs other things as well.
	Processes int64
	// Accounting, if set, knows what all processes of the session use together.
	Accounting Accounting

	schema          *bundle.OutputSchema // of the manifest, compiled
	withoutChildren bool                 // for tests of kernels that do not list a process's children
}

// prepare compiles the schema of outputs and checks the rest.
func (c *Config) prepare() (err error) {
	if c.schema, err = c.Manifest.OutputSchema(); err != nil {
		return err
	}
	return c.check()
}

func (c *Config) check() error {
	switch {
	case c.Interpreter == "":
		return errors.New("no interpreter is named")
	case !filepath.IsAbs(c.BundleDir):
		return errors.New("the bundle directory must be an absolute path")
	case !filepath.IsAbs(c.WorkDir):
		return errors.New("the work directory must be an absolute path")
	case c.Manifest.Entrypoint == "" && c.Manifest.Script == "":
		return errors.New("the manifest names neither an entrypoint nor a script")
	}
	return c.Settings.check()
}

func (c *Config) wall() time.Duration {
	return time.Duration(c.Manifest.Limits.WallSeconds) * time.Second
}

// stdoutLimit is what may come on stdout, in bytes. A script's result comes there.
func (c *Config) stdoutLimit() int64 {
	if c.Manifest.Script != "" {
		return max(c.Manifest.Limits.StdoutBytes, c.Manifest.Limits.OutputBytes)
	}
	return c.Manifest.Limits.StdoutBytes
}

// Shard is one run of the function.
type Shard struct {
	Index  int64
	Input  []byte // JSON, checked by canonical.Valid
	Home   string // absolute; an empty directory, its working directory, HOME and TMPDIR
	Output string // absolute; an empty directory, its $OSTRAKA_OUTPUT
	// Workspace is the folder that holds Home and Output, as this process can open
	// it, if nothing else keeps it within limits; empty: the kernel does.
	Workspace string
	// Mounts are the file systems made for the shard, where there are several:
	// they share limits.disk_bytes and limits.inodes.
	Mounts []string
	// OutputDir is Output as this process can open it, where a sandbox has a
	// root of its own; empty: Output.
	OutputDir string
	// Inputs is the folder of the shard's input files as the shard sees it, its
	// $OSTRAKA_INPUT; empty: there is no such folder. The caller keeps the shard
	// from writing there where its level can.
	Inputs string
}

func (s *Shard) outputDir() string {
	if s.OutputDir != "" {
		return s.OutputDir
	}
	return s.Output
}
