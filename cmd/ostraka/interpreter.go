package main

import (
	"context"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/ostraka/ostraka/runtime/python"
)

// pythonUsage is the flag --python wherever there is one.
const pythonUsage = `interpreter to use: a path, or "system" for python3 on PATH; left out: the one that this program carries`

// pythonDirVariable names the folder in which the interpreter is unpacked.
const pythonDirVariable = "OSTRAKA_PYTHON_DIR"

// pythonDir is where commands for developers unpack the interpreter: they share it, in the user's cache.
func pythonDir(t *terminal) (string, error) {
	if dir := t.env(pythonDirVariable); dir != "" {
		return dir, nil
	}
	return python.DefaultDir()
}

// openPython gives an interpreter for a person who waits: unpacking it, which happens once, takes some seconds and is seen.
func openPython(ctx context.Context, t *terminal, choice string) (python.Tree, error) {
	dir, err := pythonDir(t)
	if err != nil {
		return python.Tree{}, err
	}
	shown := unpacking{t: t}
	tree, err := python.Open(ctx, python.Options{Python: choice, Dir: dir, Progress: shown.update})
	shown.finish()
	return tree, err
}

// unpacking draws how far the interpreter is.
type unpacking struct {
	t   *terminal
	bar *progressbar.ProgressBar
}

func (u *unpacking) update(done, total int64) {
	if u.bar == nil {
		if !u.t.live {
			u.t.say("unpacking Python (this happens once)")
		}
		u.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(u.t.talk),
			progressbar.OptionSetDescription("unpacking Python (this happens once)"),
			progressbar.OptionSetWidth(32),
			progressbar.OptionShowBytes(true),
			progressbar.OptionThrottle(65*time.Millisecond),
			progressbar.OptionUseANSICodes(true),
			progressbar.OptionSetVisibility(u.t.live),
		)
	}
	_ = u.bar.Set64(done) // drawing is all it does
}

func (u *unpacking) finish() {
	if u.bar != nil && u.t.live {
		_ = u.bar.Exit()
		u.t.say("")
	}
}
