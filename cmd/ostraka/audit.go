package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newAudit(t *terminal, server *serverFlags) *cobra.Command {
	return noun("audit", "The audit log: who did what, sealed so that a change is found",
		newAuditList(t, server), newAuditShow(t, server), newAuditStats(t, server), newAuditCheckpoint(t, server), newAuditExport(t, server),
		newAuditVerify(t, server), newAuditPrune(t, server), newAuditRestart(t, server), newAuditKey(t))
}

// followEvery is how often `audit list --follow` asks for what is new.
const followEvery = time.Second

// auditListOptions are the flags of `ostraka audit list`.
type auditListOptions struct {
	listFlags
	terminal *terminal
	log      *layerFlag
	filter   client.ListAuditParams
	actor    string
	action   string
	subject  string
	agent    string
	job      string
	sandbox  string
	function string
	decision string
	period   periodFlags
	follow   bool
}

// periodFlags bound a time.
type periodFlags struct {
	from, to string
	since    time.Duration
}

func (p *periodFlags) register(f *pflag.FlagSet) {
	f.StringVar(&p.from, "from", "", "only what happened then or later, for example 2026-05-04T03:02:01Z or 2026-05-04")
	f.StringVar(&p.to, "to", "", "only what happened before")
	f.DurationVar(&p.since, "since", 0, "only what happened in the last time, for example 24h")
}

func (p *periodFlags) bounds() (from, to *time.Time, err error) {
	if p.from != "" && p.since != 0 || p.since < 0 {
		return nil, nil, usageError("--since is a time that has gone by, and stands instead of --from")
	}
	if p.since > 0 {
		from = new(time.Now().Add(-p.since).UTC())
	}
	for _, b := range []struct {
		text string
		into **time.Time
	}{{p.from, &from}, {p.to, &to}} {
		if b.text == "" {
			continue
		}
		if *b.into, err = parseTime(b.text); err != nil {
			return nil, nil, err
		}
	}
	return from, to, nil
}

func parseTime(text string) (*time.Time, error) {
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(form, text); err == nil {
			return &at, nil
		}
	}
	return nil, usageError("%q is no time: write 2026-05-04T03:02:01Z or 2026-05-04", text)
}

func newAuditList(t *terminal, server *serverFlags) *cobra.Command {
	o := &auditListOptions{terminal: t, log: &layerFlag{server: server}}
	cmd := &cobra.Command{
		Use: "list", Short: "List records of the audit log, the newest first", Args: arguments(0),
		Long: `List records of the audit log, the newest first. --follow prints what is new as it comes, until Ctrl-C.
A record has no number in the log (-) until it is sealed, some seconds after it was written.`,
		Example: `  ostraka audit list --action job --since 24h
  ostraka audit list --agent 01a20052-17b6-78a0-af4f-12089b0e5f52 --limit 0 -o json
  ostraka audit list --follow
  ostraka audit list --operator --action key   # what the server did for all projects`,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	f := cmd.Flags()
	o.register(f)
	o.log.register(f)
	f.StringVar(&o.actor, "actor", "", "only what this actor did, for example agent:ID")
	f.StringVar(&o.action, "action", "", "only this action, or all below it: job is job.submit and job.cancel")
	f.StringVar(&o.subject, "subject", "", "only what was done to this")
	f.StringVar(&o.agent, "agent", "", "only what concerns this agent")
	f.StringVar(&o.job, "job", "", "only what concerns this job")
	f.StringVar(&o.sandbox, "sandbox", "", "only what concerns this sandbox")
	f.StringVar(&o.function, "function", "", "only what concerns this function")
	f.StringVar(&o.decision, "decision", "", "only records with this decision")
	f.BoolVar(&o.follow, "follow", false, "print what is new as it comes")
	o.period.register(f)
	return cmd
}

func (o *auditListOptions) run(ctx context.Context) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	p := &o.filter
	p.Actor, p.Action, p.Subject, p.Agent, p.Job = given(o.actor), given(o.action), given(o.subject), given(o.agent), given(o.job)
	p.Sandbox, p.Function, p.Decision = given(o.sandbox), given(o.function), given(o.decision)
	if p.From, p.To, err = o.period.bounds(); err != nil {
		return err
	}
	c, err := o.log.connect()
	if err != nil {
		return err
	}
	if o.follow {
		return o.followLog(ctx, c)
	}
	o.filter.Order = new(client.ListAuditParamsOrder("newest"))
	return show(o.terminal, &o.listFlags, "listing the audit log", auditHeadings(), auditRow, func(cursor *string, size *int64) (*http.Response, error) {
		return o.page(ctx, c, cursor, size)
	})
}

