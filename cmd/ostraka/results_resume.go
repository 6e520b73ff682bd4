package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// lineStart is how each JSON line of results begins.
const lineStart = `{"shard":`

// resultsFile is a file that some results of a job stand in already.
type resultsFile struct {
	*os.File
	whole  int64               // up to where its lines are whole
	ends   []client.ResultLine // its first and its last result; without their outputs where it is a table
	inputs bool                // its results come with their inputs
}

// openResults opens a file to continue with, or a new one. What it leads to is no other file, however it was called before.
func openResults(name string) (*resultsFile, error) {
	if err := checkFileToWrite(name); err != nil {
		return nil, err
	}
	before, err := os.Lstat(name)
	flags := os.O_RDWR
	if errors.Is(err, fs.ErrNotExist) {
		flags |= os.O_CREATE | os.O_EXCL
	}
	f, err := os.OpenFile(name, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the file of results: %w", err)
	}
	after, err := f.Stat()
	if err == nil && before != nil && !os.SameFile(before, after) {
		err = fmt.Errorf("%s became another file just now: run the command again", name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &resultsFile{File: f}, nil
}

// resumeFile writes to the file what it has not.
func (o *jobResultsOptions) resumeFile(ctx context.Context, c *connection, id uuid.UUID) error {
	f, err := openResults(o.file)
	if err != nil {
		return err
	}
	once := newResultsOnce(bufio.NewWriter(f), -1)
	if o.format == "csv" {
		err = f.readTable(once)
	} else {
		err = f.readLines(once)
	}
	if err == nil {
		err = o.checkFile(ctx, c, id, f)
	}
	if err == nil {
		err = f.cut(o.terminal)
	}
	if err == nil && o.watching && o.format == "json" {
		err = o.watch(ctx, c, id, once)
	} else if err == nil {
		err = once.catchUp(ctx, o, c, id)
	}
	return errors.Join(err, once.out.Flush(), f.Sync(), f.Close())
}

// readLines reads the JSON lines of a file.
func (f *resultsFile) readLines(once *resultsOnce) error {
	once.write = once.lines
	lines := client.NewResultReader(f)
	for n := 1; ; n++ {
		_, line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return f.checkRest()
		}
		var r client.ResultLine
		if err == nil {
			r, err = exactResult(line)
		}
		if err != nil {
			return f.refuse("line %d is no result (%v)", n, err)
		}
		if err := f.note(once, r, len(r.Input) > 0); err != nil {
			return err
		}
		f.whole += int64(len(line)) + 1
	}
}

// note takes a result that stands in the file.
func (f *resultsFile) note(once *resultsOnce, r client.ResultLine, input bool) error {
	switch {
	case r.Provisional:
		return f.refuse("its result of shard %d awaited an audit when it was written, and may have been taken back since", r.Shard)
	case once.written.has(r.Shard):
		return f.refuse("shard %d is in it twice", r.Shard)
	case len(f.ends) > 0 && input != f.inputs:
		return f.refuse("some of its results have inputs and some have none")
	}
	if err := once.written.add(r.Shard); err != nil {
		return f.refuse("%v", err)
	}
	f.inputs = input
	f.ends = append(f.ends[:min(len(f.ends), 1)], r)
	return nil
}

// checkRest looks whether what stands after the last whole line began as a result: nothing else is cut off.
func (f *resultsFile) checkRest() error {
	start := make([]byte, len(lineStart))
	n, err := f.ReadAt(start, f.whole)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the file of results: %w", err)
	}
	if !bytes.HasPrefix([]byte(lineStart), start[:n]) {
		return f.refuse("its last line is no result")
	}
	return nil
}

func (f *resultsFile) refuse(format string, args ...any) error {
	return &exitError{
		code: exitUsage, err: fmt.Errorf("--resume: %s cannot be gone on with: %s", f.Name(), fmt.Sprintf(format, args...)),
		hint: "nothing was changed; name another file, or leave out --resume to write it again",
	}
}

// cut removes an incomplete last line, and goes to where the next one belongs.
func (f *resultsFile) cut(t *terminal) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("reading the file of results: %w", err)
	}
	if rest := info.Size() - f.whole; rest > 0 {
		t.say("took away %s of a line that was not whole at the end of %s", count(rest, "byte"), f.Name())
		if err := f.Truncate(f.whole); err != nil {
			return fmt.Errorf("writing results: %w", err)
		}
	}
	if _, err := f.Seek(f.whole, io.SeekStart); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	return nil
}

// checkFile refuses a file of another job, or with other columns than are asked for. Of the results those at its ends are compared.
func (o *jobResultsOptions) checkFile(ctx context.Context, c *connection, id uuid.UUID, f *resultsFile) error {
	if len(f.ends) > 0 && f.inputs != o.input {
		if o.input {
			return f.refuse("its results have no inputs: leave out --with-input")
		}
		return f.refuse("its results have inputs: add --with-input")
	}
	for _, mine := range f.ends {
		theirs, err := o.resultOf(ctx, c, id, mine.Shard)
		if err != nil {
			return explain("reading results", err)
		}
		if theirs.OutputDigest != mine.OutputDigest || theirs.Agent != mine.Agent {
			return f.refuse("its result of shard %d is not the one that job %s has: it is of another job, or was changed", mine.Shard, id)
		}
	}
	return nil
}

// resultOf is the result that the job has of a shard; a zero one where it has none that is final.
func (o *jobResultsOptions) resultOf(ctx context.Context, c *connection, id uuid.UUID, shard int64) (client.ResultLine, error) {
	after, final := shard-1, true
	body, err := answer.Stream(c.StreamResults(ctx, c.project, id, &client.StreamResultsParams{After: &after, Final: &final}))
	if err != nil {
		return client.ResultLine{}, err
	}
	defer body.Close()
	r, _, err := client.NewResultReader(body).Next()
	switch {
	case errors.Is(err, io.EOF) || err == nil && r.Shard != shard:
		return client.ResultLine{}, nil
	case err != nil:
		return client.ResultLine{}, &answer.Unreachable{Err: err}
	}
	return r, nil
}
