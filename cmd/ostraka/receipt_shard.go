package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/audit"
)

func newReceiptShard(t *terminal) *cobra.Command {
	var output jsonLinesFlag
	o := &receiptVerifyOptions{terminal: t}
	cmd := &cobra.Command{
		Use: "shard FILE SHARD", Short: "Print a small file that proves one shard of a receipt", Args: arguments(2),
		Long: `Print a small file that proves one shard of a receipt, - is stdin: the receipt without its lines, the line of the shard, the path
from it to the root that the log vouches for, and what the agents have signed of it. It is some KiB long whatever the number of shards, and ostraka receipt verify
verifies it without a server. The receipt itself is not verified here but for its lines: verify the file that is printed.`,
		Example: "  ostraka receipt shard answer.receipt 417 > shard.receipt && ostraka receipt verify shard.receipt --key \"$(cat log.key)\"",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			shard, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil || shard < 0 {
				return usageError("%q is no number of a shard, which are counted from 0", args[1])
			}
			file, err := o.open(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			text, err := proveShard(bufio.NewReaderSize(file, audit.MaxShardProofBytes+1), shard)
			if err != nil {
				return cleaned(err)
			}
			_, err = t.out.Write(append(text, '\n'))
			return err
		},
	}
	output.register(cmd.Flags())
	return cmd
}

// proveShard reads a receipt once and writes the proof of one of its shards.
func proveShard(in *bufio.Reader, shard int64) ([]byte, error) {
	first, err := line(in)
	if err != nil {
		return nil, refused(fmt.Errorf("its first line: %w", err))
	}
	if audit.IsShardProof(first) {
		return nil, usageError("this is the receipt of one shard already: name the whole one, from ostraka job receipt JOB")
	}
	first = bytes.Clone(first)
	r, err := audit.OpenReceipt(first, "")
	if err != nil {
		return nil, refused(err)
	}
	v := &receiptCheck{options: &receiptVerifyOptions{}, receipt: r, lines: in, signatures: audit.NewSignatureCheck(r)}
	v.signatures.KeepShard(shard)
	if whole, err := v.whole(); err != nil || !whole {
		return nil, errors.Join(err, usageError("the receipt has no lines of shards: ostraka job receipt JOB, without --summary, has them"))
	}
	var finder audit.PathFinder
	var wanted []byte
	err = v.each(func(l audit.ShardLine) error {
		text, err := l.Canonical()
		if err != nil {
			return err
		}
		if l.Shard == shard {
			wanted = text
		}
		finder.Add(audit.Leaf(text), l.Shard == shard)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if wanted == nil {
		return nil, &exitError{code: exitNotFound, err: fmt.Errorf("the receipt has no line of shard %d: no result of it was accepted, or the job has %s", shard, count(r.Statement.Shards.Total, "shard"))}
	}
	index, path, err := finder.Path()
	if err != nil {
		return nil, err
	}
	return audit.EncodeShardProof(first, wanted, index, path, v.signatures.Kept()...)
}

// verifyShard verifies a file that proves one shard.
func (o *receiptVerifyOptions) verifyShard(text []byte, in *bufio.Reader, key string) (receiptReport, error) {
	if o.results != "" || o.wanted() {
		return receiptReport{}, usageError("this file proves one shard alone: --results and --reexecute take a whole receipt")
	}
	if _, err := in.Peek(1); !errors.Is(err, io.EOF) {
		return receiptReport{}, refused(errors.New("something follows after the proof of the shard"))
	}
	p, err := audit.OpenShardProof(text, key)
	if err != nil {
		return receiptReport{}, refused(err)
	}
	v := &receiptCheck{options: o, receipt: p.Receipt, one: &p, draws: newDrawsCheck(p.Receipt.Statement)}
	err = o.checkWitnesses(p.Receipt)
	if err == nil {
		err = o.checkOwner(p.Receipt.Statement)
	}
	if err == nil {
		err = v.draws.see(p.Line)
	}
	if err == nil {
		err = o.checkSigned(v.signaturesReport())
	}
	return v.report(err == nil), err
}

// checkWitnesses makes sure that the witnesses that were named have co-signed the receipt's checkpoint, with exactly these keys.
func (o *receiptVerifyOptions) checkWitnesses(r audit.Receipt) error {
	slices.Sort(o.witnesses)
	o.witnesses = slices.Compact(o.witnesses)
	for _, wanted := range o.witnesses {
		found := false
		for _, w := range r.Witnesses {
			found = found || w.Key == wanted
		}
		if !found {
			return refused(fmt.Errorf("the checkpoint that proves it is not co-signed with the key %s", wanted))
		}
	}
	return nil
}

// shardText is the one shard that a file proves.
func shardText(p *audit.ShardProof) string {
	server := ""
	if p.Line.Server {
		server = "; a server executed it too"
	}
	return fmt.Sprintf("%d, output sha256 %s, by %s%s: line %d of the %d that the log vouches for", p.Line.Shard, p.Line.Output, count(int64(len(p.Line.Agents)), "agent"), server,
		p.Index, p.Receipt.Statement.Shards.Accepted)
}
