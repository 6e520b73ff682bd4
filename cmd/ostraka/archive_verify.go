package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/functions/archive/compare"
	"github.com/ostraka/ostraka/runtime/archive"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// The files of an archive are named after the job.
const (
	documentSuffix = ".json"
	resultsSuffix  = ".parquet"
)

// errNoFiles says that an archive has not been written.
func errNoFiles(a client.JobArchive) error {
	return fmt.Errorf("the archive of job %s has no files: it is %s", a.Job, a.State)
}

// archiveReport is what was found in an archive.
type archiveReport struct {
	Job      string `json:"job"`
	Project  string `json:"project"`
	State    string `json:"state"`
	Function string `json:"function"`
	Shards   int64  `json:"shards"`
	Accepted int64  `json:"accepted"`
	Attempts int64  `json:"attempts"`
	Objects  int64  `json:"objects"` // outputs that are objects of their own; the file has their digests
	Receipt  string `json:"receipt"` // none, or verified
	Folded   bool   `json:"folded_again"`
	// Fields are those of the document that nothing proves; NotProved says what else is open.
	Fields    []string `json:"fields_not_proved"`
	NotProved []string `json:"not_proved"`
}

func newArchiveVerify(t *terminal) *cobra.Command {
	var output outputFlag
	var results, key string
	cmd := &cobra.Command{
		Use: "verify FILE.json", Short: "Verify the files of an archive, without a server", Args: arguments(1),
		Long: `Verify the files of an archive, without a server: that the file of shards is the one that the document names,
that it has every shard once, that each output has the digest that stands beside it, and that the counts are those
of the document. A receipt in it is verified as ostraka receipt verify does, its tree is that of these shards, and
where it has the secret by which audits were drawn, every draw is repeated. The document is held to it: function, input,
policy, bound, state, counts and answer. Where the aggregator is a built-in one, the answer is folded again. Fields
of which the receipt says nothing are named with a pass, as not proved.

Give the key that you know of, from ostraka audit checkpoint: without it a pass says only that the receipt agrees
with itself. An archive without a receipt proves that its files belong together, and not who made them: with --key
it is refused.`,
		Example: `  ostraka archive verify JOB.json --key "$(cat log.key)"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(output.check(), noKeyFile(cmd)); err != nil {
				return err
			}
			if strings.HasSuffix(args[0], resultsSuffix) {
				return usageError("%s is the file of shards: name the document beside it, %s", args[0], strings.TrimSuffix(args[0], resultsSuffix)+documentSuffix)
			}
			if results == "" {
				results = strings.TrimSuffix(args[0], documentSuffix) + resultsSuffix
			}
			r, err := verifyArchive(cmd.Context(), args[0], results, strings.TrimSpace(key))
			if err != nil {
				return cleaned(err)
			}
			return r.show(t, &output)
		},
	}
	output.register(cmd.Flags())
	cmd.Flags().StringVar(&results, "results", "", "the file of shards; left out: the one beside the document")
	cmd.Flags().StringVar(&key, "key", "", "the key of the project's log, as ostraka audit checkpoint shows it; left out: the one in the receipt")
	return cmd
}

// badArchive says that files are not what they should be.
func badArchive(format string, args ...any) error {
	return &exitError{code: exitFailed, err: fmt.Errorf("the archive does not verify: "+format, args...), hint: "download it again; if that is the same, what is stored was changed"}
}

// show prints what was found, and what is open.
func (r archiveReport) show(t *terminal, o *outputFlag) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding what was found: %w", err)
	}
	fields := [][2]string{
		{"job", r.Job + " of project " + r.Project},
		{"function", r.Function},
		{"state", r.State},
		{"shards", fmt.Sprintf("%d, of which %d accepted, with %s", r.Shards, r.Accepted, count(r.Attempts, "attempt"))},
		{"receipt", r.Receipt},
	}
	if r.Receipt != noReceipt {
		fields = append(fields, [2]string{"document", "function, input, policy, bound, state, counts and answer are those of the receipt"})
	}
	if r.Folded {
		fields = append(fields, [2]string{"folded again", "the answer follows from the outputs in the file"})
	}
	if err := printOne(t, o, raw, fields); err != nil || o.json() {
		return err
	}
	t.say("the files belong together. Not proved:")
	for _, what := range r.NotProved {
		t.say("  - %s", what)
	}
	if len(r.Fields) > 0 {
		t.say("  - what the document says in %s: the receipt says nothing of it", plain(strings.Join(r.Fields, ", ")))
	}
	return nil
}

// noReceipt is for an archive of which nothing says who made it.
const noReceipt = "none"

// leavesOpen says what a pass does not prove, besides fields of the document.
func (r *archiveReport) leavesOpen(said *audit.Statement, key string) {
	if said == nil {
		r.NotProved = append(r.NotProved, "who made the files, and that anything in them is so: there is no receipt (ask for one before the job is archived: ostraka job receipt JOB)")
		return
	}
	if key == "" {
		r.NotProved = append(r.NotProved, "that the project's log has signed the receipt: the key is the receipt's own (give --key)")
	}
	if said.Answer != nil && !r.Folded {
		r.NotProved = append(r.NotProved, "that the answer follows from the results: it was not folded again here")
	}
	r.NotProved = append(r.NotProved,
		"that the outputs are right: none was executed again here",
		"what the file of shards says besides accepted outputs and the agents that gave them: inputs, other outcomes, times, diagnostics")
}

func verifyArchive(ctx context.Context, document, results, key string) (r archiveReport, err error) {
	if err := audit.CheckVerifier(key); key != "" && err != nil {
		return r, usageError("--key: %v", err)
	}
	text, err := readBounded(document, archive.MaxDocument+1)
	if err != nil {
		return r, usageError("reading the document: %w", err)
	}
	d, err := archive.Parse(text)
	if err == nil {
		err = compare.Names(text, d, reflect.TypeFor[client.Job]())
	}
	if err != nil {
		return r, badArchive("%w", err)
	}
	in, err := os.Open(results)
	if err != nil {
		return r, usageError("reading the file of shards: %w", err)
	}
	defer in.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, in)
	if err != nil {
		return r, usageError("reading the file of shards: %w", err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != d.Results.Digest || size != d.Results.Bytes {
		return r, badArchive("%s has the digest %s, and the document names %s", results, got, d.Results.Digest)
	}
	r = archiveReport{Job: d.Job, Project: d.Project, State: d.State, Function: fmt.Sprintf("%s version %d  %s", d.Function.Name, d.Function.Version, d.Function.Digest), Receipt: noReceipt, Fields: []string{}}
	said, err := r.verifyReceipt(d, text, key)
	if err != nil {
		return r, err
	}
	root, err := r.readShards(ctx, in, size, d, said)
	if err == nil && said != nil && said.Shards.Root != hex.EncodeToString(root[:]) {
		err = badArchive("its receipt is about other shards")
	}
	r.leavesOpen(said, key)
	return r, err
}

// readBounded reads a file that has at most so many bytes.
func readBounded(name string, most int64) ([]byte, error) {
	in, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	return text, err
}

// readShards looks at every row, and returns the root of the tree that a receipt is about.
func (r *archiveReport) readShards(ctx context.Context, in io.ReaderAt, size int64, d archive.Document, said *audit.Statement) (root audit.Hash, err error) {
	file, err := archive.Open(in, size)
	if err != nil {
		return root, badArchive("%w", err)
	}
	var peaks audit.Peaks
	var draws *drawsCheck
	var fold *folder
	if said != nil {
		draws = newDrawsCheck(*said)
		if fold, err = newFolder(ctx, *said); err != nil {
			return root, err
		}
		defer fold.close()
	}
	for s, err := range file.Shards(-1) {
		if err != nil {
			return root, badArchive("%w", err)
		}
		r.Shards, r.Attempts = r.Shards+1, r.Attempts+int64(len(s.Attempts))
		if s.State != "accepted" {
			continue
		}
		if r.Accepted++; s.OutputDigest == nil {
			return root, badArchive("shard %d is accepted without a result", s.Shard)
		}
		if s.Output == nil {
			r.Objects++
		} else if got := canonical.Digest([]byte(*s.Output)); got != *s.OutputDigest {
			return root, badArchive("the output of shard %d has the digest %s, and %s stands beside it", s.Shard, got, *s.OutputDigest)
		}
		if err := fold.take(ctx, s.Shard, outputOf(s)); err != nil {
			return root, err
		}
		line := audit.ShardLine{Shard: s.Shard, Output: *s.OutputDigest}
		line.Agents, line.Server = s.Agreed(audit.MaxShardAgents)
		if s.Draw != nil && said != nil && said.Draws != nil {
			line.Draw = drawOf(*s.Draw).Among(line.Agents)
		}
		if err := draws.see(line); err != nil {
			return root, err
		}
		text, err := line.Canonical()
		if err != nil {
			return root, badArchive("%w", err)
		}
		peaks.Add(audit.Leaf(text))
	}
	if r.Shards != d.Results.Rows || r.Accepted != d.Shards.Accepted {
		return root, badArchive("the file has %d shards, %d of them accepted, and the document says %d and %d", r.Shards, r.Accepted, d.Results.Rows, d.Shards.Accepted)
	}
	r.Folded, err = fold.end(ctx)
	return peaks.Root(), err
}

// outputOf is what was accepted of a shard; nothing where it is an object of its own.
func outputOf(s archive.Shard) []byte {
	if s.Output == nil {
		return nil
	}
	return []byte(*s.Output)
}

// verifyReceipt verifies the receipt that a document has, and that the document says what it says; nil: it has none. Whether it is about
// the shards is known when they were read.
func (r *archiveReport) verifyReceipt(d archive.Document, text []byte, key string) (*audit.Statement, error) {
	if d.Receipt == "" && key != "" {
		return nil, &exitError{
			code: exitFailed, err: errors.New("the archive does not verify: its document has no receipt that --key could verify, so that nothing says who made it"),
			hint: "without --key it is checked that the files belong together; a receipt is asked for before the job is archived: ostraka job receipt JOB",
		}
	}
	if d.Receipt == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	receipt, err := audit.OpenReceipt(bytes.TrimSpace([]byte(d.Receipt)), key)
	if err != nil {
		return nil, badArchive("its receipt: %w", err)
	}
	said := receipt.Statement
	if said.Job != d.Job || said.Project != d.Project || said.Function.Digest != d.Function.Digest {
		return nil, badArchive("its receipt is about another job")
	}
	if r.Fields, err = compare.Document(text, said); err != nil {
		return nil, badArchive("%w", err)
	}
	r.Receipt = "verified: its tree is that of these shards"
	if key == "" {
		r.Receipt += "; give the log's key with --key to know whose receipt it is"
	}
	return &said, nil
}
