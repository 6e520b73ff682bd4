package tree

import (
	"context"
	"fmt"

	"github.com/ostraka/ostraka/runtime/python"
)

// Compile has the tree's own interpreter compile the sources of a folder that Collect has made, and say which version it is. It runs
// outside of any sandbox: it is for the owner of the interpreter. The same sources and interpreter make the same bytes.
func Compile(ctx context.Context, c *Collected, dir string) error {
	if err := compile(ctx, c, dir); err != nil {
		return fmt.Errorf("compiling a runtime's library: %w", err)
	}
	return nil
}

func compile(ctx context.Context, c *Collected, dir string) error {
	t := c.About.Tree(dir, "")
	facts, err := t.Facts(ctx)
	if err != nil {
		return err
	}
	if facts.Minor < python.MinVersion {
		return fmt.Errorf("it is %s; functions need Python 3.%d or later", facts.Interpreter, python.MinVersion)
	}
	c.About.Python = facts.Version
	return python.Compile(ctx, t, c.Sources)
}
