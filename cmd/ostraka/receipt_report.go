package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/ostraka/ostraka/audit"
)

// receiptReport is what was found out about a receipt.
type receiptReport struct {
	Verified  bool             `json:"verified"`            // nothing is wrong
	Refusal   string           `json:"refusal,omitempty"`   // what is wrong
	Statement *audit.Statement `json:"statement,omitempty"` // as the log vouches for it; nil: it does not
	Key       string           `json:"key,omitempty"`
	KeyGiven  bool             `json:"key_given"`
	Record    int64            `json:"record"` // its number in the log, counted from 0
	LogSize   int64            `json:"log_size"`
	Log       string           `json:"log,omitempty"` // what the log is called
	// Witnesses have co-signed the checkpoint, one of each owner; of those that Named says the key was given.
	Witnesses []audit.WitnessSeen `json:"witnesses,omitempty"`
	Named     int                 `json:"witnesses_named"`
	Shard     *audit.ShardLine    `json:"shard,omitempty"` // the one that the file proves
	one       *audit.ShardProof
	committed *audit.Committed
	// What was looked at here; 0: nothing.
	Lines    int64        `json:"lines_checked"`
	ByServer int64        `json:"executed_by_server"`
	Results  int64        `json:"results_checked"`
	ByDigest int64        `json:"results_without_output"` // of which the file has only the digest
	Folded   bool         `json:"folded_again"`
	Executed int64        `json:"executed_again"`
	Draws    *drawsReport `json:"draws,omitempty"` // nil: the receipt does not have the secret of draws
	// Signatures are those of agents; nil: the file has no lines that they are about.
	Signatures *signaturesReport `json:"signatures,omitempty"`
	NotProved  []string          `json:"not_proved,omitempty"`
}

func (v *receiptCheck) report(verified bool) receiptReport {
	r := receiptReport{
		Verified: verified, Statement: &v.receipt.Statement, Key: v.receipt.Key, KeyGiven: !v.receipt.OwnKey, Record: v.receipt.Index, LogSize: v.receipt.Head.Size,
		Log: v.receipt.Head.Origin, Witnesses: v.receipt.Witnesses, Named: len(v.options.witnesses),
		Lines: v.peaks.Size(), ByServer: v.byServer, Results: v.results, ByDigest: v.byDigest, Folded: v.folded, Executed: v.executed,
	}
	if v.one != nil {
		r.Shard, r.one = &v.one.Line, v.one
	}
	r.Draws = v.draws.report(v.receipt.Committed)
	r.committed = v.receipt.Committed
	r.Signatures = v.signaturesReport()
	if verified {
		r.NotProved = slices.Concat(v.notProved(), drawsNotProved(r), signaturesNotProved(r))
	}
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
	say(v.one != nil, "anything about the other shards: the file has one line")
	say(len(v.receipt.Witnesses) > len(v.options.witnesses), fmt.Sprintf("whose agents have co-signed with %d of the keys: the server's word (give --witness)", len(v.receipt.Witnesses)-len(v.options.witnesses)))
	say(v.one == nil && v.peaks.Size() == 0 && shards.Accepted > 0, "what each shard gave: the receipt has no lines of shards")
	say(v.peaks.Size() > 0 && v.results == 0, "that your results are those of the receipt (give --results)")
	say(v.byDigest > 0, fmt.Sprintf("what %s: the results have only their digests", count(v.byDigest, "output")+" is"))
	say(answered && !v.folded, "that the answer follows from the results: it was not folded again here")
	say(v.executed == 0 && shards.Accepted > 0, "that the outputs are right: none was executed again here (give --reexecute and --function)")
	say(v.executed > 0 && v.executed < shards.Accepted, fmt.Sprintf("that the outputs are right beyond the %s executed again here: the rest is the server's word, and its policy's", count(v.executed, "shard")))
	owner := ownerNotProved(v.receipt.Statement.Function, v.options.owner != "")
	say(owner != "", owner)
	say(true, "that agents are who the server says they are: the server's word")
	say(true, "that it is the newest receipt of the job: one that was aggregated again has another")
	say(true, "that nobody was shown another log: compare checkpoints with others")
	return open
}

