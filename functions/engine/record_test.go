package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// leased is a world with one job, of which an agent has leased shards 0 to 3.
func leased(t *testing.T) (*world, *agent, *functions.Lease) {
	t.Helper()
	w := newWorld(t)
	w.pushFunction("small", "[limits]\noutput_bytes = \"32Ki\"\n")
	a := w.agent(honest)
	job := w.submit(8, func(j *functions.NewJob) { j.Function = "small" })
	w.settleAll()
	lease := a.lease(4)
	require.Equal(t, job.ID, lease.Job)
	require.Len(t, lease.Shards, 4)
	return w, a, lease
}

// TestABadResultRefusesTheSubmission sends three good results and a bad one each time: nothing may be stored.
func TestABadResultRefusesTheSubmission(t *testing.T) {
	t.Parallel()
	w, a, lease := leased(t)
	with := func(change func(r *functions.Result)) func([]functions.Result) []functions.Result {
		return func(list []functions.Result) []functions.Result {
			change(&list[2])
			return list
		}
	}
	output := func(text string) func([]functions.Result) []functions.Result {
		return with(func(r *functions.Result) { r.Output, r.OutputDigest = text, canonical.Digest([]byte(text)) })
	}
	for name, change := range map[string]func([]functions.Result) []functions.Result{
		"not the digest":       with(func(r *functions.Result) { r.OutputDigest = canonical.Digest([]byte("1")) }),
		"no digest":            with(func(r *functions.Result) { r.OutputDigest = "" }),
		"digest in capitals":   with(func(r *functions.Result) { r.OutputDigest = strings.Repeat("AB", 31) }),
		"no output":            with(func(r *functions.Result) { r.Output = "" }),
		"an object that isn't": with(func(r *functions.Result) { r.Output, r.OutputBytes = "", 1<<20 }),
		"not JSON":             output("{"),
		"white space":          output("[1, 2]"),
		"NaN":                  output("NaN"),
		"NUL":                  output(`"\u0000"`),
		"lone surrogate":       output(`"\ud800"`),
		"key order":            output(`{"b":1,"a":2}`),
		"duplicate key":        output(`{"a":1,"a":2}`),
		"too deep":             output(strings.Repeat("[", canonical.MaxDepth+1) + strings.Repeat("]", canonical.MaxDepth+1)),
		"above the function's": output(`"` + strings.Repeat("x", 32<<10) + `"`),
		"above the inline":     output(`"` + strings.Repeat("x", result.MaxInlineOutput) + `"`),
		"an unknown status":    with(func(r *functions.Result) { r.Status = "fine" }),
		"an output of a crash": with(func(r *functions.Result) { r.Status = "killed" }),
		"too many files":       with(func(r *functions.Result) { r.Files = make([]functions.File, result.MaxFilesListed+1) }),
		"too much to say": with(func(r *functions.Result) {
			*r = functions.Result{Shard: r.Shard, Status: "timeout", StderrTail: strings.Repeat("x", result.MaxDiagnosticBytes)}
		}),
		"NUL in what it says": with(func(r *functions.Result) {
			*r = functions.Result{Shard: r.Shard, Status: "timeout", StderrTail: "a\x00b"}
		}),
		"negative time":    with(func(r *functions.Result) { r.CPUMicros = -1 }),
		"negative size":    with(func(r *functions.Result) { r.StderrBytes = -1 }),
		"shard not leased": with(func(r *functions.Result) { r.Shard = 5 }),
		"negative shard":   with(func(r *functions.Result) { r.Shard = -1 }),
		"a shard twice":    func(list []functions.Result) []functions.Result { return append(list, list[1]) },
		"nothing":          func([]functions.Result) []functions.Result { return nil },
		"more than a lease": func([]functions.Result) []functions.Result {
			return make([]functions.Result, dispatch.MaxLeaseShards+1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := a.post(lease.ID, change(a.results(lease.Shards))...)
			requireCode(t, err, "bad_result")
			require.Zero(t, w.count("select count(*) from attempts"))
			require.Zero(t, w.count("select count(*) from submissions"))
		})
	}
	recorded := a.report(lease)
	require.Equal(t, dispatch.Recorded{Recorded: 4, Done: true}, recorded)
	w.settleAll()
	w.check(lease.Job)
}

func TestOnlyTheSignatureOfTheAgentCounts(t *testing.T) {
	t.Parallel()
	w, a, lease := leased(t)
	other := w.agent(honest)
	results := a.results(lease.Shards)
	good := a.sign(lease.ID, results)

	forged := good
	forged.Signature = other.sign(lease.ID, results).Signature
	changed := a.sign(lease.ID, results)
	changed.Results = a.results(lease.Shards)
	changed.Results[1] = liar(lease.Shards[1].Input)
	changed.Results[1].Shard = lease.Shards[1].Number
	for name, sub := range map[string]dispatch.Submission{
		"of another agent":  forged,
		"of another lease":  a.sign(uuid.New(), results),
		"of other results":  changed,
		"of fewer results":  {Results: results[:3], Signature: good.Signature},
		"of another status": {Results: append([]functions.Result{{Shard: results[0].Shard, Status: "killed"}}, results[1:]...), Signature: good.Signature},
		"none":              {Results: results},
		"cut short":         {Results: results, Signature: good.Signature[:63]},
	} {
		_, err := w.Record(t.Context(), a.id, lease.ID, sub)
		require.ErrorIs(t, err, functions.ErrBadSignature, name)
	}
	_, err := w.Record(t.Context(), other.id, lease.ID, forged)
	requireCode(t, err, "not_found")
	_, err = w.Record(t.Context(), a.id, uuid.New(), good)
	requireCode(t, err, "not_found")
	require.Zero(t, w.count("select count(*) from attempts"))
	_, err = w.Record(t.Context(), a.id, lease.ID, good)
	require.NoError(t, err)
}

