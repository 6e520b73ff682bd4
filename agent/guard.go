package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/ostraka/ostraka/agent/codereader"
	"github.com/ostraka/ostraka/agent/prefs"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// codeReader says what is found in a function; see package codereader.
type codeReader interface {
	Read(context.Context, *bundle.Bundle) (codereader.Reading, error)
	Close()
}

// guard has the guardian decide about a function before anything of it runs, by the built-in rules and the owner's. The server is not
// asked: taking it over does not switch this off. Approvals are the server's too; what a rule asks is refused here unless the
// owner has made an exception.
func (a *agent) guard(ctx context.Context, l *client.Lease, b *bundle.Bundle) error {
	reading, err := a.reader.Read(ctx, b)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a.log.Error("a function could not be read, and so is not run", "function", l.Function, "error", err)
		return refused(refusedUnread, "the agent's guardian could not read the function; the agent's own log says why")
	}
	p := a.keeper.current()
	policy, err := policyOf(&p)
	if err != nil {
		return fmt.Errorf("preparing the guardian: %w", err)
	}
	o := a.opening(l, b, reading)
	now := a.options.Now()
	d := policy.Decide(ctx, o, guardian.Circumstances{Now: now, Overrides: p.Overrides})
	if ctx.Err() != nil { // which has interrupted the rules
		return context.Cause(ctx)
	}
	a.log.Debug("the guardian has decided", "lease", l.ID, "function", o.Subject, "verdict", d.Verdict, "risk", d.Risk, "reason", d.Reason)
	m := b.Manifest
	return refusalFor(d, guardian.Planned{Isolation: string(a.sandboxFor(&m).Level()), Limits: guardedLimits(m.Limits), Shards: int64(len(l.Shards)), Now: now}, reading.Findings)
}

func policyOf(p *prefs.Preferences) (*guardian.Policy, error) {
	rules, err := guardian.CompiledDefaults()
	if err != nil {
		return nil, err
	}
	return guardian.NewPolicy(append(rules[:len(rules):len(rules)], p.Rules...)...)
}

// opening is what is about to happen.
func (a *agent) opening(l *client.Lease, b *bundle.Bundle, reading codereader.Reading) guardian.Operation {
	m := b.Manifest
	entry := m.Entrypoint + m.Script + m.Entry // one of them
	return guardian.Operation{
		Kind: guardian.SandboxOpen, Project: l.Project.String(), Subject: m.Name, Actor: guardian.Actor{Kind: "agent", ID: a.id.String()},
		Facts: guardian.SandboxFacts{
			Function: guardian.Function{
				Name: m.Name, Version: l.Version, Digest: b.Digest, Entrypoint: entry, Isolation: string(m.MinIsolation), Network: m.Network,
				Signed: l.Signing != nil, BundleBytes: b.Size, Limits: guardedLimits(m.Limits), Runtime: runtimeOf(&m), Volumes: guardedVolumes(m.Volumes),
			},
			Isolation: string(a.sandboxFor(&m).Level()), Network: m.Network, Job: guardian.Job{ID: l.Job.String()}, Shards: int64(len(l.Shards)),
			Findings: reading.Findings, Scored: reading.Whole,
		},
	}
}

func guardedVolumes(list []bundle.Volume) (facts []guardian.Volume) {
	for _, v := range list {
		facts = append(facts, guardian.Volume{Name: v.Name, Mode: string(v.Mode), Pinned: v.Fingerprint != ""})
	}
	return facts
}

func guardedLimits(l bundle.Limits) guardian.Limits {
	return guardian.Limits{
		CPUSeconds: l.CPUSeconds, WallSeconds: l.WallSeconds, MemoryBytes: l.MemoryBytes, Pids: l.Pids, DiskBytes: l.DiskBytes, OutputBytes: l.OutputBytes,
	}
}

// refusalFor is what a decision means for a lease: nothing where it may continue.
func refusalFor(d guardian.Decision, planned guardian.Planned, findings []guardian.Finding) error {
	switch {
	case d.Verdict == guardian.Allow:
		if broken := d.Conditions.Broken(planned); len(broken) > 0 {
			return refused(refusedCondition, "the rules of the machine's owner: "+strings.Join(broken, "; "))
		}
		return nil
	case d.Rule == nil:
		return refused(refusedGuardian, d.Reason)
	}
	whose := "a rule of the machine's owner"
	if d.Rule.Layer == guardian.Builtin {
		whose = "the built-in rule"
	}
	where := ""
	if f, found := guardian.Evidence(d.Rule.Name, findings); found && d.Rule.Layer == guardian.Builtin {
		where = fmt.Sprintf(" (%s, line %d: %s)", f.File, f.Line, f.What)
	}
	if d.Verdict == guardian.Ask {
		return refused(refusedAsk, fmt.Sprintf("%s, %s, wants its owner to allow it first: %s%s", whose, d.Rule.Name, d.Reason, where))
	}
	return refused(refusedGuardian, fmt.Sprintf("%s, %s, refuses it: %s%s", whose, d.Rule.Name, d.Reason, where))
}

// runtimeOf is the runtime with native code that a function brings along; empty: none.
func runtimeOf(m *bundle.Manifest) string {
	if m.RuntimeDigest() == "" {
		return ""
	}
	return m.Runtime
}
