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
	require.Regexp(t, `agent-4-liar was out-voted on \d+ shards`, out.String())
	require.NotContains(t, out.String(), "follow-up")
	require.Regexp(t, `while it runs: API docs http://[^ ]+/docs, River UI http://[^ ]+/ops/river/`, out.String())
	_, after, _ := strings.Cut(out.String(), "Everything that was started is stopped")
	require.NotContains(t, after, "http://", "addresses that are dead")
	require.Contains(t, after, "\n  ostraka dev --data ")
	require.Contains(t, p.said(), "bpsw: 200 of 200 shards (100%)")
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
			proof: &proof{job: client.Job{Shards: client.ShardCounts{Total: 64}}, proved: 64},
		}
	}
	require.True(t, good().right())
	require.Contains(t, good().text(), "RIGHT")
	for name, spoil := range map[string]func(*demoReport){
		"wrong count":         func(r *demoReport) { r.passed-- },
		"liar not found out":  func(r *demoReport) { r.liars[0] = suspect{name: "l"} },
		"no liar":             func(r *demoReport) { r.liars = nil },
		"honest agent caught": func(r *demoReport) { r.wronged = []string{"a"} },
		"finding not proved":  func(r *demoReport) { r.proof.proved-- },
	} {
		r := good()
		spoil(r)
		require.False(t, r.right(), name)
	}
	without := good()
	without.proof = nil
	require.True(t, without.right(), "follow-ups may be switched off")
}
