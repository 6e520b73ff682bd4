package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// printed is an honest answer of a script: what it prints is its result, up to the line feed.
func printed(input string) functions.Result { return prints(honest(input), "\n") }

// embellished says the same in other words: the output is that of the honest, byte for byte, and what was printed is not.
func embellished(input string) functions.Result { return prints(honest(input), " \n") }

func prints(r functions.Result, end string) functions.Result {
	r.StdoutDigest = canonical.Digest([]byte(r.Output + end))
	return r
}

// script submits a job of a plain script, whose result is its stdout.
func (w *world) script(shards int64, change ...func(*functions.NewJob)) functions.Job {
	w.t.Helper()
	w.pushFunction("printer", "script = \"main.py\"\n")
	return w.submit(shards, append(change, func(j *functions.NewJob) { j.Function = "printer" })...)
}

func (w *world) printer(name string, answer func(string) functions.Result) *agent {
	w.t.Helper()
	a := w.stranger(name, answer)
	a.script = true
	return a
}

// TestAScriptThatPrintsSomethingElseIsCaughtByTheServer: its output is the right one.
func TestAScriptThatPrintsSomethingElseIsCaughtByTheServer(t *testing.T) {
	t.Parallel()
	c := &court{answer: func(input string, _ uint32) functions.Result { return printed(input) }}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.script(600, bounded(1e-3))
	liar := w.printer("liar", embellished)
	done := w.workOff(job, 100, w.printer("first", printed), liar, w.printer("second", printed))
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(600)))
	require.Equal(t, int64(1), w.count("select count(*) from trust where caught_at is not null"))
	require.Equal(t, int64(1), w.count("select count(*) from trust where caught_at is not null and agent_id = $1", liar.id))
	require.Zero(t, w.count("select count(*) from shards where agent_id = $1", liar.id))
	w.requireQuiet()
}

// TestAScriptThatPrintsSomethingElseIsOutvoted among agents.
func TestAScriptThatPrintsSomethingElseIsOutvoted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.script(5)
	liar := w.printer("liar", embellished)
	done := w.workOff(job, 5, liar, w.printer("first", printed), w.printer("second", printed))
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	require.Equal(t, int64(5), w.count("select failed from trust where agent_id = $1", liar.id))
	require.Zero(t, w.count("select count(*) from shards where agent_id = $1", liar.id))
}

// TestWhatAScriptPrintsHasADigest, and is part of what its agent signs.
func TestWhatAScriptPrintsHasADigest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.script(1)
	w.settleAll()
	a := w.printer("agent", honest)
	lease := a.lease(1)
	require.NotEmpty(t, lease.Manifest.Script)
	_, err := a.post(lease.ID, a.results(lease.Shards)...)
	require.ErrorIs(t, err, functions.ErrBadResult)
	require.ErrorContains(t, err, "stdout_digest")
	a.answer, a.script = printed, false
	_, err = a.post(lease.ID, a.results(lease.Shards)...)
	require.ErrorIs(t, err, functions.ErrBadSignature, "signed as if it were the result of a handler")
	a.script = true
	a.report(lease)
}

// TestWhatAHandlerPrintsIsItsOwnAffair: its result is what it returns.
func TestWhatAHandlerPrintsIsItsOwnAffair(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(5)
	done := w.workOff(job, 5, w.stranger("first", printed), w.stranger("second", embellished))
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	require.Zero(t, w.count("select count(*) from flags"))
}
