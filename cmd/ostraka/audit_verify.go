package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newAuditCheckpoint(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	var keyOnly bool
	log := &layerFlag{server: server}
	cmd := &cobra.Command{
		Use: "checkpoint", Short: "Print the newest signed head of the log", Args: arguments(0),
		Long: `Print the newest signed head of the log. Keep it where the server's operator has no access: a log that does not
grow out of it was changed, which ostraka audit verify --checkpoint FILE finds. The key to verify with goes to stderr.`,
		Example: "  ostraka audit checkpoint > head.txt\n  ostraka audit checkpoint --key-only > log.key",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := log.connect()
			if err != nil {
				return err
			}
			doc, err := auditHead(cmd.Context(), c, log)
			if err != nil {
				return explain("getting the checkpoint", err)
			}
			head := doc.Value
			if keyOnly {
				t.put("%s\n", head.Key)
				return nil
			}
			if head.Size == 0 {
				t.say("nothing is sealed yet: try again in some seconds")
			} else if signed, err := audit.Open([]byte(head.Checkpoint), head.Key); err != nil {
				return &exitError{code: exitFailed, err: err}
			} else {
				head.Origin = signed.Origin
			}
			if output.json() {
				return writeJSON(t.out, doc.Raw)
			}
			t.say("key: %s", head.Key)
			if err := sayCosigned(t, head); err != nil {
				return err
			}
			if err := sayRestarts(t, head); err != nil {
				return err
			}
			_, err = io.WriteString(t.out, head.Checkpoint)
			return err
		},
	}
	output.register(cmd.Flags())
	log.register(cmd.Flags())
	cmd.Flags().BoolVar(&keyOnly, "key-only", false, "print the log's key alone, to verify with later")
	return cmd
}

// sayCosigned says who has co-signed the log, each cosignature verified here.
func sayCosigned(t *terminal, head client.AuditHead) error {
	for _, c := range head.Cosignatures {
		signed, err := audit.OpenCosigned([]byte(c.Checkpoint), head.Key, c.Key)
		if err == nil && signed.Size != c.Size {
			err = fmt.Errorf("it is of %s", count(signed.Size, "record"))
		}
		if err != nil {
			return &exitError{code: exitFailed, err: fmt.Errorf("the cosignature of agent %s does not hold: %w", c.Agent, err), hint: "the server gave what the agent has not signed; ostraka audit verify says more"}
		}
	}
	newest := ""
	if len(head.Cosignatures) > 0 && head.Owners == 0 {
		newest = fmt.Sprintf("; the newest that was is the one of %s", count(head.Cosignatures[0].Size, "record"))
	}
	t.say("co-signed by agents of %s%s; agents that have co-signed this log: %d", count(head.Owners, "independent owner"), newest, len(head.Cosignatures))
	return nil
}

// auditHead gets the newest signed head of a log.
func auditHead(ctx context.Context, c *connection, log *layerFlag) (answer.Document[client.AuditHead], error) {
	return answer.Read[client.AuditHead](log.pick(
		func() (*http.Response, error) { return c.GetServerAuditCheckpoint(ctx) },
		func() (*http.Response, error) { return c.GetAuditCheckpoint(ctx, c.project) }))
}

// auditExport opens the export of a log.
func auditExport(ctx context.Context, c *connection, log *layerFlag, of recordRange) (io.ReadCloser, error) {
	body, err := answer.Stream(log.pick(
		func() (*http.Response, error) {
			return c.ExportServerAudit(ctx, &client.ExportServerAuditParams{From: notZero(of.From), To: notZero(of.To)})
		},
		func() (*http.Response, error) {
			return c.ExportAudit(ctx, c.project, &client.ExportAuditParams{From: notZero(of.From), To: notZero(of.To)})
		}))
	return body, explain("exporting the audit log", err)
}

// recordRange are flags that name records of a log by their numbers.
type recordRange struct{ audit.Range }

func (r *recordRange) register(f *pflag.FlagSet, verb string) {
	f.Int64Var(&r.From, "from", 0, "number of the first record whose content is "+verb+"; of the others the hashes are")
	f.Int64Var(&r.To, "to", 0, "number of the first record behind them; 0: to the end")
}

func (r *recordRange) check() error {
	if err := r.Check(); err != nil {
		return usageError("--from and --to: %v", err)
	}
	return nil
}

