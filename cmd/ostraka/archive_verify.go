package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/client"
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
}

func newArchiveVerify(t *terminal) *cobra.Command {
	var output outputFlag
	var results, key string
	cmd := &cobra.Command{
		Use: "verify FILE.json", Short: "Verify the files of an archive, without a server", Args: arguments(1),
		Long: `Verify the files of an archive, without a server: that the file of shards is the one that the document names,
that it has every shard once, that each output has the digest that stands beside it, and that the counts are those
of the document. A receipt in it is verified as ostraka receipt verify does, its tree is that of these shards, and
where it has the secret by which audits were drawn, every draw is repeated.

Give the key that you know of, from ostraka audit checkpoint: without it a pass says only that the receipt agrees
with itself. An archive without a receipt proves that its files belong together, and not who made them.`,
		Example: `  ostraka archive verify JOB.json --key "$(cat log.key)"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			if results == "" {
				results = strings.TrimSuffix(args[0], documentSuffix) + resultsSuffix
			}
			r, err := verifyArchive(args[0], results, strings.TrimSpace(key))
			if err != nil {
				return err
			}
			raw, err := json.Marshal(r)
			if err != nil {
				return fmt.Errorf("encoding what was found: %w", err)
			}
			return printOne(t, &output, raw, [][2]string{
				{"job", r.Job + " of project " + r.Project},
				{"function", r.Function},
				{"state", r.State},
				{"shards", fmt.Sprintf("%d, of which %d accepted, with %s", r.Shards, r.Accepted, count(r.Attempts, "attempt"))},
				{"receipt", r.Receipt},
			})
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

func verifyArchive(document, results, key string) (r archiveReport, err error) {
	if err := audit.CheckVerifier(key); key != "" && err != nil {
		return r, usageError("--key: %v", err)
	}
	text, err := readBounded(document, archive.MaxDocument+1)
	if err != nil {
		return r, usageError("reading the document: %w", err)
	}
	d, err := archive.Parse(text)
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
	r = archiveReport{Job: d.Job, Project: d.Project, State: d.State, Function: fmt.Sprintf("%s version %d  %s", d.Function.Name, d.Function.Version, d.Function.Digest), Receipt: "none"}
	said, err := r.verifyReceipt(d, key)
	if err != nil {
		return r, err
	}
	root, err := r.readShards(in, size, d, said)
	if err == nil && said != nil && said.Shards.Root != hex.EncodeToString(root[:]) {
		err = badArchive("its receipt is about other shards")
	}
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
func (r *archiveReport) readShards(in io.ReaderAt, size int64, d archive.Document, said *audit.Statement) (root audit.Hash, err error) {
	file, err := archive.Open(in, size)
	if err != nil {
		return root, badArchive("%w", err)
	}
	var peaks audit.Peaks
	var draws *drawsCheck
	if said != nil {
		draws = newDrawsCheck(*said)
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
	return peaks.Root(), nil
}

// verifyReceipt verifies the receipt that a document has, and that it is about this job; nil: it has none. Whether it is about the shards is
// known when they were read.
func (r *archiveReport) verifyReceipt(d archive.Document, key string) (*audit.Statement, error) {
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
	r.Receipt = "verified: its tree is that of these shards"
	if key == "" {
		r.Receipt += "; give the log's key with --key to know whose receipt it is"
	}
	return &said, nil
}
