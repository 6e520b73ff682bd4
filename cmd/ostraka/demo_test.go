package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/testenv"
)

// The flagship, without its follow-up (CI runs it with).
func TestDemo(t *testing.T) {
	tmp := t.TempDir()
	p := runProgram(t, []string{"TMPDIR=" + tmp, "DEMO_FOLLOWUP_ENABLED=0"}, "demo")
	var out strings.Builder
	for l := range p.lines {
		out.WriteString(l + "\n")
	}
	require.Zero(t, p.ends(), out.String())
	require.Contains(t, out.String(), "22206 numbers pass, and 22206 are known to: RIGHT")
	require.Contains(t, out.String(), "the plan: at most 0.001 of the accepted results are wrong, with 0.1 of the results hostile")
	require.Contains(t, out.String(), "at most 0.001 of the results are wrong, with up to 0.1 of them from liars")
	require.Regexp(t, `audits     \d+ drawn, \d+ passed`, out.String())
	require.Regexp(t, `agent-4-liar was proven wrong on \d+ shards?`, out.String())
	require.Regexp(t, `\d\.\d\d executions a shard \(\d+ by agents, \d+ by the server\)`, out.String())
	require.NotContains(t, out.String(), "follow-up")
	require.Contains(t, out.String(), "receipt    500 shards verified without the server, 3 executed again; with another digit in the answer it is refused")
	require.Regexp(t, `while it runs: API docs http://[^ ]+/docs, River UI http://[^ ]+/ops/river/`, out.String())
	_, after, _ := strings.Cut(out.String(), "Everything that was started is stopped")
	require.NotContains(t, after, "http://", "addresses that are dead")
	require.Contains(t, after, "\n  ostraka dev --data ")
	require.Contains(t, p.said(), "bpsw: 500 of 500 shards (100%)")
	nothingIsLeftIn(t, tmp)
}

func TestDemoIsInterrupted(t *testing.T) {
	tmp := t.TempDir()
	p := runProgram(t, []string{"TMPDIR=" + tmp}, "demo")
	testenv.Eventually(t, func() bool { return strings.Contains(p.said(), "bpsw: ") }, "the job runs")
	p.signal(os.Interrupt)
	require.Equal(t, exitInterrupted, p.ends())
	require.Contains(t, p.said(), "ostraka: the demo was interrupted")
	require.NotContains(t, p.said(), "context canceled")
	nothingIsLeftIn(t, tmp)
}

func nothingIsLeftIn(t *testing.T, tmp string) {
	t.Helper()
	nothingRunsIn(t, tmp)
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestDemoReportIsStrict(t *testing.T) {
	good := func() *demoReport {
		return &demoReport{
			passed: demoKnown, liars: []suspect{{name: "l", wrong: 3, caught: true}},
			job:     client.Job{Verification: &client.JobVerification{ErrorBound: 0.001, AuditsDrawn: 9, AuditsPassed: 9}},
			proof:   &proof{job: client.Job{Shards: client.ShardCounts{Total: 64}}, proved: 64},
			receipt: &demoReceipt{found: receiptReport{Lines: 500, Executed: demoReexecuted}, changed: errDemo},
		}
	}
	require.True(t, good().right())
	require.Contains(t, good().text(), "RIGHT")
	for name, spoil := range map[string]func(*demoReport){
		"wrong count":         func(r *demoReport) { r.passed-- },
		"liar not found out":  func(r *demoReport) { r.liars[0] = suspect{name: "l"} },
		"no liar":             func(r *demoReport) { r.liars = nil },
		"honest agent caught": func(r *demoReport) { r.wronged = []string{"a"} },
		"no bound":            func(r *demoReport) { r.job.Verification = nil },
		"no audit passed":     func(r *demoReport) { r.job.Verification.AuditsPassed = 0 },
		"an audit is open":    func(r *demoReport) { r.job.Verification.AuditsPending = 1 },
		"a result not final":  func(r *demoReport) { r.job.Shards.Provisional = 1 },
		"finding not proved":  func(r *demoReport) { r.proof.proved-- },
		"receipt has no line": func(r *demoReport) { r.receipt.found.Lines = 0 },
		"nothing executed":    func(r *demoReport) { r.receipt.found.Executed-- },
		"a false one passes":  func(r *demoReport) { r.receipt.changed = nil },
	} {
		r := good()
		spoil(r)
		require.False(t, r.right(), name)
	}
	without := good()
	without.proof = nil
	require.True(t, without.right(), "follow-ups may be switched off")
}