func TestSendingAgainIsHarmless(t *testing.T) {
	t.Parallel()
	w, a, lease := leased(t)
	results := a.results(lease.Shards)
	recorded, err := a.post(lease.ID, results[1])
	require.NoError(t, err)
	require.Equal(t, dispatch.Recorded{Recorded: 1}, recorded)
	recorded, err = a.post(lease.ID, results[1])
	require.NoError(t, err)
	require.Equal(t, dispatch.Recorded{Duplicate: 1}, recorded)

	lie := liar(lease.Shards[1].Input)
	lie.Shard = lease.Shards[1].Number
	_, err = a.post(lease.ID, lie, results[2])
	require.ErrorIs(t, err, functions.ErrResultConflict)
	require.Equal(t, int64(1), w.count("select count(*) from attempts"), "a submission is stored whole or not at all")

	recorded, err = a.post(lease.ID, results...)
	require.NoError(t, err)
	require.Equal(t, dispatch.Recorded{Recorded: 3, Duplicate: 1, Done: true}, recorded)
	require.Equal(t, int64(1), w.count("select count(*) from submissions where shards = '{0,2,3}' and stated = '{0,1,2,3}'"),
		"the signed statement can be made again")
	recorded, err = a.post(lease.ID, results...)
	require.NoError(t, err)
	require.Equal(t, dispatch.Recorded{Duplicate: 4, Done: true}, recorded, "also when the lease is closed")
	_, err = a.post(lease.ID, lie)
	require.ErrorIs(t, err, functions.ErrResultConflict)
	w.settleAll()
	require.Equal(t, int64(4), w.count("select count(*) from attempts"))
	require.Equal(t, int64(4), w.job(lease.Job).Attempts)
	w.check(lease.Job)
}

func TestAnEndedLeaseTakesNoResults(t *testing.T) {
	t.Parallel()
	w, a, lease := leased(t)
	results := a.results(lease.Shards)
	_, err := a.post(lease.ID, results[0])
	require.NoError(t, err)
	require.NoError(t, w.ReturnLease(t.Context(), a.id, lease.ID))
	require.NoError(t, w.ReturnLease(t.Context(), a.id, lease.ID), "returning twice is harmless")
	w.check(lease.Job)
	_, err = a.post(lease.ID, results...)
	require.ErrorIs(t, err, functions.ErrLeaseEnded)
	recorded, err := a.post(lease.ID, results[0])
	require.NoError(t, err)
	require.Equal(t, 1, recorded.Duplicate)

	other := w.agent(honest)
	requireCode(t, w.ReturnLease(t.Context(), other.id, lease.ID), "not_found")
	again := a.lease(10)
	require.Equal(t, []int64{4, 5, 6, 7}, numbers(again), "the search goes on where it was")
	require.Equal(t, []int64{1, 2, 3}, numbers(a.lease(10)), "and then finds what was returned; shard 0 is done")
	require.Nil(t, a.lease(10))
	w.settleAll()
	w.check(lease.Job)
}

func numbers(l *functions.Lease) []int64 {
	list := make([]int64, len(l.Shards))
	for i, s := range l.Shards {
		list[i] = s.Number
	}
	return list
}

func TestWhatAResultSaysIsKept(t *testing.T) {
	t.Parallel()
	w, a, lease := leased(t)
	code := 3
	crash := functions.Result{
		Shard: 0, Status: "output_limit", OutputBytes: 1 << 40, StdoutBytes: 9, StdoutTail: "…tail", ExitCode: &code, Signal: "SIGKILL",
		CPUMicros: 1, WallMicros: 2, PeakRSS: 3, Isolation: "process", Interpreter: "3.11", Libc: "glibc",
	}
	_, err := a.post(lease.ID, crash)
	require.NoError(t, err, "how much there was is no reason to refuse the report of it")
	shard, err := w.GetShard(t.Context(), w.project, lease.Job, 0)
	require.NoError(t, err)
	require.Len(t, shard.Attempts, 1)
	got := shard.Attempts[0]
	require.Equal(t, "output_limit", got.Status)
	require.Equal(t, []int64{1 << 40, 1, 2, 3}, []int64{got.OutputBytes, got.CPUMicros, got.WallMicros, got.PeakRSS})
	var rest functions.Result
	require.NoError(t, json.Unmarshal(got.Diagnostics, &rest))
	require.Equal(t, "…tail", rest.StdoutTail)
	require.Equal(t, 3, *rest.ExitCode)
	require.Equal(t, "glibc", rest.Libc)
	require.NotContains(t, string(got.Diagnostics), `"shard"`, "the columns are not told twice, and never wrongly")
	require.NotContains(t, string(got.Diagnostics), `"status"`)
	require.False(t, got.Accepted)
}
