package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/verify"
)

func TestTheSameKeyIsTheSameJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := functions.NewJob{Function: "numbers", Partition: rangeOf(10)}
	key := functions.Idempotency{Key: "k", RequestDigest: [32]byte{1}}
	first, replayed, err := w.SubmitJob(t.Context(), w.by, w.project, want, key)
	require.NoError(t, err)
	require.False(t, replayed)
	again, replayed, err := w.SubmitJob(t.Context(), w.by, w.project, want, key)
	require.NoError(t, err)
	require.True(t, replayed)
	require.Equal(t, first.ID, again.ID)
	_, _, err = w.SubmitJob(t.Context(), w.by, w.project, want, functions.Idempotency{Key: "k", RequestDigest: [32]byte{2}})
	require.ErrorIs(t, err, functions.ErrIdempotencyMismatch)
	require.Equal(t, int64(1), w.count("select count(*) from jobs"))
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'job.submit'"))
	require.Len(t, w.steps(), 1)

	ids, all := make([]uuid.UUID, 8), sync.WaitGroup{}
	for i := range ids {
		all.Go(func() {
			job, _, err := w.SubmitJob(context.Background(), w.by, w.project, want, functions.Idempotency{Key: "at once"})
			if err != nil {
				t.Error(err)
			}
			ids[i] = job.ID
		})
	}
	all.Wait()
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
	require.Equal(t, int64(2), w.count("select count(*) from jobs"))
	require.Len(t, w.steps(), 1, "one step splits what a project has, and was there")

	_, _, err = w.SubmitJob(t.Context(), w.by, w.project, want, functions.Idempotency{Key: "old"})
	require.NoError(t, err)
	w.sql("update ostraka.idempotency_keys set created_at = now() - interval '8 days' where key = 'old'")
	require.NoError(t, w.Retain(t.Context(), stepargs.RetentionArgs{}))
	_, replayed, err = w.SubmitJob(t.Context(), w.by, w.project, want, functions.Idempotency{Key: "old"})
	require.NoError(t, err)
	require.False(t, replayed)
}

func TestJobsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bounds := func(from, to, size int64) partition.Spec {
		return partition.OfRange(partition.Range{From: big.NewInt(from), To: big.NewInt(to), Size: big.NewInt(size)})
	}
	items := partition.Spec{Kind: partition.KindItems}
	digits, _ := new(big.Int).SetString("1"+strings.Repeat("0", partition.MaxDigits), 10)
	for name, c := range map[string]struct {
		code string
		job  functions.NewJob
	}{
		"no such function":   {"not_found", functions.NewJob{Function: "nothing", Partition: rangeOf(1)}},
		"no such version":    {"not_found", functions.NewJob{Function: "numbers", Version: 9, Partition: rangeOf(1)}},
		"no such module":     {"not_found", functions.NewJob{Function: "numbers", Aggregator: "nothing", Partition: rangeOf(1)}},
		"quorum above":       {"bad_policy", functions.NewJob{Function: "numbers", Quorum: verify.MaxQuorum + 1, Partition: rangeOf(1)}},
		"quorum below":       {"bad_policy", functions.NewJob{Function: "numbers", Quorum: -1, Partition: rangeOf(1)}},
		"quorum and none":    {"bad_policy", functions.NewJob{Function: "numbers", Quorum: 1, None: true, Partition: rangeOf(1)}},
		"params no object":   {"bad_params", functions.NewJob{Function: "numbers", Params: json.RawMessage(`[1]`), Partition: rangeOf(1)}},
		"params no JSON":     {"bad_params", functions.NewJob{Function: "numbers", Params: json.RawMessage(`{`), Partition: rangeOf(1)}},
		"params too large":   {"bad_params", functions.NewJob{Function: "numbers", Params: json.RawMessage(`{"a":"` + strings.Repeat("x", functions.MaxModuleParams) + `"}`), Partition: rangeOf(1)}},
		"params for another": {"bad_params", functions.NewJob{Function: "numbers", Aggregator: "sum", Params: json.RawMessage(`{"op":"max"}`), Partition: rangeOf(1)}},
		"no partition":       {"", functions.NewJob{Function: "numbers"}},
		"empty range":        {"", functions.NewJob{Function: "numbers", Partition: bounds(5, 5, 1)}},
		"reversed range":     {"", functions.NewJob{Function: "numbers", Partition: bounds(6, 5, 1)}},
		"size 0":             {"", functions.NewJob{Function: "numbers", Partition: bounds(1, 5, 0)}},
		"one shard too many": {"", functions.NewJob{Function: "numbers", Partition: bounds(0, partition.MaxShards+1, 1)}},
		"too many digits":    {"", functions.NewJob{Function: "numbers", Partition: partition.OfRange(partition.Range{From: big.NewInt(0), To: digits, Size: digits})}},
		"no items":           {"", functions.NewJob{Function: "numbers", Partition: items, Items: []byte("\n \n")}},
		"a bad item":         {"", functions.NewJob{Function: "numbers", Partition: items, Items: []byte("1\n{\n")}},
		"too large an item":  {"", functions.NewJob{Function: "numbers", Partition: items, Items: []byte(`"` + strings.Repeat("x", partition.MaxItemBytes) + `"`)}},
		"no such object":     {"not_found", functions.NewJob{Function: "numbers", Partition: partition.OfObject(strings.Repeat("0", 64))}},
		"bad digest":         {"", functions.NewJob{Function: "numbers", Partition: partition.OfObject("x")}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := w.SubmitJob(t.Context(), w.by, w.project, c.job, functions.Idempotency{Key: name})
			var e *functions.Error
			require.ErrorAs(t, err, &e)
			require.NotEmpty(t, e.Message)
			require.NotEmpty(t, e.Hint)
			require.NotEmpty(t, e.Code)
			if c.code != "" {
				require.Equal(t, c.code, e.Code)
			}
			require.Contains(t, []functions.Kind{functions.KindInvalid, functions.KindNotFound, functions.KindTooLarge}, e.Kind, "%v", err)
		})
	}
	require.Zero(t, w.count("select count(*) from jobs"))
	require.Empty(t, w.steps())
	_, _, err := w.SubmitJob(t.Context(), w.by, w.project, functions.NewJob{Function: "numbers", Partition: bounds(0, partition.MaxShards, 1)}, functions.Idempotency{})
	require.NoError(t, err, "the limit itself is allowed")
}