// page asks for a page of the log.
func (o *auditListOptions) page(ctx context.Context, c *connection, cursor *string, size *int64) (*http.Response, error) {
	p := o.filter
	p.Cursor, p.Limit = cursor, size
	return o.log.pick(
		func() (*http.Response, error) {
			return c.ListServerAudit(ctx, &client.ListServerAuditParams{
				Cursor: p.Cursor, Limit: p.Limit, Actor: p.Actor, Action: p.Action, Subject: p.Subject, Agent: p.Agent, Job: p.Job, Sandbox: p.Sandbox,
				Function: p.Function, Decision: p.Decision, From: p.From, To: p.To, Order: (*client.ListServerAuditParamsOrder)(p.Order),
			})
		},
		func() (*http.Response, error) { return c.ListAudit(ctx, c.project, &p) })
}

// followLog prints records as they come, until it is told to stop.
func (o *auditListOptions) followLog(ctx context.Context, c *connection) error {
	if o.filter.From == nil {
		o.filter.From = new(time.Now().UTC())
	}
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	last := int64(-1) // what a cursor cannot say: the last page of a list has none
	for {
		items, raw, _, err := gather[client.AuditRecord](0, func(cursor *string, size *int64) (*http.Response, error) {
			return o.page(ctx, c, cursor, size)
		})
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return explain("following the audit log", err)
		}
		for i, r := range items {
			if r.Seq <= last {
				continue
			}
			last = r.Seq
			o.filter.From = &r.At // its neighbours of the same time come once more, and are known by their seq
			if err := o.printRecord(r, raw[i]); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (o *auditListOptions) printRecord(r client.AuditRecord, raw json.RawMessage) error {
	if o.json() {
		return writeJSON(o.terminal.out, raw)
	}
	table := &table{w: newFields(o.terminal.out)}
	table.row(auditRow(r)...)
	return table.flush()
}

func auditHeadings() []string {
	return []string{"RECORD", "AT", "ACTOR", "ACTION", "SUBJECT", "DETAIL"}
}

func auditRow(r client.AuditRecord) []string {
	index := "-"
	if r.Index != nil {
		index = strconv.FormatInt(*r.Index, 10)
	}
	if r.PrunedAt != nil {
		return []string{index, shortTime(r.At), "", "", "", "pruned " + shortTime(*r.PrunedAt)}
	}
	return []string{index, shortTime(r.At), r.Actor, r.Action, r.Subject, detailText(r.Detail)}
}

func newAuditShow(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	log := &layerFlag{server: server}
	cmd := &cobra.Command{
		Use: "show RECORD", Short: "Show a sealed record, and check the proof that it is in the log", Args: arguments(1),
		Long:    "Show a sealed record by its number (the first one is 0), and check here the proof that it is in the log that the server has signed.",
		Example: "  ostraka audit show 17",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			index, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || index < 0 {
				return usageError("%q is no number of a record, which are counted from 0: ostraka audit list shows them", args[0])
			}
			c, err := log.connect()
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.AuditProof](log.pick(
				func() (*http.Response, error) { return c.GetServerAuditRecord(cmd.Context(), index) },
				func() (*http.Response, error) { return c.GetAuditRecord(cmd.Context(), c.project, index) }))
			if err != nil {
				return explain("getting the record", err)
			}
			return showAuditRecord(t, &output, doc, index)
		},
	}
	output.register(cmd.Flags())
	log.register(cmd.Flags())
	return cmd
}

func showAuditRecord(t *terminal, o *outputFlag, doc answer.Document[client.AuditProof], index int64) error {
	p := doc.Value
	proof := "its content was pruned; its hash is in the log"
	if p.PrunedAt == nil {
		proven, head, err := audit.CheckProof([]byte(p.Proof), []byte(p.Canonical), p.Key)
		if err != nil || proven != index {
			return &exitError{code: exitFailed, err: err, hint: "the server gave a record with a proof that does not hold; ostraka audit verify says more"}
		}
		proof = fmt.Sprintf("holds: %s that %s has signed", recordOf(proven, head.Size), head.Origin)
	}
	return printOne(t, o, doc.Raw, [][2]string{
		{"record", strconv.FormatInt(index, 10)},
		{"at", shortTime(p.At)},
		{"actor", p.Actor},
		{"action", p.Action},
		{"subject", p.Subject},
		{"detail", string(p.Detail)},
		{"proof", proof},
	})
}

