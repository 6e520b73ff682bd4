package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/audit"
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
		RunE: func(cmd *cobra.Command, args []string) error {
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
	f.StringVar(&o.results, "results", "", "the job's results, as ostraka job results prints them")
	return cmd
}

// receiptReport is what was found out about a receipt that holds.
type receiptReport struct {
	Job        string          `json:"job"`
	Project    string          `json:"project"`
	State      string          `json:"state"`
	Run        int             `json:"run"`
	FinishedAt time.Time       `json:"finished_at"`
	Partition  json.RawMessage `json:"partition"`
	Policy     json.RawMessage `json:"policy"`
	Validator  json.RawMessage `json:"validator,omitempty"`
	Aggregator json.RawMessage `json:"aggregator,omitempty"`
	Bound      json.RawMessage `json:"verification,omitempty"`
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
	ByDigest  int64    `json:"results_without_output"` // of which the file has only the digest
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
		return cleaned(err)
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
	if info, err := file.Stat(); err != nil || info.IsDir() {
		return receiptReport{}, usageError("%s is no file", path)
	}
	in := bufio.NewReaderSize(file, audit.MaxReceiptBytes+1)
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
	r, err := audit.OpenReceipt(first, key)
	if err != nil {
		return receiptReport{}, refused(err)
	}
	v := &receiptCheck{options: o, receipt: r, lines: in}
	if err := v.run(ctx); err != nil {
		return receiptReport{}, err
	}
	return v.report(), nil
}

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
	return &exitError{code: exitFailed, err: fmt.Errorf("the receipt does not hold: %w", err)}
}

// otherResults is for results that are not those of the receipt, which may hold all the same.
func otherResults(format string, args ...any) error {
	return &exitError{code: exitFailed, err: fmt.Errorf("these are not the results of the receipt: "+format, args...), hint: "ostraka job results prints those of a job"}
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
	byDigest int64
	folded   bool
	executed int64
}

func (v *receiptCheck) run(ctx context.Context) error {
	_, err := v.lines.Peek(1)
	if err != nil && !errors.Is(err, io.EOF) {
		return usageError("reading the receipt: %v", err)
	}
	whole := err == nil || v.receipt.Statement.Shards.Accepted == 0
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
		drawn.see(shard)
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
	if v.folded, err = results.end(ctx); err != nil {
		return err
	}
	if results != nil {
		v.results, v.byDigest = results.seen, results.byDigest
	}
	v.executed, err = v.options.execute(ctx, v.options.terminal, v.receipt.Statement, drawn)
	return err
}

func (v *receiptCheck) report() receiptReport {
	said := v.receipt.Statement
	r := receiptReport{
		Job: said.Job, Project: said.Project, State: said.State, Run: said.Run, FinishedAt: said.FinishedAt, Partition: said.Partition, Policy: said.Policy, Validator: said.Validator, Aggregator: said.Aggregator, Bound: said.Verification, Function: fmt.Sprintf("%s@%d", said.Function.Name, said.Function.Version), Digest: said.Function.Digest,
		Key: v.receipt.Key, KeyGiven: !v.receipt.OwnKey, Record: v.receipt.Index, LogSize: v.receipt.Head.Size, Accepted: said.Shards.Accepted, Total: said.Shards.Total,
		Lines: v.peaks.Size(), ByServer: v.byServer, Results: v.results, ByDigest: v.byDigest, Folded: v.folded, Executed: v.executed,
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
	shards := v.receipt.Statement.Shards
	say(shards.Accepted < shards.Total, fmt.Sprintf("anything about %s without an accepted result: the answer leaves them out", count(shards.Total-shards.Accepted, "shard")))
	say(v.peaks.Size() == 0 && shards.Accepted > 0, "what each shard gave: the receipt has no lines of shards")
	say(v.peaks.Size() > 0 && v.results == 0, "that your results are those of the receipt (give --results)")
	say(v.byDigest > 0, fmt.Sprintf("what %s: the results have only their digests", count(v.byDigest, "output")+" is"))
	say(answered && !v.folded, "that the answer follows from the results: it was not folded again here")
	say(v.executed == 0 && shards.Accepted > 0, "that the outputs are right: none was executed again here (give --reexecute and --function)")
	say(v.executed > 0 && v.executed < shards.Accepted, fmt.Sprintf("that the outputs are right beyond the %s executed again here: the rest is the server's word, and its policy's", count(v.executed, "shard")))
	say(true, "that agents are who the server says they are, and that audits were drawn by chance: the server's word")
	say(true, "that it is the newest receipt of the job: one that was aggregated again has another")
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
		key = "the key in the receipt: " + plain(r.Key)
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
		{"job", fmt.Sprintf("%s, %s %s (aggregation %d)", plain(r.Job), plain(r.State), r.FinishedAt.UTC().Format(time.RFC3339), r.Run)},
		{"function", plain(r.Function) + ", sha256 " + r.Digest},
		{"input", shorten(plain(string(r.Partition)))},
		{"policy", shorten(plain(string(r.Policy)))},
		{"verification", shorten(plain(string(r.Bound)))},
		{"aggregator", shorten(plain(firstOf(string(r.Aggregator), "none: nothing is folded")))},
		{"answer", shorten(plain(answer))},
		{"log", fmt.Sprintf("record %d of %d, verified with %s", r.Record, r.LogSize, key)},
		{"shards", fmt.Sprintf("%d of %d accepted", r.Accepted, r.Total)},
		{"lines", some(r.Lines, fmt.Sprintf("%d are those that the log vouches for; a server executed %d of them too", r.Lines, r.ByServer))},
		{"results", some(r.Results, resultsText(r))},
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

func resultsText(r receiptReport) string {
	if r.ByDigest == 0 {
		return count(r.Results, "output") + " checked: those of the receipt"
	}
	return fmt.Sprintf("%s checked: those of the receipt; %d only by digest", count(r.Results, "output"), r.ByDigest)
}
