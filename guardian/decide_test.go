package guardian_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/guardian"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func policy(t *testing.T, rules ...guardian.Rule) *guardian.Policy {
	t.Helper()
	var list []*guardian.Compiled
	for _, r := range rules {
		c, err := guardian.Compile(r)
		require.NoError(t, err)
		list = append(list, c)
	}
	p, err := guardian.NewPolicy(list...)
	require.NoError(t, err)
	return p
}

func rule(name string, then guardian.Verdict, when string, on ...guardian.Kind) guardian.Rule {
	return guardian.Rule{ID: name, Name: name, Version: 1, Layer: guardian.ProjectLayer, On: on, When: when, Then: then, Reason: "because " + name, Enabled: true}
}

func submit() guardian.Operation {
	return guardian.Operation{
		Kind: guardian.JobSubmit, Project: "p", Subject: "primes@3", Actor: guardian.Actor{Kind: "key", ID: "k", Role: "submitter"},
		Facts: guardian.JobFacts{
			Function: guardian.Function{Name: "primes", Version: 3, Isolation: "container", Limits: guardian.Limits{MemoryBytes: 1 << 28}},
			Job:      guardian.Job{Shards: 1000},
			Findings: []guardian.Finding{{Rule: "process", Line: 3, What: "os.system", Weight: 0.6}},
		},
	}
}

func TestDecide(t *testing.T) {
	for when, applies := range map[string]bool{
		"":                              true,
		`code.isolation == "container"`: true,
		`job.shards > 1000`:             false,
		`findings.exists(f, f.rule == "process" && f.line > 2)`: true,
		`actor.role == "owner" || kind == "job.submit"`:         true,
	} {
		d := policy(t, rule("x", guardian.Deny, when, guardian.JobSubmit)).Decide(t.Context(), submit(), guardian.Circumstances{Now: noon})
		require.Equal(t, applies, d.Verdict == guardian.Deny, "%s: %+v", when, d)
	}
}

func TestCompileErrors(t *testing.T) {
	for when, want := range map[string]string{
		`code.isolaton == "x"`:                      `line 1, column 5: no fact for job.submit has a field "isolaton"; did you mean "isolation"?`,
		`job.shards > 3 &&` + "\n" + `jub.id == ""`: `line 2, column 1: there is no fact "jub" for job.submit; did you mean "job"?`,
		`function.name == ""`:                       `the version of a function is called code`,
		`job.shards`:                                `the expression gives int, not bool`,
		`job.shards == "x"`:                         `line 1, column 12`,
		`findings.exists(f, f.rul == "x")`:          `did you mean "rule"?`,
	} {
		_, err := guardian.Compile(rule("x", guardian.Deny, when, guardian.JobSubmit))
		require.ErrorContains(t, err, want, when)
	}
}

func TestExceptions(t *testing.T) {
	digest, err := submit().Digest()
	require.NoError(t, err)
	approval := guardian.Approval{ID: "yes", Digest: digest, Layer: guardian.ProjectLayer, Rule: "x", Version: 1, Expires: noon.Add(time.Hour)}
	override := guardian.Override{ID: "lift", Rule: "x", Reason: "r", From: noon, Until: noon.Add(time.Hour)}
	decide := func(layer guardian.Layer, then guardian.Verdict, c guardian.Circumstances, o guardian.Operation) guardian.Decision {
		r := rule("x", then, "")
		r.Layer = layer
		c.Now = noon
		return policy(t, r).Decide(t.Context(), o, c)
	}
	for layer, lifts := range map[guardian.Layer][2]bool{ // asked, denied
		guardian.Builtin: {true, false}, guardian.OperatorLayer: {true, true}, guardian.ProjectLayer: {true, true}, guardian.OwnerLayer: {false, false},
	} {
		for i, then := range []guardian.Verdict{guardian.Ask, guardian.Deny} {
			d := decide(layer, then, guardian.Circumstances{Overrides: []guardian.Override{override}}, submit())
			require.Equal(t, lifts[i], d.Verdict == guardian.Allow, "override of %s %s", layer, then)
			if lifts[i] {
				require.Equal(t, "lift", d.Applied[0].Override)
			}
		}
		yes := approval
		yes.Layer = layer
		d := decide(layer, guardian.Ask, guardian.Circumstances{Approvals: []guardian.Approval{yes}}, submit())
		require.Equal(t, layer != guardian.OwnerLayer, d.Verdict == guardian.Allow && slices.Equal(d.Approvals, []string{"yes"}), "approval in %s", layer)
		require.Equal(t, guardian.Deny, decide(layer, guardian.Deny, guardian.Circumstances{Approvals: []guardian.Approval{yes}}, submit()).Verdict)
	}
	ask := func(v guardian.Override, o guardian.Operation) guardian.Verdict {
		return decide(guardian.ProjectLayer, guardian.Ask, guardian.Circumstances{Overrides: []guardian.Override{v}}, o).Verdict
	}
	for name, change := range map[string]func(v *guardian.Override){
		"ended":           func(v *guardian.Override) { v.Until = noon },
		"not begun":       func(v *guardian.Override) { v.From = noon.Add(1) },
		"another rule":    func(v *guardian.Override) { v.Rule = "y" },
		"another layer":   func(v *guardian.Override) { v.Layer = guardian.OperatorLayer },
		"another kind":    func(v *guardian.Override) { v.Kinds = []guardian.Kind{guardian.JobCancel} },
		"another project": func(v *guardian.Override) { v.Project = "q" },
		"another subject": func(v *guardian.Override) { v.Subject = "primes@4" },
	} {
		v := override
		change(&v)
		require.Equal(t, guardian.Ask, ask(v, submit()), name)
	}
	other := submit()
	other.Actor.ID = "somebody else"
	require.Equal(t, guardian.Ask, decide(guardian.ProjectLayer, guardian.Ask, guardian.Circumstances{Approvals: []guardian.Approval{approval}}, other).Verdict)
	approval.Expires = noon
	require.Equal(t, guardian.Ask, decide(guardian.ProjectLayer, guardian.Ask, guardian.Circumstances{Approvals: []guardian.Approval{approval}}, submit()).Verdict)
	urgent := guardian.Operation{Kind: guardian.SwitchOn, Facts: guardian.SwitchFacts{}}
	require.Equal(t, guardian.Deny, decide(guardian.ProjectLayer, guardian.Ask, guardian.Circumstances{}, urgent).Verdict, "what cannot wait is denied")
}

