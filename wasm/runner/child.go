package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// argument is how the server's binary knows that it is to be a runner. It is
// no command for people and appears in no help.
const argument = "__ostraka-wasm-runner"

// MaybeRun turns this process into a runner and never returns, if it was
// started as one; otherwise it does nothing. It must be called first thing in
// main, before flags are parsed, files are opened or the environment is read.
func MaybeRun() {
	if len(os.Args) != 2 || os.Args[1] != argument {
		return
	}
	code := 0
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "wasm runner:", err)
		code = 1
	}
	os.Exit(code) //nolint:forbidigo // the process is the runner: its main must go no further
}

// serve is the life of a runner: take limits and a module, then run batches
// until the server closes the pipe.
func serve(stdin io.Reader, stdout io.Writer) error {
	in, out := bufio.NewReaderSize(stdin, MaxChunk), bufio.NewWriterSize(stdout, MaxChunk+frameHead)
	var setup Setup
	if err := expectJSON(in, frameSetup, &setup); err != nil {
		return fmt.Errorf("reading the set-up: %w", err)
	}
	if err := confine(setup); err != nil {
		return fmt.Errorf("confining the runner: %w", err)
	}
	module, err := expect(in, frameModule, setup.MaxModule)
	if err != nil {
		return fmt.Errorf("reading the module: %w", err)
	}
	ctx := context.Background()
	g, answer := load(ctx, setup, module)
	// From here on the module's own code runs.
	switch err := restrict(runCalls); {
	case errors.Is(err, errNoSeccomp):
	case err != nil:
		return err
	default:
		answer.Filtered = true
	}
	if err := errors.Join(writeJSON(out, frameReady, answer), out.Flush()); err != nil {
		return fmt.Errorf("reporting the module: %w", err)
	}
	if g == nil || setup.CompileOnly {
		return nil
	}
	for {
		var b Batch
		switch err := expectJSON(in, frameBatch, &b); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading a batch: %w", err)
		}
		if err := g.serveBatch(ctx, b, in, out); err != nil {
			return fmt.Errorf("running a batch: %w", err)
		}
	}
}

// serveBatch runs one batch and leaves the pipe at the start of the next.
func (g *guest) serveBatch(ctx context.Context, b Batch, in *bufio.Reader, out *bufio.Writer) error {
	input := &inputReader{frames: in}
	output := &outputWriter{frames: out, maxOutput: b.MaxOutput, maxLine: b.MaxLine}
	before := processorTime()
	o := g.run(ctx, b, input, output)
	output.end()
	o.CPU = processorTime() - before
	if output.exceeded != "" && o.Exceeded != ExceededMachine {
		o.Exceeded = output.exceeded
	}
	// Tell first, drain then: the server stops sending when it hears of the end.
	if err := errors.Join(output.err, writeJSON(out, frameDone, o), out.Flush()); err != nil {
		return err
	}
	return input.drain()
}
