package source

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"
)

// askLimit is how long reading the source may take.
const askLimit = 30 * time.Second

// Ask lets an interpreter run a program of ours, which gets a document on standard input and prints its answer, both as JSON. Nothing of
// the function runs: the program may only parse.
func Ask(ctx context.Context, interpreter, program string, question, answer any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, askLimit, fmt.Errorf("not done after %s", askLimit))
	defer cancel()
	in, err := json.Marshal(question)
	if err != nil {
		return fmt.Errorf("reading the source: %w", err)
	}
	cmd := exec.CommandContext(ctx, interpreter, "-I", "-S", "-B", "-X", "utf8", "-W", "ignore", "-c", program)
	cmd.Env, cmd.Stdin = []string{}, bytes.NewReader(in)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = json.Unmarshal(out, answer)
	}
	if err != nil {
		return fmt.Errorf("reading the source: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}
