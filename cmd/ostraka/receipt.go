package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/runtime/signing"
)

func newReceipt(t *terminal) *cobra.Command {
	return noun("receipt", "Receipts of answers, verified without a server", newReceiptVerify(t), newReceiptShard(t))
}

// receiptVerifyOptions are the flags of `ostraka receipt verify`.
type receiptVerifyOptions struct {
	outputFlag
	reexecution
	terminal  *terminal
	key       string
	witnesses []string
	owner     string // fingerprint of the key that must have signed the function
	results   string
	signed    bool
}

func newReceiptVerify(t *terminal) *cobra.Command {
	o := &receiptVerifyOptions{terminal: t}
	cmd := &cobra.Command{
		Use: "verify FILE", Short: "Verify a receipt here, without a server", Args: arguments(1),
		Long: `Verify a receipt here, - is stdin; no server is asked. What it says is what the project's sealed log has a record of, and the lines of
its shards are those that it commits to. With --results, from ostraka job results, each output is the one of the
receipt, and where the aggregator is a built-in one the answer is folded again out of them. With --reexecute and
--function, shards drawn here by chance are executed again here, and must give the same.

A file of ostraka receipt shard is verified as well: it proves one shard. --witness names the key of an agent that must have
co-signed the checkpoint, as ostraka agent witness show prints it on a machine that you know.

Of a receipt that has the secret by which audits were drawn every draw is repeated. It is the secret whose digest the log has a
record of since the job was submitted, so that nobody chose the audits by what came in.

Agents sign what they give as results of this job and this function, with keys that the log has records of. Every such signature in
the receipt is verified; --signed refuses a receipt in which an accepted result has none.

Give the key that you know of, from ostraka audit checkpoint: without it a pass says only that the receipt agrees
with itself. What a pass does not prove is printed with it. The exit code is 0 only when nothing is wrong, and 1 when the receipt
or something given with it is refused: -o json says then too what was found.`,
		Example: `  ostraka receipt verify answer.receipt --key "$(cat log.key)"
  ostraka receipt verify answer.receipt --results results.jsonl --function ./sums --reexecute 1%
  ostraka job receipt JOB | ostraka receipt verify - --key "$(cat log.key)" -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := noKeyFile(cmd); err != nil {
				return err
			}
			if cmd.Flags().Changed("key") && strings.TrimSpace(o.key) == "" {
				return usageError("--key is empty: was the file that it comes from there? ostraka audit checkpoint shows the key")
			}
			return o.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	o.outputFlag.register(f)
	o.reexecution.register(f)
	f.StringVar(&o.key, "key", "", "the key of the project's log, as ostraka audit checkpoint shows it; left out: the one in the receipt")
	f.StringVar(&o.owner, "owner", "", "fingerprint of the key that must have signed the function, as ostraka signing-key list shows it")
	f.StringArrayVar(&o.witnesses, "witness", nil, "the key of an agent that must have co-signed the receipt's checkpoint; may be given again")
	f.BoolVar(&o.signed, "signed", false, "refuse a receipt with a result that no agent has signed so that a stranger can check it")
	f.StringVar(&o.results, "results", "", "the job's results, as ostraka job results prints them")
	return cmd
}

func (o *receiptVerifyOptions) run(ctx context.Context, path string) error {
	if err := o.outputFlag.check(); err != nil {
		return err
	}
	if err := o.reexecution.check(); err != nil {
		return err
	}
	if o.owner != "" && !signing.IsFingerprint(o.owner) {
		return usageError("--owner %q is no fingerprint: give the 64 hexadecimal digits that ostraka signing-key list shows", o.owner)
	}
	for _, key := range o.witnesses {
		if err := audit.CheckWitness(key); err != nil {
			return &exitError{code: exitUsage, err: fmt.Errorf("--witness %q is no key of a witness: %w", key, err), hint: "give the line that ostraka agent witness show prints on that machine"}
		}
	}
	report, err := o.verify(ctx, path)
	var no *refusal
	switch {
	case errors.As(err, &no) && o.json():
		report.Refusal = no.Error()
		return errors.Join(cleaned(err), writeValue(o.terminal.out, report))
	case err != nil:
		return cleaned(err)
	}
	return o.show(report)
}

// verify verifies the receipt in a file. Of one that is refused the report has what was found out before.
func (o *receiptVerifyOptions) verify(ctx context.Context, path string) (receiptReport, error) {
	file, err := o.open(path)
	if err != nil {
		return receiptReport{}, err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, audit.MaxShardProofBytes+1)
	first, err := line(in)
	if errors.Is(err, io.EOF) {
		err = errors.New("it is empty")
	}
	if err != nil {
		return receiptReport{}, refused(fmt.Errorf("%s: %w", path, err))
	}
	key := strings.TrimSpace(o.key)
	if err := audit.CheckVerifier(key); key != "" && err != nil {
		return receiptReport{}, usageError("--key: %v", err)
	}
	if audit.IsShardProof(first) {
		return o.verifyShard(bytes.Clone(first), in, key)
	}
	r, err := audit.OpenReceipt(first, key)
	if err != nil {
		return receiptReport{}, refused(err)
	}
	v := &receiptCheck{options: o, receipt: r, lines: in, draws: newDrawsCheck(r.Statement), signatures: audit.NewSignatureCheck(r)}
	err = o.checkWitnesses(r)
	if err == nil {
		err = o.checkOwner(r.Statement)
	}
	if err == nil {
		err = v.run(ctx)
	}
	if err == nil {
		err = o.checkSigned(v.signaturesReport())
	}
	return v.report(err == nil), err
}

// open opens the file of the receipt, or stdin.
func (o *receiptVerifyOptions) open(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(o.terminal.in), nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, usageError("reading the receipt: %v", err)
	}
	if info, err := file.Stat(); err != nil || info.IsDir() {
		return nil, errors.Join(usageError("%s is no file", path), file.Close())
	}
	return file, nil
}

// refusal is why a receipt, or what was given with it, is refused.
type refusal struct{ error }

// cleaned takes out of an error what a hostile receipt may have put there for a terminal.
func cleaned(err error) error {
	var ended *exitError
	if !errors.As(err, &ended) {
		return errors.New(plain(err.Error()))
	}
	return &exitError{code: ended.code, err: errors.New(plain(ended.err.Error())), hint: ended.hint}
}

// refused is the end of a receipt that does not hold.
func refused(err error) error {
	return &exitError{code: exitFailed, err: &refusal{fmt.Errorf("the receipt does not hold: %w", err)}}
}

// otherResults is for results that are not those of the receipt, which may hold all the same.
func otherResults(format string, args ...any) error {
	return &exitError{code: exitFailed, err: &refusal{fmt.Errorf("these are not the results of the receipt: "+format, args...)}, hint: "ostraka job results prints those of a job"}
}
