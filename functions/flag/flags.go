// Package flag raises flags on shards and agents that a person should look at, and notes when one is decided.
//
// It makes flags; review and submit write decisions about them. Flags come after the job in the order of locks.
package flag

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/flag/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// Kinds of flags. Those of a shard that waits for a decision are made shard by shard; the others are made for each agent, and count.
const (
	FlagReview        = "review"            // a shard needs a person
	FlagLost          = "lost"              // a shard died with too many leases
	FlagFailed        = "failed"            // a shard failed for good
	FlagCaught        = "agent_caught"      // an agent gets no more leases
	FlagContradiction = "contradiction"     // a result differs from what was accepted before it came
	FlagMismatch      = "mismatch"          // a result differs from the one that was accepted
	FlagLimit         = "limit"             // an attempt passed a limit of its function
	FlagSandbox       = "sandbox"           // a sandbox refused something to an attempt, or broke
	FlagSignature     = "signature"         // a submission was refused: its signature, a digest or its lease does not hold
	FlagFinding       = "finding"           // a heuristic found something
	FlagValidator     = "validator"         // the validator of a job failed at the answers to a shard
	FlagDivergence    = "divergence"        // classes of machines do not agree about a function
	FlagUnsteady      = "non_deterministic" // the server's own executions of a shard do not agree, or owners contradict controls by chance
	FlagControls      = "controls"          // a shard with a known answer got another one and found nothing out, or its answer is not believed
	FlagShare         = "share"             // one owner gave more of a job than is assumed to be hostile, and the bound that holds is weaker
)

// FlagKinds lists all kinds of flags.
func FlagKinds() []string {
	return []string{
		FlagReview, FlagLost, FlagFailed, FlagCaught, FlagContradiction, FlagMismatch, FlagLimit, FlagSandbox, FlagSignature, FlagFinding,
		FlagValidator, FlagDivergence, FlagUnsteady, FlagControls, FlagShare, FlagIncident,
	}
}

// Limits of flags.
const (
	// MaxOpenFlags is how many open flags there are of one kind and rule in one job (or on one version of a function): shards, where the
	// shard waits for a decision, or else agents. Everything beyond is counted by one more flag: a person looks through a hundred, and a
	// job whose shards all fail must not make a million.
	MaxOpenFlags = 100
	// MaxFlagSamples is how many occurrences a flag keeps in full; it counts all.
	MaxFlagSamples = 10
	// MaxFlagDetail is the largest detail of one occurrence, in bytes of JSON. What is larger is left out, and the detail says so.
	MaxFlagDetail = 16 << 10
)

// Mark is one occurrence of what a flag is about.
type Mark struct {
	Kind     string
	Rule     string     // what found it: a status, a policy, a heuristic, the code of a refusal
	Job      uuid.UUID  // none for a flag on a version of a function, or on an agent alone
	Function *uuid.UUID // with Version, where there is no job
	Version  int
	Shard    *int64
	Agent    *uuid.UUID
	Decision string // the outcome of the attempt or the shard
	Event    string // of the job, told once for each flag; empty: none
	Detail   map[string]any
	Times    int64 // how many occurrences it stands for; 0 means one
}

// scope is what flags are counted in.
func (m Mark) scope() string {
	switch {
	case m.Job != uuid.Nil:
		return "job:" + m.Job.String()
	case m.Function != nil:
		return fmt.Sprintf("function:%s/%d", m.Function, m.Version)
	default:
		return "project"
	}
}

// flagMore is the item of the flag that counts what is beyond MaxOpenFlags.
const flagMore = "more"

// item is what occurrences of one kind and rule in one scope must share to be the same flag.
func (m Mark) item() string {
	switch {
	case WaitsForDecision(m.Kind) && m.Shard != nil:
		return shardItem(*m.Shard)
	case m.Agent != nil:
		return "agent:" + m.Agent.String()
	default:
		return ""
	}
}

func shardItem(number int64) string { return "shard:" + base.FormatNumber(number) }

// WaitsForDecision says whether a kind of flag is about a shard in review, so that each shard has a flag of its own.
func WaitsForDecision(kind string) bool { return kind == FlagReview || kind == FlagLost }

// Add raises a flag about a job.
func Add(ctx context.Context, tx *store.Tx, job uuid.UUID, shard *int64, agent *uuid.UUID, kind, event string, detail map[string]any) error {
	return Raise(ctx, tx, Mark{Kind: kind, Job: job, Shard: shard, Agent: agent, Event: event, Detail: detail})
}

// Raise makes flags, or counts what is flagged already. Flags come after the job's row in the order of locks, so that it locks that
// row before it counts, and a step calls it last.
func Raise(ctx context.Context, tx *store.Tx, marks ...Mark) error {
	groups := groupMarks(marks)
	locked, gone := map[uuid.UUID]bool{}, map[uuid.UUID]bool{}
	for _, g := range groups {
		if job := g.first.Job; job != uuid.Nil && !locked[job] {
			state, found, err := store.Value[functions.JobState](ctx, tx, store.LockJob, job)
			if err != nil {
				return err
			}
			locked[job] = true
			gone[job] = !found || state == functions.JobDeleting
		}
		if gone[g.first.Job] { // it takes its flags with it
			continue
		}
		if err := g.raise(ctx, tx); err != nil {
			return fmt.Errorf("raising flags of kind %s: %w", g.first.Kind, err)
		}
	}
	return nil
}

// flagGroup is what of one call has the same scope, kind and rule.
type flagGroup struct {
	first Mark
	items []*flagItem
	index map[string]*flagItem
}

