package python

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"
)

// compileLimit is how long compiling the library may take. It takes two seconds on a machine that has nothing else to do.
const compileLimit = 5 * time.Minute

//go:embed compile.py
var compileProgram string

// Compile has a tree's own interpreter compile sources of the tree, given by their paths in it in an order that is always the same, beside
// themselves. Those that are no Python of its version stay as they are: packages carry such files.
func Compile(ctx context.Context, t Tree, sources []string) error {
	return runCompiler(ctx, t, t.Dir, t.Dir, sources, true, func() {})
}

// compileSources lets the interpreter compile files of its own library.
func compileSources(ctx context.Context, interpreter, tree, out string, sources []string, done func()) error {
	return runCompiler(ctx, Tree{Interpreter: interpreter}, tree, out, sources, false, done)
}

func runCompiler(ctx context.Context, t Tree, tree, out string, sources []string, lenient bool, done func()) error {
	ctx, cancel := context.WithTimeoutCause(ctx, compileLimit, fmt.Errorf("not done after %s", compileLimit))
	defer cancel()
	cmd := t.alone(ctx, "-X", "utf8", "-W", "ignore", "-c", compileProgram, tree, out)
	if lenient {
		cmd.Args = append(cmd.Args, "lenient")
	}
	cmd.Stdin = strings.NewReader(strings.Join(sources, "\n") + "\n")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w (this interpreter needs glibc 2.17 or later; use another with --python)", err)
	}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		done()
	}
	if err := cmd.Wait(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}
