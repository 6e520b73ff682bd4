package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/client"
)

// receiptResults compares the results of a job with the lines of its receipt, one after the other. Nil: there are none.
type receiptResults struct {
	file     *os.File
	reader   *client.ResultReader
	folder   *folder
	seen     int64
	byDigest int64 // without the output itself
}

// openResults opens the file of results, if there is one.
func (v *receiptCheck) openResults(ctx context.Context) (r *receiptResults, done func(), err error) {
	if v.options.results == "" {
		return nil, func() {}, nil
	}
	file, err := os.Open(v.options.results)
	if err != nil {
		return nil, nil, usageError("reading the results: %v", err)
	}
	r = &receiptResults{file: file, reader: client.NewResultReader(file)}
	if r.folder, err = newFolder(ctx, v.receipt.Statement); err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return r, func() { _ = file.Close(); r.folder.close() }, nil
}

// compare takes the next result, which must be that of the shard.
func (r *receiptResults) compare(ctx context.Context, shard audit.ShardLine) error {
	if r == nil {
		return nil
	}
	_, text, err := r.reader.Next()
	if errors.Is(err, io.EOF) {
		return otherResults("they end before shard %d", shard.Shard)
	}
	var result client.ResultLine
	if err == nil {
		result, err = exactResult(text)
	}
	if err != nil {
		return usageError("%s: %v", r.file.Name(), err)
	}
	if result.Shard != shard.Shard {
		return otherResults("they have shard %d where the receipt has shard %d", result.Shard, shard.Shard)
	}
	digest := result.OutputDigest
	if len(result.Output) > 0 {
		digest = audit.DigestOf(result.Output)
	}
	if digest != shard.Output || result.OutputDigest != shard.Output {
		return otherResults("the output of shard %d has the SHA-256 %s, and the receipt has %s", shard.Shard, digest, shard.Output)
	}
	if agent := result.Agent.String(); len(shard.Agents) < audit.MaxShardAgents && !slices.Contains(shard.Agents, agent) && (result.Agent != uuid.Nil || !shard.Server) {
		return otherResults("they have shard %d from the agent %s, of which the receipt says nothing", shard.Shard, agent)
	}
	r.seen++
	if len(result.Output) == 0 {
		r.byDigest++
	}
	return r.folder.take(ctx, shard.Shard, bytes.Clone(result.Output))
}

// end makes sure that there are no more results, and folds what there was.
func (r *receiptResults) end(ctx context.Context) (folded bool, err error) {
	if r == nil {
		return false, nil
	}
	if more, _, err := r.reader.Next(); !errors.Is(err, io.EOF) {
		return false, otherResults("they go on with shard %d, which the receipt has no line of", more.Shard)
	}
	return r.folder.end(ctx)
}

// exactResult reads a line of results that says everything once, under the name that it has: other programs may read another one of two
// values, or one whose name is written otherwise, than we do. canonical.Valid cannot read the line: an output may be as deep as that
// allows, and stands one deeper in its line. DisallowUnknownFields takes "Output" for "output".
func exactResult(text []byte) (r client.ResultLine, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return r, errors.New("a line of results is a JSON object")
	}
	seen := map[string]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return r, err
		}
		key := fmt.Sprint(name)
		into, known := map[string]any{"shard": &r.Shard, "output": &r.Output, "output_digest": &r.OutputDigest, "agent": &r.Agent, "provisional": &r.Provisional, "input": &r.Input}[key]
		if !known || seen[key] {
			return r, fmt.Errorf("a line of results has %q twice, or no line of ours has it", key)
		}
		seen[key] = true
		if err := d.Decode(into); err != nil {
			return r, fmt.Errorf("%s of a line of results: %w", key, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return r, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return r, errors.New("a line of results goes on after its end")
	}
	return r, nil
}
