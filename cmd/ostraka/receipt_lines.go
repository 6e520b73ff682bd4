package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/ostraka/ostraka/audit"
)

// receiptCheck goes through the lines of a receipt's shards, beside the results where there are some.
type receiptCheck struct {
	options  *receiptVerifyOptions
	receipt  audit.Receipt
	one      *audit.ShardProof // the file proves this shard alone; nil: it is a receipt
	lines    *bufio.Reader
	peaks    audit.Peaks
	byServer int64
	results  int64
	byDigest int64
	folded   bool
	executed int64
	draws    *drawsCheck

	signatures *audit.SignatureCheck // what agents have signed; nil: the file proves one shard
}

func (v *receiptCheck) run(ctx context.Context) error {
	if whole, err := v.whole(); err != nil || !whole {
		return err
	}
	results, done, err := v.openResults(ctx)
	if err != nil {
		return err
	}
	defer done()
	drawn, err := v.options.draw(v.receipt.Statement)
	if err != nil {
		return err
	}
	err = v.each(func(shard audit.ShardLine) error {
		drawn.see(shard)
		return results.compare(ctx, shard)
	})
	if err != nil {
		return err
	}
	if v.folded, err = results.end(ctx); err != nil {
		return err
	}
	if results != nil {
		v.results, v.byDigest = results.seen, results.byDigest
	}
	v.executed, err = v.options.execute(ctx, v.options.terminal, v.receipt.Statement, drawn)
	return err
}

// whole says whether the receipt has the lines of its shards. Without them there is nothing to compare results with, or to execute.
func (v *receiptCheck) whole() (bool, error) {
	_, err := v.lines.Peek(1)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, usageError("reading the receipt: %v", err)
	}
	whole := err == nil || v.receipt.Statement.Shards.Accepted == 0
	if o := v.options; !whole && (o.results != "" || o.wanted()) {
		return false, usageError("the receipt has no lines of shards, which --results and --reexecute are compared with: ostraka job receipt JOB, without --summary, has them")
	}
	return whole, nil
}

// each shows every line, and makes sure that they are those that the log vouches for.
func (v *receiptCheck) each(see func(audit.ShardLine) error) error {
	said := v.receipt.Statement.Shards
	for last := int64(-1); ; {
		text, err := line(v.lines)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return refused(fmt.Errorf("after shard %d: %w", last, err))
		}
		if audit.IsSignedLine(text) {
			if err := v.signatures.Line(text); err != nil {
				return refused(err)
			}
			continue
		}
		shard, err := audit.ParseShardLine(text)
		if err != nil {
			return refused(fmt.Errorf("after shard %d: %w", last, err))
		}
		if shard.Shard <= last || shard.Shard >= said.Total {
			return refused(fmt.Errorf("after shard %d comes shard %d of %d", last, shard.Shard, said.Total))
		}
		last = shard.Shard
		v.peaks.Add(audit.Leaf(text))
		if shard.Server {
			v.byServer++
		}
		if err := v.signatures.Shard(shard); err != nil {
			return refused(err)
		}
		if err := v.draws.see(shard); err != nil {
			return err
		}
		if err := see(shard); err != nil {
			return err
		}
	}
	if root := v.peaks.Root(); v.peaks.Size() != said.Accepted || hex.EncodeToString(root[:]) != said.Root {
		return refused(fmt.Errorf("its %d lines of shards are not the %d that the log vouches for", v.peaks.Size(), said.Accepted))
	}
	if err := v.signatures.End(); err != nil {
		return refused(err)
	}
	return nil
}

// line reads a line, without its end, which it must have. io.EOF stands for the end of the file.
func line(in *bufio.Reader) ([]byte, error) {
	text, err := in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, errors.New("a line is longer than any line of a receipt")
	case errors.Is(err, io.EOF) && len(text) > 0:
		return nil, errors.New("the last line is cut off")
	case err != nil:
		return nil, err
	}
	return text[:len(text)-1], nil
}