// TestAYesIsForOneVersionOfOneRule holds that what a second rule asks is not lifted by the yes to the first.
func TestAYesIsForOneVersionOfOneRule(t *testing.T) {
	digest, err := submit().Digest()
	require.NoError(t, err)
	a, b, mine := rule("a", guardian.Ask, ""), rule("b", guardian.Ask, ""), rule("a", guardian.Ask, "")
	a.Layer, b.Layer, b.Version = guardian.OperatorLayer, guardian.OperatorLayer, 2
	p := policy(t, a, b, mine)
	yes := func(layer guardian.Layer, name string, version int64) guardian.Approval {
		return guardian.Approval{ID: fmt.Sprintf("%s/%s@%d", layer, name, version), Digest: digest, Layer: layer, Rule: name, Version: version, Expires: noon.Add(time.Hour)}
	}
	all := []guardian.Approval{yes(guardian.OperatorLayer, "a", 1), yes(guardian.OperatorLayer, "b", 2), yes(guardian.ProjectLayer, "a", 1)}
	for name, c := range map[string]struct {
		given  []guardian.Approval
		asking int
	}{
		"none":                    {nil, 3},
		"of one":                  {all[:1], 2},
		"of two":                  {all[:2], 1},
		"of another layer":        {[]guardian.Approval{all[0], all[1], yes(guardian.Builtin, "a", 1)}, 1},
		"of a version of before":  {[]guardian.Approval{all[0], yes(guardian.OperatorLayer, "b", 1), all[2]}, 1},
		"of a version that comes": {[]guardian.Approval{all[0], yes(guardian.OperatorLayer, "b", 3), all[2]}, 1},
		"of all":                  {all, 0},
	} {
		d := p.Decide(t.Context(), submit(), guardian.Circumstances{Now: noon, Approvals: c.given})
		require.Len(t, d.Asking(), c.asking, name)
		require.Equal(t, c.asking == 0, d.Verdict == guardian.Allow, name)
		if c.asking > 0 {
			require.Empty(t, d.Approvals, name)
			continue
		}
		require.Equal(t, []string{"operator/a@1", "operator/b@2", "project/a@1"}, d.Approvals)
	}
}