// notZero is a number that was given.
func notZero(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

func newAuditExport(t *terminal, server *serverFlags) *cobra.Command {
	var output jsonLinesFlag
	var of recordRange
	log := &layerFlag{server: server}
	cmd := &cobra.Command{
		Use: "export", Short: "Print the sealed log as JSON lines, to be verified anywhere", Args: arguments(0),
		Example: "  ostraka audit export > audit.jsonl\n  ostraka audit verify --export audit.jsonl --key KEY   # no server is asked",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(output.check(), of.check()); err != nil {
				return err
			}
			c, err := log.connect()
			if err != nil {
				return err
			}
			body, err := auditExport(cmd.Context(), c, log, of)
			if err != nil {
				return err
			}
			defer body.Close()
			if _, err := io.Copy(t.out, body); err != nil {
				return &exitError{code: exitUnreachable, err: fmt.Errorf("exporting the audit log: %w", err), hint: "what was written is not whole: export again"}
			}
			return nil
		},
	}
	output.register(cmd.Flags())
	log.register(cmd.Flags())
	of.register(cmd.Flags(), "exported")
	return cmd
}

// auditVerifyOptions are the flags of `ostraka audit verify`.
type auditVerifyOptions struct {
	outputFlag
	terminal   *terminal
	log        *layerFlag
	export     string
	key        string
	checkpoint string
	of         recordRange
}