func TestWhatAJobTakesFromItsFunction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.pushFunction("rich", "[verification]\nquorum = 3\nmax_attempts = 5\n[aggregator]\nmodule = \"merge\"\n[aggregator.params.fields]\nn = \"sum\"\n")
	require.Equal(t, 1, v.Version)
	job := w.submit(1, func(j *functions.NewJob) { j.Function, j.Quorum = "rich", 0 })
	require.Equal(t, verify.Policy{Quorum: 3, MaxAttempts: 5}, job.Policy)
	require.Equal(t, "merge", job.Aggregator.Module)
	require.Contains(t, string(job.Aggregator.Params), `"fields"`)
	job = w.submit(1, func(j *functions.NewJob) { j.Function, j.Quorum, j.Aggregator = "rich", 1, "count" })
	require.Equal(t, verify.Policy{Quorum: 1}, job.Policy)
	require.NotContains(t, string(job.Aggregator.Params), `"fields"`, "parameters are those of the module that they were written for")

	again := w.pushFunction("rich", "[verification]\nnone = true\n")
	require.Equal(t, 2, again.Version)
	require.Equal(t, 2, w.submit(1, func(j *functions.NewJob) { j.Function, j.Quorum = "rich", 0 }).Version)
	require.Equal(t, 1, w.submit(1, func(j *functions.NewJob) { j.Function, j.Version = "rich", 1 }).Version)

	var list []functions.Job
	for after := ""; ; {
		page, err := w.ListJobs(t.Context(), w.project, jobs.JobFilter{Function: "rich", State: functions.JobSplitting}, functions.ListPage{After: after, Limit: 3})
		require.NoError(t, err)
		list = append(list, page...)
		if len(page) < 3 {
			break
		}
		after = page[2].ID.String()
	}
	require.Len(t, list, 4)
	for i := range list[1:] {
		require.Greater(t, list[i].ID.String(), list[i+1].ID.String(), "newest first")
	}
}

func TestPushingAtOnceNumbersVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all sync.WaitGroup
	for i := range 6 {
		archive := w.pack("many", fmt.Sprintf("description = \"%d\"\n", i/2)) // each twice
		all.Go(func() {
			if _, _, err := w.PushFunction(context.Background(), w.by, w.project, bytes.NewReader(archive), nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	list, err := w.ListFunctionVersions(t.Context(), w.project, "many", functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Len(t, list, 3)
	for i, v := range list {
		require.Equal(t, i+1, v.Version)
	}
	newest, err := w.GetFunction(t.Context(), w.project, "many", 0)
	require.NoError(t, err)
	require.Equal(t, 3, newest.Version)
	all2, err := w.ListFunctions(t.Context(), w.project, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Len(t, all2, 2)
	_, _, err = w.PushFunction(t.Context(), w.by, w.project, strings.NewReader("no bundle"), nil)
	requireCode(t, err, "bad_bundle")
}
