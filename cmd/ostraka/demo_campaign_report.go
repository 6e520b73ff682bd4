//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/agent/liar"
	"github.com/ostraka/ostraka/certificate"
	"github.com/ostraka/ostraka/client"
)

// campaignReport is what a campaign came to.
type campaignReport struct {
	form    campaignForm
	run     client.WorkflowRunDetail
	search  client.Job
	claimed campaignAnswer
	counted int // by the sieve
	wrong   int // shards that the identity has found to be wrong
	proofs  []verifiedCertificate
	page    string
	receipt *demoReceipt
	liars   []campaignLiar
	wronged []string
}

// campaignAnswer is what the search answers.
type campaignAnswer struct {
	Primes       int      `json:"primes"`
	Pseudoprimes int      `json:"pseudoprimes"`
	Sample       []string `json:"sample"`
}

// campaignLiar is an agent that lies, and how it was found out.
type campaignLiar struct {
	suspect
	kind    liar.Kind
	refused bool // submissions of it, for their signatures
}

// examine asks the server what came of the run, and verifies what can be verified without it.
func (c *campaign) examine(ctx context.Context, run client.WorkflowRunDetail) (*campaignReport, error) {
	r := &campaignReport{form: c.form, run: run}
	count, err := c.job(ctx, run, "count")
	if err != nil {
		return nil, err
	}
	var counted campaignAnswer
	if err := decodeAnswer(count, &counted); err != nil {
		return nil, err
	}
	r.counted = counted.Primes
	if r.search, err = c.job(ctx, run, "search"); err != nil {
		return nil, err
	}
	if err := decodeAnswer(r.search, &r.claimed); err != nil {
		return nil, err
	}
	if found := stepOf(run, "same").Bisection; found != nil {
		r.wrong = len(found.Found)
	}
	if err := c.readProofs(ctx, r); err != nil {
		return nil, err
	}
	if r.receipt, err = c.receipt(ctx, r.search, filepath.Join(c.dir, campaignWorkflow, "functions", "bpsw"), r.claimed.Primes); err != nil {
		return nil, err
	}
	agents, err := projectAgents(ctx, c.c)
	if err != nil {
		return nil, explain("listing agents", err)
	}
	return r, c.judge(ctx, r, agents)
}

// stepOf is a step of a run by its name.
func stepOf(run client.WorkflowRunDetail, name string) client.RunStep {
	if i := slices.IndexFunc(run.Steps, func(s client.RunStep) bool { return s.Name == name }); i >= 0 {
		return run.Steps[i]
	}
	return client.RunStep{}
}

// job is the job of a step.
func (c *campaign) job(ctx context.Context, run client.WorkflowRunDetail, step string) (client.Job, error) {
	s := stepOf(run, step)
	if s.Job == nil {
		return client.Job{}, fmt.Errorf("the step %s has no job", step)
	}
	doc, err := getJob(ctx, c.c, *s.Job)
	if err != nil {
		return client.Job{}, err
	}
	return doc.Value, outcome(doc.Value)
}

// readProofs fetches the evidence and the document, and verifies the former without the server.
func (c *campaign) readProofs(ctx context.Context, r *campaignReport) error {
	if job := stepOf(r.run, "proofs").Job; job != nil {
		results := &jobResultsOptions{terminal: c.t, format: "json", file: c.file("proofs.jsonl"), after: -1, final: true}
		if err := results.run(ctx, c.c, *job); err != nil {
			return err
		}
		text, err := os.ReadFile(c.file("proofs.jsonl"))
		if err != nil {
			return fmt.Errorf("reading the evidence: %w", err)
		}
		r.proofs = verifyCertificates(text)
	}
	document := stepOf(r.run, "page").Document
	if document == nil {
		return nil
	}
	if err := getObject(ctx, c.t, c.c, document.Digest, c.file("page.md")); err != nil {
		return err
	}
	page, err := os.ReadFile(c.file("page.md"))
	if err != nil {
		return fmt.Errorf("reading the document: %w", err)
	}
	r.page = string(page)
	return nil
}

// judge compares what the server found out about the agents with what we know of them.
func (c *campaign) judge(ctx context.Context, r *campaignReport, found []client.ProjectAgent) error {
	var known demoReport
	known.judge(c.dev.agents, found)
	r.wronged = known.wronged
	for _, s := range known.liars {
		l := campaignLiar{suspect: s}
		if i := slices.IndexFunc(c.dev.agents, func(a devAgent) bool { return a.name == s.name }); i >= 0 {
			l.kind = c.dev.agents[i].liar
		}
		if i := slices.IndexFunc(found, func(a client.ProjectAgent) bool { return a.Name == s.name }); i >= 0 {
			var err error
			if l.refused, err = c.refused(ctx, found[i].ID); err != nil {
				return err
			}
		}
		r.liars = append(r.liars, l)
	}
	return nil
}

