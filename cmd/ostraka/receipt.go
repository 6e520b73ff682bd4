package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/client"
)

func newReceipt(t *terminal) *cobra.Command {
	return noun("receipt", "Receipts of answers, verified without a server", newReceiptVerify(t))
}

// receiptVerifyOptions are the flags of `ostraka receipt verify`.
type receiptVerifyOptions struct {
	outputFlag
	reexecution
	terminal *terminal
	key      string
	results  string
}

func newReceiptVerify(t *terminal) *cobra.Command {
	o := &receiptVerifyOptions{terminal: t}
	cmd := &cobra.Command{
		Use: "verify FILE", Short: "Verify a receipt here, without a server", Args: arguments(1),
		Long: `Verify a receipt here; no server is asked. What it says is what the project's sealed log has a record of, and the lines of
its shards are those that it commits to. With --results, from ostraka job results, each output is the one of the
receipt, and where the aggregator is a built-in one the answer is folded again out of them. With --reexecute and
--function, shards drawn here by chance are executed again here, and must give the same.

Give the key that you know of, from ostraka audit checkpoint: without it a pass says only that the receipt agrees
with itself. What a pass does not prove is printed with it. The exit code is 0 only when nothing is wrong.`,
		Example: `  ostraka receipt verify answer.receipt --key "$(cat log.key)"
  ostraka receipt verify answer.receipt --results results.jsonl --function ./sums --reexecute 1%`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	f := cmd.Flags()
	o.outputFlag.register(f)
	o.reexecution.register(f)
	f.StringVar(&o.key, "key", "", "the key of the project's log, as ostraka audit checkpoint shows it; left out: the one in the receipt")
	f.StringVar(&o.results, "results", "", "the job's results, as ostraka job results prints them")
	return cmd
}

// receiptReport is what was found out about a receipt that holds.
type receiptReport struct {
	Job        string          `json:"job"`
	Project    string          `json:"project"`
	State      string          `json:"state"`
	Function   string          `json:"function"`
	Digest     string          `json:"function_digest"`
	Answer     json.RawMessage `json:"answer,omitempty"`
	AnswerHash string          `json:"answer_digest,omitempty"`
	Key        string          `json:"key"`
	KeyGiven   bool            `json:"key_given"`
	Record     int64           `json:"record"`
	LogSize    int64           `json:"log_size"`
	Accepted   int64           `json:"accepted"`
	Total      int64           `json:"shards"`
	// What was looked at here; 0: nothing.
	Lines     int64    `json:"lines_checked"`
	ByServer  int64    `json:"executed_by_server"`
	Results   int64    `json:"results_checked"`
	Folded    bool     `json:"folded_again"`
	Executed  int64    `json:"executed_again"`
	NotProved []string `json:"not_proved"`
}

func (o *receiptVerifyOptions) run(ctx context.Context, path string) error {
	if err := o.outputFlag.check(); err != nil {
		return err
	}
	if err := o.reexecution.check(); err != nil {
		return err
	}
	report, err := o.verify(ctx, path)
	if err != nil {
		return err
	}
	return o.show(report)
}

// verify verifies the receipt in a file.
func (o *receiptVerifyOptions) verify(ctx context.Context, path string) (receiptReport, error) {
	file, err := os.Open(path)
	if err != nil {
		return receiptReport{}, usageError("reading the receipt: %v", err)
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, audit.MaxReceiptBytes+1)
	first, err := line(in)
	if errors.Is(err, io.EOF) {
		err = errors.New("it is empty")
	}
	if err != nil {
		return receiptReport{}, refused(fmt.Errorf("%s: %w", path, err))
	}
	r, err := audit.OpenReceipt(first, strings.TrimSpace(o.key))
	if err != nil {
		return receiptReport{}, refused(err)
	}
	v := &receiptCheck{options: o, receipt: r, lines: in}
	if err := v.run(ctx); err != nil {
		return receiptReport{}, err
	}
	return v.report(), nil
}

// refused is the end of a receipt that does not hold.
func refused(err error) error {
	return &exitError{code: exitFailed, err: fmt.Errorf("the receipt does not hold: %w", err)}
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

// receiptCheck goes through the lines of a receipt's shards, beside the results where there are some.
type receiptCheck struct {
	options  *receiptVerifyOptions
	receipt  audit.Receipt
	lines    *bufio.Reader
	peaks    audit.Peaks
	byServer int64
	results  int64
	folded   bool
	executed int64
}

func (v *receiptCheck) run(ctx context.Context) error {
	_, err := v.lines.Peek(1)
	whole := err == nil
	if o := v.options; !whole && (o.results != "" || o.wanted()) {
		return usageError("the receipt has no lines of shards, which --results and --reexecute are compared with: ostraka job receipt JOB, without --summary, has them")
	}
	if !whole {
		return nil
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
	last := int64(-1)
	for {
		text, err := line(v.lines)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return refused(fmt.Errorf("after shard %d: %w", last, err))
		}
		shard, err := audit.ParseShardLine(text)
		if err != nil {
			return refused(fmt.Errorf("after shard %d: %w", last, err))
		}
		if shard.Shard <= last || shard.Shard >= v.receipt.Statement.Shards.Total {
			return refused(fmt.Errorf("after shard %d comes shard %d of %d", last, shard.Shard, v.receipt.Statement.Shards.Total))
		}
		last = shard.Shard
		drawn.see(v.peaks.Size(), shard)
		v.peaks.Add(audit.Leaf(text))
		if shard.Server {
			v.byServer++
		}
		if err := results.compare(ctx, shard); err != nil {
			return err
		}
	}
	root := v.peaks.Root()
	said := v.receipt.Statement.Shards
	if v.peaks.Size() != said.Accepted || hex.EncodeToString(root[:]) != said.Root {
		return refused(fmt.Errorf("its %d lines of shards are not the %d that the log vouches for", v.peaks.Size(), said.Accepted))
	}
	if v.results, v.folded, err = results.end(ctx); err != nil {
		return err
	}
	v.executed, err = v.options.execute(ctx, v.options.terminal, v.receipt.Statement, drawn)
	return err
}

func (v *receiptCheck) report() receiptReport {
	said := v.receipt.Statement
	r := receiptReport{
		Job: said.Job, Project: said.Project, State: said.State, Function: fmt.Sprintf("%s@%d", said.Function.Name, said.Function.Version), Digest: said.Function.Digest,
		Key: v.receipt.Key, KeyGiven: !v.receipt.OwnKey, Record: v.receipt.Index, LogSize: v.receipt.Head.Size, Accepted: said.Shards.Accepted, Total: said.Shards.Total,
		Lines: v.peaks.Size(), ByServer: v.byServer, Results: v.results, Folded: v.folded, Executed: v.executed,
	}
	if said.Answer != nil {
		r.Answer, r.AnswerHash = said.Answer.Value, said.Answer.Digest
	}
	r.NotProved = v.notProved()
	return r
}

// notProved says what a pass leaves open.
func (v *receiptCheck) notProved() []string {
	var open []string
	say := func(some bool, what string) {
		if some {
			open = append(open, what)
		}
	}
	answered := v.receipt.Statement.Answer != nil
	say(v.receipt.OwnKey, "that the project's log has signed it: the key is the receipt's own (give --key)")
	say(v.peaks.Size() == 0, "what each shard gave: the receipt has no lines of shards")
	say(v.peaks.Size() > 0 && v.results == 0, "that your results are those of the receipt (give --results)")
	say(answered && !v.folded, "that the answer follows from the results: it was not folded again here")
	say(v.executed < v.receipt.Statement.Shards.Accepted, fmt.Sprintf("that the outputs are right beyond the %s executed again here: the rest is the server's word, and its policy's", count(v.executed, "shard")))
	say(true, "that agents are who the server says they are, and that audits were drawn by chance: the server's word")
	say(true, "that nobody was shown another log: compare checkpoints with others")
	return open
}

func (o *receiptVerifyOptions) show(r receiptReport) error {
	if o.json() {
		return writeValue(o.terminal.out, r)
	}
	answer := string(r.Answer)
	if answer == "" && r.AnswerHash != "" {
		answer = "sha256 " + r.AnswerHash
	}
	key := "the key given"
	if !r.KeyGiven {
		key = "the key in the receipt: " + r.Key
	}
	some := func(n int64, text string) string {
		if n == 0 {
			return ""
		}
		return text
	}
	folded := ""
	if r.Folded {
		folded = "the answer follows from the results"
	}
	err := printFields(o.terminal, [][2]string{
		{"job", r.Job + ", " + r.State},
		{"function", r.Function + ", sha256 " + r.Digest},
		{"answer", shorten(plain(answer))},
		{"log", fmt.Sprintf("record %d of %d, verified with %s", r.Record, r.LogSize, key)},
		{"shards", fmt.Sprintf("%d of %d accepted", r.Accepted, r.Total)},
		{"lines", some(r.Lines, fmt.Sprintf("%d are those that the log vouches for; a server executed %d of them too", r.Lines, r.ByServer))},
		{"results", some(r.Results, count(r.Results, "output")+" checked: those of the receipt")},
		{"folded again", folded},
		{"executed again", some(r.Executed, count(r.Executed, "shard")+": the same output here")},
	})
	if err != nil {
		return err
	}
	o.terminal.say("the receipt holds. Not proved:")
	for _, what := range r.NotProved {
		o.terminal.say("  - %s", what)
	}
	return nil
}

// receiptResults compares the results of a job with the lines of its receipt, one after the other. Nil: there are none.
type receiptResults struct {
	file   *os.File
	reader *client.ResultReader
	folder *folder
	seen   int64
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
	result, _, err := r.reader.Next()
	if errors.Is(err, io.EOF) {
		return refused(fmt.Errorf("the results end before shard %d", shard.Shard))
	}
	if err != nil {
		return usageError("%s: %v", r.file.Name(), err)
	}
	if result.Shard != shard.Shard {
		return refused(fmt.Errorf("the results have shard %d where the receipt has shard %d", result.Shard, shard.Shard))
	}
	digest := result.OutputDigest
	if len(result.Output) > 0 {
		digest = audit.DigestOf(result.Output)
	}
	if digest != shard.Output || result.OutputDigest != shard.Output {
		return refused(fmt.Errorf("the output of shard %d is not the one of the receipt: its SHA-256 is %s instead of %s", shard.Shard, digest, shard.Output))
	}
	r.seen++
	return r.folder.take(ctx, shard.Shard, bytes.Clone(result.Output))
}

// end makes sure that there are no more results, and folds what there was.
func (r *receiptResults) end(ctx context.Context) (seen int64, folded bool, err error) {
	if r == nil {
		return 0, false, nil
	}
	if more, _, err := r.reader.Next(); !errors.Is(err, io.EOF) {
		return 0, false, refused(fmt.Errorf("the results go on with shard %d, which the receipt has no line of", more.Shard))
	}
	folded, err = r.folder.end(ctx)
	return r.seen, folded, err
}
