package python

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"time"
)

// factsLimit is how long an interpreter may take to say what it is.
const factsLimit = 30 * time.Second

// MinVersion is the oldest minor version of Python 3 that the harness runs on.
const MinVersion = 9

// Facts is what an interpreter says of itself.
type Facts struct {
	Interpreter string `json:"interpreter"` // such as "cpython 3.14.6", as every result has it
	Libc        string `json:"libc"`        // such as "glibc 2.36"
	// Executable is the file behind wrappers and links, Library the folders of its standard library.
	Executable string   `json:"executable"`
	Version    string   `json:"version"`
	Minor      int      `json:"minor"`
	Library    []string `json:"library"`
}

const factsProgram = `import json, os, sys, sysconfig
try:
    libc = os.confstr("CS_GNU_LIBC_VERSION") or "unknown"
except (AttributeError, OSError, ValueError):
    libc = "unknown"
version = ".".join(map(str, sys.version_info[:3]))
library = []
for name in ("stdlib", "platstdlib"):
    path = os.path.realpath(sysconfig.get_path(name))
    if path not in library:
        library.append(path)
print(json.dumps({"interpreter": sys.implementation.name + " " + version, "libc": libc, "version": version,
    "minor": sys.version_info[1], "executable": os.path.realpath(sys.executable), "library": library}))
`

// Facts asks the interpreter.
func (t Tree) Facts(ctx context.Context) (Facts, error) { return t.ask(ctx) }

func ask(ctx context.Context, interpreter string) (f Facts, err error) {
	return Tree{Interpreter: interpreter}.ask(ctx)
}

func (t Tree) ask(ctx context.Context) (f Facts, err error) {
	interpreter := t.Interpreter
	ctx, cancel := context.WithTimeoutCause(ctx, factsLimit, fmt.Errorf("no answer within %s", factsLimit))
	defer cancel()
	cmd := t.alone(ctx, "-c", factsProgram)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		if said := bytes.TrimSpace(stderr.Bytes()); len(said) > 0 {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return f, fmt.Errorf("asking %s what it is: %w", interpreter, err)
	}
	if err := json.Unmarshal(out, &f); err != nil {
		return f, fmt.Errorf("asking %s what it is: it answers %.200q: is it Python?", interpreter, out)
	}
	return f, nil
}

// alone is a command of the interpreter's that sees nothing of its user's settings. A tree with variables of its own cannot have -I, which
// ignores them all.
func (t Tree) alone(ctx context.Context, arguments ...string) *exec.Cmd {
	program, before := t.Program()
	if len(t.Variables) == 0 {
		cmd := exec.CommandContext(ctx, program, slices.Concat(before, []string{"-I", "-S", "-B"}, arguments)...)
		cmd.Env = []string{}
		return cmd
	}
	cmd := exec.CommandContext(ctx, program, slices.Concat(before, []string{"-s", "-S", "-B"}, arguments)...)
	cmd.Env = append([]string{"PYTHONSAFEPATH=1", "PYTHONHASHSEED=0"}, t.Variables...)
	return cmd
}
