package guardian_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/guardian"
)

// TestRulesBearAllFindings has every built-in rule, and one that looks at each finding in twenty ways, judge a function with as many findings as
// there can be: an honest one with large libraries is not denied because a rule could not be evaluated.
func TestRulesBearAllFindings(t *testing.T) {
	defaults, err := guardian.CompiledDefaults()
	require.NoError(t, err)
	var looks []string
	for i := range 20 {
		looks = append(looks, fmt.Sprintf("f.line == -%d", i+1))
	}
	own, err := guardian.Compile(guardian.Rule{
		Name: "twenty-looks", Layer: guardian.ProjectLayer, On: []guardian.Kind{guardian.SandboxOpen}, Then: guardian.Deny, Reason: "x", Enabled: true,
		When: "findings.exists(f, " + strings.Join(looks, " || ") + ")",
	})
	require.NoError(t, err)
	for _, text := range []int{0, 100, 1 << 10} {
		var findings []guardian.Finding
		for i := range guardian.MaxFindings {
			findings = append(findings, guardian.Finding{Module: "code-risk", File: "vendored/module.py", Line: int64(i), Rule: "files", What: "open", Text: strings.Repeat("a", text)})
		}
		op := guardian.Operation{Kind: guardian.SandboxOpen, Facts: guardian.SandboxFacts{Findings: findings, Scored: true}}
		for _, rules := range [][]*guardian.Compiled{defaults, {own}} {
			policy, err := guardian.NewPolicy(rules...)
			require.NoError(t, err)
			d := policy.Decide(t.Context(), op, guardian.Circumstances{Now: time.Now()})
			require.Equal(t, guardian.Allow, d.Verdict, "%d findings of %d bytes: %s", len(findings), text, d.Reason)
		}
	}
}