func newAuditVerify(t *terminal, server *serverFlags) *cobra.Command {
	o := &auditVerifyOptions{terminal: t, log: &layerFlag{server: server}}
	cmd := &cobra.Command{
		Use: "verify", Short: "Verify the log, of the server or of an export", Args: arguments(0),
		Long: `Verify the log: its records lead to the heads that the server has signed. Every edit, drop, reorder, insertion and
truncation is named with its place. Without --export the server's log is read and verified here; with it, no server is asked.

Give the key that you know of, and a checkpoint that you kept: without them a pass says only that the log agrees with itself.`,
		Example: `  ostraka audit verify
  ostraka audit verify --from 1000 --to 2000   # the content of records 1000 to 1999, and all hashes
  ostraka audit verify --export audit.jsonl --key "$(cat log.key)" --checkpoint head.txt`,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	f := cmd.Flags()
	o.register(f)
	o.log.register(f)
	f.StringVar(&o.export, "export", "", "verify this file; - is stdin")
	o.of.register(f, "verified")
	f.StringVar(&o.key, "key", "", "the log's key, as ostraka audit checkpoint shows it; left out: the one that the server gives")
	f.StringVar(&o.checkpoint, "checkpoint", "", "file with a checkpoint that was kept: the log must have grown out of it")
	return cmd
}

func (o *auditVerifyOptions) run(ctx context.Context) error {
	if err := errors.Join(o.check(), o.of.check()); err != nil {
		return err
	}
	if o.export != "" && o.key == "" {
		return usageError("with which key? give --key; ostraka audit checkpoint shows it. A key that stands in the export proves nothing")
	}
	if o.key != "" {
		if err := audit.CheckVerifier(o.key); err != nil {
			return &exitError{code: exitUsage, err: fmt.Errorf("--key: %w", err), hint: "give the line that ostraka audit checkpoint --key-only prints"}
		}
	}
	if err := o.learnKey(ctx); err != nil {
		return err
	}
	known, err := o.known() // before the log is asked for, which may be long
	if err != nil {
		return err
	}
	body, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer body.Close()
	report, err := audit.VerifyRange(bufio.NewReaderSize(body, 1<<20), strings.TrimSpace(o.key), o.of.Range, known...)
	if err != nil {
		return &exitError{code: exitFailed, err: fmt.Errorf("verifying the audit log: %w", err)}
	}
	return o.show(report)
}

// learnKey asks the server for the key where none was given.
func (o *auditVerifyOptions) learnKey(ctx context.Context) error {
	if o.export != "" || o.key != "" {
		return nil
	}
	c, err := o.log.connect()
	if err != nil {
		return err
	}
	doc, err := auditHead(ctx, c, o.log)
	if err != nil {
		return explain("getting the log's key", err)
	}
	o.key = doc.Value.Key
	o.terminal.say("the key is the one that the server gives; give --key to verify with one that you know of")
	return nil
}

// open opens the export, of the file or of the server.
func (o *auditVerifyOptions) open(ctx context.Context) (io.ReadCloser, error) {
	switch o.export {
	case "":
	case "-":
		return io.NopCloser(o.terminal.in), nil
	default:
		f, err := os.Open(o.export)
		if err != nil {
			return nil, usageError("reading the export: %v", err)
		}
		return f, nil
	}
	c, err := o.log.connect()
	if err != nil {
		return nil, err
	}
	return auditExport(ctx, c, o.log, o.of)
}

// known reads the checkpoint that was kept.
func (o *auditVerifyOptions) known() ([]audit.Checkpoint, error) {
	if o.checkpoint == "" {
		return nil, nil
	}
	text, err := readAtMost(o.checkpoint, audit.MaxCheckpointBytes)
	if err != nil {
		return nil, err
	}
	c, err := audit.OpenEpoch(text, o.key)
	if err != nil {
		return nil, &exitError{code: exitUsage, err: fmt.Errorf("--checkpoint %s: %w", o.checkpoint, err), hint: o.otherLog(audit.Origin(text))}
	}
	return []audit.Checkpoint{c}, nil
}

// otherLog says what to do about a checkpoint that is of another log than the one that is verified; "": it is of this one.
func (o *auditVerifyOptions) otherLog(origin string) string {
	name, _, _ := strings.Cut(o.key, "+")
	log, _ := audit.Epoch(origin)
	own, _ := audit.Epoch(name)
	server := audit.ServerOrigin("")
	switch {
	case log == own || log == "":
		return ""
	case o.export != "":
		return "the export, --key and --checkpoint are to be of one log"
	case strings.HasPrefix(log, server):
		return "it is a checkpoint of the server's own log: give --operator, with an operator's key"
	case strings.HasPrefix(own, server):
		return "it is a checkpoint of a project's log: leave out --operator, or give a checkpoint that --operator has printed"
	default:
		return "it is a checkpoint of another project's log: say which with --project, or give one of this log"
	}
}

// readAtMost reads a small file.
func readAtMost(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usageError("%v", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, usageError("%v", err)
	}
	if int64(len(text)) > limit {
		return nil, usageError("%s has more than %d bytes: it is something else", path, limit)
	}
	return text, nil
}

func (o *auditVerifyOptions) show(r *audit.Report) error {
	t := o.terminal
	if o.json() {
		if err := writeValue(t.out, r); err != nil {
			return err
		}
	} else {
		fields := [][2]string{
			{"log", r.Origin},
			{"sealed", fmt.Sprintf("%d records", r.Size)},
			{"verified", fmt.Sprintf("%d records", r.Records)},
			{"content of", rangeText(r.Range)},
			{"pruned", prunedText(r.Pruned)},
			{"checkpoints", fmt.Sprintf("%d signed heads agree", r.Checkpoints)},
		}
		for _, restart := range r.Restarts {
			fields = append(fields, [2]string{"began anew", restartText(restart)})
		}
		err := printFields(t, fields)
		for _, f := range r.Faults {
			fmt.Fprintf(t.out, "%-11s %s\n", strings.ToUpper(string(f.Kind)), f.Text)
		}
		if err != nil {
			return err
		}
	}
	if r.Sound() {
		t.say("the log is whole. Not proved: that what it says was true when it was written, that nothing stayed out of it, or that nobody was shown another log")
		return nil
	}
	t.say("records are counted from 0")
	if r.Unnamed > 0 {
		t.say("and %d further faults", r.Unnamed)
	}
	return &exitError{code: exitFailed, err: errors.New("the log was changed")}
}

// rangeText says whose content was looked at; "": that of all.
func rangeText(of *audit.Range) string {
	if of == nil {
		return ""
	}
	return of.String() + " alone; of the others the hashes"
}

func prunedText(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d records, of which the hash alone is left", n)
}

func newAuditKey(t *terminal) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "key", Short: "Make a key that signs audit logs, for ostraka server --log-key-file", Args: arguments(0),
		Long: `Make a key that signs the heads of audit logs, and print it. Put it into a file that only the server can read, and
give ostraka server --log-key-file. Without one the database keeps a key, and access to the database is enough to sign another log.`,
		Example: "  (umask 077; ostraka audit key > /etc/ostraka/log.key)",
		RunE: func(*cobra.Command, []string) error {
			secret := audit.NewKey().Secret()
			return printSecret(t, &output, "key", secret, map[string]string{"key": secret})
		},
	}
	output.register(cmd.Flags())
	return cmd
}
