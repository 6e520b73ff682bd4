package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ostraka/ostraka/guardian"
)

const (
	// guardRules is how many rules the guardian looks at for each operation that is measured, the built-in ones among them.
	guardRules = 50
	// guardFindings is how many findings the operation carries: of a function that gives some reason to look.
	guardFindings = 10
	// guardDecisions is how many decisions are made.
	guardDecisions = 10_000
)

// guardian measures what one decision takes. guardian_decision_us is the 99th percentile in microseconds, with the digest of the
// operation, of a decision by fifty rules about the dispatch of a job, of which half look at every finding.
func (b *bench) guardian(ctx context.Context) ([]figure, error) {
	policy, err := guardedBy(guardRules)
	if err != nil {
		return nil, err
	}
	facts := guardian.DispatchFacts{
		Function: guardian.Function{Name: "primes", Version: 3, Isolation: "container", Network: "none", Signed: true},
		Job:      guardian.Job{ID: "0192d4a5-8f5e-7c3a-9b1e-2f6d3c4b5a60", Shards: 1_000_000}, Agent: guardian.Agent{Name: "lab", Owner: "lab", Isolation: "gvisor"}, Shards: 64, Scored: true,
	}
	for i := range guardFindings {
		facts.Findings = append(facts.Findings, guardian.Finding{Module: guardian.CodeModule, File: "main.py", Line: int64(i), Rule: "file", Weight: 0.3, What: "open /data", Text: "open('/data')"})
	}
	o := guardian.Operation{Kind: guardian.JobDispatch, Project: "p", Actor: guardian.Actor{Kind: "agent", ID: "a"}, Subject: "primes@3", Facts: facts}
	took := make([]time.Duration, guardDecisions)
	for i := range took {
		began := time.Now()
		d := policy.Decide(ctx, o, guardian.Circumstances{Now: began})
		took[i] = time.Since(began)
		if d.Verdict != guardian.Allow {
			return nil, fmt.Errorf("the guardian refused: %s", d.Reason)
		}
	}
	slices.Sort(took)
	return []figure{{"guardian_decision_us", float64(took[guardDecisions*99/100].Nanoseconds()) / 1000}}, nil
}

func guardedBy(rules int) (*guardian.Policy, error) {
	compiled, err := guardian.CompiledDefaults()
	if err != nil {
		return nil, err
	}
	list := slices.Clone(compiled)
	for i := 0; len(list) < rules; i++ {
		r := guardian.Rule{
			Name: fmt.Sprintf("rule-%d", i), Version: 1, Layer: guardian.ProjectLayer, On: []guardian.Kind{guardian.JobDispatch},
			When: fmt.Sprintf("job.shards > %d && agent.owner == 'lab' && code.isolation in ['process', 'landlock']", i), Then: guardian.Deny, Reason: "it is measured", Enabled: true,
		}
		if i%2 == 0 {
			r.When = fmt.Sprintf("findings.exists(f, f.rule == 'network' && f.line > %d)", i)
		}
		c, err := guardian.Compile(r)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return guardian.NewPolicy(list...)
}