// recordOf names a record of a log so that the first one is not taken for the second.
func recordOf(index, size int64) string {
	return fmt.Sprintf("record %d (counted from 0) of the %d", index, size)
}

func newAuditStats(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	var period periodFlags
	log := &layerFlag{server: server}
	by := "action"
	cmd := &cobra.Command{
		Use: "stats", Short: "Count records by action, actor, agent, function or day", Args: arguments(0),
		Long: `Count records by action, actor, agent, function or day. CPU and BYTES are of the results that agents posted and servers
executed: seconds, and bytes of outputs and files.`,
		Example: "  ostraka audit stats --by agent --since 168h",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			params := client.GetAuditStatsParams{By: new(client.GetAuditStatsParamsBy(by))}
			var err error
			if params.From, params.To, err = period.bounds(); err != nil {
				return err
			}
			c, err := log.connect()
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.AuditStats](log.pick(
				func() (*http.Response, error) {
					return c.GetServerAuditStats(cmd.Context(), &client.GetServerAuditStatsParams{
						By: (*client.GetServerAuditStatsParamsBy)(params.By), From: params.From, To: params.To,
					})
				},
				func() (*http.Response, error) { return c.GetAuditStats(cmd.Context(), c.project, &params) }))
			if err != nil {
				return explain("counting records", err)
			}
			if output.json() {
				return writeJSON(t.out, doc.Raw)
			}
			return printRows(t, &output, doc.Value.Counts, nil, []string{"WHAT", "RECORDS", "FAILURES", "DENIALS", "CPU", "BYTES", "FIRST", "LAST"}, func(n client.AuditCount) []string {
				return []string{
					firstOf(n.Key, "-"), strconv.FormatInt(n.Records, 10), strconv.FormatInt(n.Failures, 10), strconv.FormatInt(n.Denials, 10), strconv.FormatFloat(n.CPUSeconds, 'f', 1, 64) + "s", strconv.FormatInt(n.Bytes, 10),
					shortTime(n.FirstAt), shortTime(n.LastAt),
				}
			})
		},
	}
	f := cmd.Flags()
	output.register(f)
	period.register(f)
	log.register(f)
	f.StringVar(&by, "by", by, "what to count by: action, actor, agent, function or day")
	return cmd
}

func newAuditPrune(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	var before string
	log := &layerFlag{server: server}
	cmd := &cobra.Command{
		Use: "prune --before TIME", Short: "Take the content of old records out, and keep their hashes", Args: arguments(0),
		Long: `Take the content of old records out of the log, for good. Their hashes stay, so that the log still verifies, and
verifying says how many were pruned. That you did it is a record.`,
		Example: "  ostraka audit export > audit.jsonl && ostraka audit prune --before 2026-01-01",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			if before == "" {
				return usageError("before which time? give --before")
			}
			at, err := parseTime(before)
			if err != nil {
				return err
			}
			c, err := log.connect()
			if err != nil {
				return err
			}
			key, pruning := new(uuid.NewString()), client.AuditPruning{Before: *at}
			doc, err := answer.Read[client.AuditPruned](log.pick(
				func() (*http.Response, error) {
					return c.PruneServerAudit(cmd.Context(), &client.PruneServerAuditParams{IdempotencyKey: key}, pruning)
				},
				func() (*http.Response, error) {
					return c.PruneAudit(cmd.Context(), c.project, &client.PruneAuditParams{IdempotencyKey: key}, pruning)
				}))
			if err != nil {
				return explain("pruning the audit log", err)
			}
			if output.json() {
				return writeJSON(t.out, doc.Raw)
			}
			t.say("pruned %d records", doc.Value.Pruned)
			return nil
		},
	}
	output.register(cmd.Flags())
	log.register(cmd.Flags())
	cmd.Flags().StringVar(&before, "before", "", "prune records that are older, for example 2026-01-01")
	return cmd
}