// flagItem is one flag to be made or counted up.
type flagItem struct {
	item    string
	first   Mark
	times   int64
	samples []functions.FlagSample
}

func groupMarks(marks []Mark) []*flagGroup {
	var groups []*flagGroup
	index := map[[3]string]*flagGroup{}
	for _, m := range marks {
		key := [3]string{m.scope(), m.Kind, m.Rule}
		g := index[key]
		if g == nil {
			g = &flagGroup{first: m, index: map[string]*flagItem{}}
			index[key], groups = g, append(groups, g)
		}
		g.add(m.item(), m)
	}
	return groups
}

func (g *flagGroup) add(item string, m Mark) {
	i := g.index[item]
	if i == nil {
		i = &flagItem{item: item, first: m}
		g.index[item], g.items = i, append(g.items, i)
	}
	i.times += max(m.Times, 1)
	if len(i.samples) < MaxFlagSamples {
		i.samples = append(i.samples, m.sample())
	}
}

func (m Mark) sample() functions.FlagSample {
	return functions.FlagSample{Shard: m.Shard, Agent: m.Agent, Decision: m.Decision, At: time.Now().UTC(), Detail: flagDetail(m.Detail)}
}

// flagDetail is the JSON of a detail, or a word about why it is not there: no detail may keep a step from being done.
func flagDetail(detail map[string]any) json.RawMessage {
	if detail == nil {
		return json.RawMessage("{}")
	}
	text, err := json.Marshal(detail)
	if err == nil {
		err = canonical.Valid(text, MaxFlagDetail)
	}
	if err == nil {
		return text
	}
	said, err := json.Marshal(map[string]string{"left_out": fmt.Sprintf("the detail cannot be kept: %v", err)})
	if err != nil {
		return json.RawMessage("{}")
	}
	return said
}

// raise makes or counts the flags of a group, and puts what is beyond the limit together.
func (g *flagGroup) raise(ctx context.Context, tx *store.Tx) error {
	open, err := store.Values[string](ctx, tx, sql.OpenFlagItems, g.first.scope(), g.first.Kind, g.first.Rule, MaxOpenFlags+1)
	if err != nil {
		return err
	}
	known := make(map[string]bool, len(open))
	for _, item := range open {
		known[item] = item != flagMore
	}
	more := flagGroup{index: map[string]*flagItem{}}
	room := MaxOpenFlags - len(known)
	if _, counts := known[flagMore]; counts {
		room++
	}
	for _, i := range g.items {
		if !known[i.item] && room <= 0 {
			more.take(i)
			continue
		}
		if !known[i.item] {
			room--
		}
		if err := i.write(ctx, tx); err != nil {
			return err
		}
	}
	if i := more.index[flagMore]; i != nil {
		return i.write(ctx, tx)
	}
	return nil
}

// take adds a flag that has no room of its own to the one that counts.
func (g *flagGroup) take(i *flagItem) {
	m := i.first
	m.Times = i.times
	g.add(flagMore, m)
}

func (i *flagItem) write(ctx context.Context, tx *store.Tx) error {
	all, err := json.Marshal(i.samples)
	if err != nil {
		return fmt.Errorf("encoding the samples of a flag: %w", err)
	}
	further, err := json.Marshal(i.samples[1:])
	if err != nil {
		return fmt.Errorf("encoding the samples of a flag: %w", err)
	}
	m := i.first
	var job *uuid.UUID
	var version *int
	if m.Job != uuid.Nil {
		job = &m.Job
	}
	if m.Function != nil {
		version = &m.Version
	}
	shard, agent := m.Shard, m.Agent
	if i.item == flagMore {
		shard, agent = nil, nil
	}
	id := base.NewID()
	fresh, _, err := store.Value[bool](ctx, tx, sql.AddFlag, id, job, m.Function, version, shard, agent, m.Kind, m.Rule, m.Decision,
		m.scope(), i.item, i.samples[0].Detail, i.times, further, MaxFlagSamples-1, all)
	if err != nil || !fresh {
		return err
	}
	if err := announce(ctx, tx, id, job, shard, agent, m); err != nil || m.Event == "" || job == nil {
		return err
	}
	if i.item == flagMore {
		return base.AddEvent(ctx, tx, *job, m.Event, map[string]any{"more": true, "kind": m.Kind})
	}
	return base.AddEvent(ctx, tx, *job, m.Event, m.Detail)
}

// maxToldRule is how much of a rule's name goes to webhooks, in bytes: heuristics give them.
const maxToldRule = 200

func told(rule string) string {
	return strings.ToValidUTF8(rule[:min(len(rule), maxToldRule)], "")
}

// announce leaves word of a new flag for the project's webhooks.
func announce(ctx context.Context, tx *store.Tx, id uuid.UUID, job *uuid.UUID, shard *int64, agent *uuid.UUID, m Mark) error {
	data := map[string]any{
		"project": tx.Project(), "flag": id, "kind": m.Kind, "rule": told(m.Rule),
		"url": fmt.Sprintf("/v1/projects/%s/flags/%s", tx.Project(), id),
	}
	if job != nil {
		data["job"] = job
	}
	if shard != nil {
		data["shard"] = *shard
	}
	if agent != nil {
		data["agent"] = agent
	}
	return base.Announce(ctx, tx, functions.WebhookFlagRaised, job, data)
}

// FlagIncident is the kind of a flag on a job that keeps final results of an agent which was caught later.
const FlagIncident = "incident"