// TestADigestIsOfAllThatIsAsked holds that a yes is bound to facts and to what was asked for, and not to the clock.
func TestADigestIsOfAllThatIsAsked(t *testing.T) {
	digest := func(o guardian.Operation) string {
		text, err := o.Digest()
		require.NoError(t, err)
		return text
	}
	change := guardian.Operation{Kind: guardian.SettingChange, Facts: guardian.SettingFacts{Setting: guardian.Setting{Name: "project", Changed: []string{"weight"}}}}
	change.Asked = []byte(`{"weight": 100, "a": 1}`)
	other := change
	other.Asked = []byte(`{"weight": 10000, "a": 1}`)
	require.NotEqual(t, digest(change), digest(other))
	other.Asked = []byte(`{"a":1,"weight":100}`)
	require.Equal(t, digest(change), digest(other), "the order of members says nothing")
	other.Asked = []byte(`{`)
	_, err := other.Digest()
	require.Error(t, err)

	for _, kind := range []guardian.Kind{guardian.KeyCreate, guardian.TokenCreate} {
		made := func(at time.Time, lifetime int64, asked string) guardian.Operation {
			o := guardian.Operation{Kind: kind, Asked: []byte(asked), Facts: guardian.KeyFacts{Key: guardian.Key{Name: "k", Expires: at, LifetimeSeconds: lifetime}}}
			if kind == guardian.TokenCreate {
				o.Facts = guardian.TokenFacts{Token: guardian.Token{Name: "k", Expires: at, LifetimeSeconds: lifetime}}
			}
			return o
		}
		hour := made(noon, 3600, `{"expires_in_seconds":3600}`)
		require.Equal(t, digest(hour), digest(made(noon.Add(time.Minute), 3600, `{"expires_in_seconds":3600}`)), "the same asked later")
		require.NotEqual(t, digest(hour), digest(made(noon, 3600, `{"expires_in_seconds":7200}`)))
		until := policy(t, rule("x", guardian.Deny, `has(key.name) && key.lifetime_seconds == 3600`, guardian.KeyCreate))
		if kind == guardian.KeyCreate {
			require.Equal(t, guardian.Deny, until.Decide(t.Context(), hour, guardian.Circumstances{Now: noon}).Verdict, "rules see it")
		}
	}
}

func TestWhatCannotBeEvaluatedDenies(t *testing.T) {
	for when, says := range map[string]string{
		`findings[9].line > 3`: "index out of bounds",
		`job.shards / 0 == 1`:  "division by zero",
		`findings.all(a, findings.all(b, findings.all(c, a.line + b.line + c.line >= 0)))`: "cost limit",
	} {
		o := submit()
		many := make([]guardian.Finding, guardian.MaxFindings)
		o.Facts = guardian.JobFacts{Findings: many}
		if strings.Contains(when, "[9]") {
			o.Facts = guardian.JobFacts{}
		}
		d := policy(t, rule("x", guardian.Allow, when, guardian.JobSubmit)).Decide(t.Context(), o, guardian.Circumstances{Now: noon})
		require.Equal(t, guardian.Deny, d.Verdict, when)
		require.Contains(t, d.Reason, says, when)
		require.Contains(t, d.Reason, "the rule x could not be evaluated, and so denies")
	}
	d := policy(t).Decide(t.Context(), guardian.Operation{Kind: "no.such"}, guardian.Circumstances{})
	require.Equal(t, guardian.Deny, d.Verdict)
	d = policy(t).Decide(t.Context(), guardian.Operation{Kind: guardian.JobSubmit, Facts: guardian.KeyFacts{}}, guardian.Circumstances{})
	require.Equal(t, guardian.Deny, d.Verdict, "facts of another operation")
}

func TestRulesThatAreRefused(t *testing.T) {
	for want, change := range map[string]func(r *guardian.Rule){
		"is no name":               func(r *guardian.Rule) { r.Name = "No" },
		`no operation "job.submt"`: func(r *guardian.Rule) { r.On = []guardian.Kind{"job.submt"} },
		"named twice":              func(r *guardian.Rule) { r.On = append(r.On, r.On[0]) },
		"no layer":                 func(r *guardian.Rule) { r.Layer = "x" },
		"no verdict":               func(r *guardian.Rule) { r.Then = "maybe" },
		"no risk":                  func(r *guardian.Rule) { r.Risk = "AWFUL" },
		"the reason has 0 bytes":   func(r *guardian.Rule) { r.Reason = "" },
		"the reason has 301 bytes": func(r *guardian.Rule) { r.Reason = strings.Repeat("x", guardian.MaxReason+1) },
		"keeps to no conditions":   func(r *guardian.Rule) { r.Then, r.Conditions.RecheckAll = guardian.Deny, true },
		`did you mean "gvisor"?`:   func(r *guardian.Rule) { r.Conditions.Isolation = "gviser" },
		"it is -1":                 func(r *guardian.Rule) { r.Conditions.Pids = -1 },
		"it is 17":                 func(r *guardian.Rule) { r.Conditions.Quorum = guardian.MaxQuorum + 1 },
		"it names 101 owners":      func(r *guardian.Rule) { r.Conditions.Owners = make([]string, guardian.MaxOwners+1) },
		"4097 bytes":               func(r *guardian.Rule) { r.When = "true" + strings.Repeat(" ", 4093) },
		"nests at most 50 deep":    func(r *guardian.Rule) { r.When = strings.Repeat("(", 60) + "true" + strings.Repeat(")", 60) },
	} {
		r := rule("x", guardian.Allow, "", guardian.JobSubmit)
		change(&r)
		_, err := guardian.Compile(r)
		require.ErrorContains(t, err, want)
	}
	r := rule("x", guardian.Allow, "true"+strings.Repeat(" ", 4092), guardian.JobSubmit)
	r.Reason = strings.Repeat("x", guardian.MaxReason)
	r.Conditions = guardian.Conditions{Quorum: guardian.MaxQuorum, Owners: make([]string, guardian.MaxOwners)}
	_, err := guardian.Compile(r)
	require.NoError(t, err)
	var many []*guardian.Compiled
	for i := range guardian.MaxRules + 1 {
		c, err := guardian.Compile(rule(fmt.Sprintf("r%d", i), guardian.Allow, ""))
		require.NoError(t, err)
		many = append(many, c)
	}
	_, err = guardian.NewPolicy(many[:guardian.MaxRules]...)
	require.NoError(t, err)
	_, err = guardian.NewPolicy(many...)
	require.ErrorContains(t, err, "more than 100 rules")
	_, err = guardian.NewPolicy(many[0], many[0])
	require.ErrorContains(t, err, "two rules with the name")
}