// refused says whether submissions of an agent were refused for their signatures.
func (c *campaign) refused(ctx context.Context, agent uuid.UUID) (bool, error) {
	rule := "bad_signature"
	flags, _, _, err := gather[json.RawMessage](1, func(cursor *string, size *int64) (*http.Response, error) {
		return c.c.ListFlags(ctx, c.c.project, &client.ListFlagsParams{Agent: &agent, Rule: &rule, Cursor: cursor, Limit: size})
	})
	return len(flags) > 0, explain("listing flags", err)
}

// decided is how many of the sample are proved, and how many of these are prime.
func (r *campaignReport) decided() (all, prime int) {
	for _, p := range r.proofs {
		if !p.Proved || !slices.Contains(r.claimed.Sample, p.N) {
			continue
		}
		all++
		if p.Verdict == certificate.Prime {
			prime++
		}
	}
	return all, prime
}

// right says whether the campaign showed what it is there to show.
func (r *campaignReport) right() bool {
	unnamed := slices.ContainsFunc(r.liars, func(l campaignLiar) bool { return !l.named() })
	decided, _ := r.decided()
	v := r.search.Verification
	bounded := v != nil && v.ErrorBound > 0 && v.AuditsPassed > 0 && v.AuditsPending == 0
	return r.claimed.Primes == r.form.known && r.counted == r.form.known && stepOf(r.run, "same").State == client.RunStepStateFinished &&
		decided > 0 && decided == len(r.claimed.Sample) && decided == len(r.proofs) && strings.Contains(r.page, strconv.Itoa(r.form.known)) &&
		r.receipt.right() && bounded && !unnamed && len(r.liars) == r.form.liars && len(r.wronged) == 0
}

func (r *campaignReport) text() string {
	var b strings.Builder
	verdict := func(n int) string {
		if n == r.form.known {
			return "RIGHT"
		}
		return "WRONG"
	}
	fmt.Fprintf(&b, "  search     %d numbers pass Baillie-PSW, and %d are known to be prime (%s): %s\n", r.claimed.Primes, r.form.known, r.form.source, verdict(r.claimed.Primes))
	fmt.Fprintf(&b, "  sieve      %d are left by a sieve that tests no number: %s\n", r.counted, verdict(r.counted))
	fmt.Fprintf(&b, "  identity   %s\n", r.identityText())
	if v := r.search.Verification; v != nil {
		fmt.Fprintf(&b, "  bound      at most %g of the results of the search are wrong, with up to %g of them from liars\n", v.ErrorBound, v.AssumeHostile)
		fmt.Fprintf(&b, "  audits     %s\n", auditsText(v))
	}
	decided, prime := r.decided()
	fmt.Fprintf(&b, "  evidence   %d of %d that were sampled are decided and verified without the server: %d prime, %d composite\n", decided, len(r.claimed.Sample), prime, decided-prime)
	fmt.Fprintf(&b, "  receipt    %s\n", r.receipt.text())
	for _, l := range r.liars {
		fmt.Fprintf(&b, "  liar       %s\n", l.text())
	}
	for _, name := range r.wronged {
		fmt.Fprintf(&b, "  WRONGED    %s is honest and was caught all the same\n", name)
	}
	fmt.Fprintf(&b, "  work       search: %s; the run took %v\n", (&demoReport{job: r.search}).workText(), r.took())
	if r.page != "" {
		fmt.Fprintf(&b, "\n%s", plainLines(r.page))
	}
	return b.String()
}

func (r *campaignReport) took() time.Duration {
	if r.run.EndedAt == nil {
		return 0
	}
	return r.run.EndedAt.Sub(r.run.StartedAt).Round(time.Second)
}

func (r *campaignReport) identityText() string {
	if stepOf(r.run, "same").State != client.RunStepStateFinished {
		return "DOES NOT HOLD"
	}
	if r.wrong > 0 {
		return fmt.Sprintf("holds, after the server had found %s and put it right", count(int64(r.wrong), "wrong shard"))
	}
	return "holds: search.primes = count.primes"
}

// named says whether the liar was found out.
func (l campaignLiar) named() bool { return l.caught || l.wrong > 0 || l.refused }

func (l campaignLiar) text() string {
	name := l.suspect
	name.name = fmt.Sprintf("%s (%s)", l.name, l.kind)
	if l.refused && !l.caught && l.wrong == 0 {
		return name.name + " sent what it had sent before, which was refused by its signature and flagged"
	}
	return name.text()
}