func (o *receiptVerifyOptions) show(r receiptReport) error {
	if o.json() {
		return writeValue(o.terminal.out, r)
	}
	if err := printFields(o.terminal, receiptFields(r)); err != nil {
		return err
	}
	o.terminal.say("the receipt holds. Not proved:")
	for _, what := range r.NotProved {
		o.terminal.say("  - %s", what)
	}
	return nil
}

// receiptFields shows a receipt, whose parts may be those of a stranger's.
func receiptFields(r receiptReport) [][2]string {
	said := r.Statement
	key := "the key given"
	if !r.KeyGiven {
		key = "the key in the receipt: " + r.Key
	}
	fields := [][2]string{
		{"job", fmt.Sprintf("%s, %s %s (aggregation %d)", said.Job, said.State, said.FinishedAt.UTC().Format(time.RFC3339), said.Run)},
		{"function", fmt.Sprintf("%s@%d, sha256 %s", said.Function.Name, said.Function.Version, said.Function.Digest)},
		{"input", shorten(string(said.Partition))},
		{"policy", shorten(string(said.Policy))},
		{"verification", shorten(string(said.Verification))},
		{"aggregator", shorten(firstOf(string(said.Aggregator), "none: nothing is folded"))},
		{"answer", shorten(answerStated(said.Answer))},
		{"log", recordOf(r.Record, r.LogSize) + ", verified with " + key},
		{"shards", fmt.Sprintf("%d of %d accepted", said.Shards.Accepted, said.Shards.Total)},
	}
	add := func(some bool, name, text string) {
		if some {
			fields = append(fields, [2]string{name, text})
		}
	}
	add(said.Function.Key != "", "signed", ownerText(said.Function))
	_, epoch := audit.Epoch(r.Log)
	add(epoch != "", "log began anew", "it is called "+r.Log+": ostraka audit verify says when and why")
	add(len(r.Witnesses) > 0, "witnesses", witnessText(r))
	if r.one != nil {
		add(true, "shard", shardText(r.one))
	}
	add(r.Lines > 0, "lines", fmt.Sprintf("%d are those that the log vouches for; a server executed %d of them too", r.Lines, r.ByServer))
	if r.Signatures != nil {
		add(true, "signatures", r.Signatures.text())
	}
	if r.Draws != nil {
		add(r.Lines > 0, "audits", drawsText(r.Draws))
		add(r.one != nil, "audit", oneDrawText(r.one, r.Draws))
		add(true, "secret", secretText(r.committed))
	}
	add(r.Results > 0, "results", resultsText(r))
	add(r.Folded, "folded again", "the answer follows from the results")
	add(r.Executed > 0, "executed again", count(r.Executed, "shard")+": the same output here")
	return fields
}

// witnessText says how many owners of machines are behind the cosignatures, as the server says, and of how many the key was given.
func witnessText(r receiptReport) string {
	text := fmt.Sprintf("co-signed by agents of %s", count(int64(len(r.Witnesses)), "owner"))
	if r.Named == 0 {
		return text + ", as the server says whose they are"
	}
	return fmt.Sprintf("%s; %d of the keys are those given", text, r.Named)
}

// answerStated is the answer, or its digest where it is too long for a receipt.
func answerStated(a *audit.AnswerStated) string {
	switch {
	case a == nil:
		return ""
	case a.Value == nil:
		return "sha256 " + a.Digest
	}
	return string(a.Value)
}

func resultsText(r receiptReport) string {
	if r.ByDigest == 0 {
		return count(r.Results, "output") + " checked: those of the receipt"
	}
	return fmt.Sprintf("%s checked: those of the receipt; %d only by digest", count(r.Results, "output"), r.ByDigest)
}