func TestTrim(t *testing.T) {
	var flood []guardian.Finding
	for i := range 2 * guardian.MaxFindings {
		flood = append(flood, guardian.Finding{Rule: "mining", Weight: 0.9, Line: int64(i)})
	}
	flood = append(flood, guardian.Finding{Rule: "privilege", Weight: 0.1})
	kept := guardian.Trim(flood)
	require.Len(t, kept, guardian.MaxFindings)
	require.True(t, slices.ContainsFunc(kept, func(f guardian.Finding) bool { return f.Rule == "privilege" }))
	require.Len(t, guardian.Trim(flood[:3]), 3)
}

func TestCompare(t *testing.T) {
	before, after := policy(t), policy(t, rule("x", guardian.Ask, "job.shards > 100", guardian.JobSubmit))
	small := submit()
	small.Facts = guardian.JobFacts{Job: guardian.Job{Shards: 1}}
	differs := guardian.Compare(t.Context(), before, after, []guardian.Operation{submit(), small}, guardian.Circumstances{Now: noon})
	require.Len(t, differs, 1)
	require.Equal(t, guardian.Allow, differs[0].Before.Verdict)
	require.Equal(t, guardian.Ask, differs[0].After.Verdict)
	require.Equal(t, "x", differs[0].After.Rule.Name)
}

// Types that double with each step, and values that do, end at once: nobody can keep a server or an agent busy with a rule.
func TestHostileRulesEnd(t *testing.T) {
	for name, when := range map[string]string{
		"types of a fact":      "findings" + strings.Repeat(".map(a, {'x': [a], 'y': [a]})", 60) + " == []",
		"types of a literal":   "[1]" + strings.Repeat(".map(a, {a: [a]})", 100) + " == []",
		"types in one another": strings.Repeat("findings.exists(a, [{'x': [a]}].exists(b, ", 8) + "true" + strings.Repeat("))", 8),
		"a filter of a fact":   strings.Repeat("findings.filter(a, ", 10) + "true" + strings.Repeat(").size() > 0", 9) + ").size() > 0",
		"values that double":   "[findings]" + strings.Repeat(".map(a, a + a)", 40) + ".size() > 0",
		"a costly match":       `findings.all(a, findings.all(b, a.text.matches("(x+x+)+y")))`,
		"loops in one another": strings.Repeat("findings.all(a, ", 12) + "true" + strings.Repeat(")", 12),
		"text that doubles":    "['x']" + strings.Repeat(".map(a, a + a)", 60) + " == []",
		"many comparisons":     "true" + strings.Repeat(" && findings == findings", 100),
	} {
		c, err := guardian.Compile(rule("x", guardian.Allow, when, guardian.JobSubmit))
		if err != nil {
			continue
		}
		p, err := guardian.NewPolicy(c)
		require.NoError(t, err)
		o := submit()
		many := make([]guardian.Finding, guardian.MaxFindings)
		for i := range many {
			many[i].Text = strings.Repeat("x", 120)
		}
		o.Facts = guardian.JobFacts{Findings: many}
		d := p.Decide(t.Context(), o, guardian.Circumstances{Now: noon})
		require.NotEmpty(t, d.Verdict, name)
	}
}
