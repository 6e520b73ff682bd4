package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/wasm/schema"
)

// oneN is a schema that honest outputs of "numbers" hold to, and those of liars do not.
const oneN = "[output.schema]\nproperties.n = { const = 1 }\n"

// TestOutputsThatAreNotAsTheFunctionSays: an agent that says ok of one is refused, stored or not, and what it sends besides counts.
func TestOutputsThatAreNotAsTheFunctionSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushFunction("numbers", oneN)
	job := w.submit(3)
	a := w.agent(honest)
	w.settleAll()
	lease := a.lease(3)
	results := a.results(lease.Shards)
	wrong := liar(lease.Shards[1].Input)
	wrong.Shard = lease.Shards[1].Number
	_, err := a.post(lease.ID, results[0], wrong, results[2])
	require.ErrorIs(t, err, functions.ErrBadResult)
	require.ErrorContains(t, err, "the output is not as [output.schema] says: output.n (const): report it as error")
	large := `{"n":2,"text":"` + strings.Repeat("x", 64<<10) + `"}`
	digest := canonical.Digest([]byte(large))
	_, err = w.PutOutput(t.Context(), a.id, lease.ID, digest, strings.NewReader(large))
	require.NoError(t, err)
	stored := functions.Result{Shard: lease.Shards[1].Number, Status: "ok", OutputDigest: digest, OutputBytes: int64(len(large))}
	_, err = a.post(lease.ID, stored)
	require.ErrorContains(t, err, "output.n (const)")
	_, err = a.post(lease.ID, results[0], results[2])
	require.NoError(t, err)
	require.Equal(t, int64(3), w.job(job.ID).Shards.Total)
}

// TestAnOutputAgainstTheSchemaFailsItsShard: as with every error of a function two must say so, nobody is blamed for it, and explain says it.
func TestAnOutputAgainstTheSchemaFailsItsShard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushFunction("numbers", oneN)
	job := w.submit(1)
	says := func(string) functions.Result {
		return raised("OutputSchema", "the output is not as [output.schema] says: output.n (const)")
	}
	agents := []*agent{w.agent(says), w.agent(says)}
	w.settleAll()
	for _, a := range agents {
		require.Equal(t, 1, a.do(1))
	}
	w.settleAll()
	require.Equal(t, functions.JobFailed, w.job(job.ID).State)
	e, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	text, err := json.Marshal(e)
	require.NoError(t, err)
	require.Contains(t, string(text), "1 of 1 shard failed: OutputSchema: the output is not as [output.schema] says: output.n (const)")
	var blamed int64
	require.NoError(t, w.store.Pool.QueryRow(t.Context(), "select count(*) from "+w.schema()+".trust where failed > 0 or caught_at is not null").Scan(&blamed))
	require.Zero(t, blamed)
}

// TestASubmissionIsCheckedForSoLong: one that would take more is refused, and is no sign of anything; its halves are taken.
func TestASubmissionIsCheckedForSoLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const values = 3 // of the schema
	w.pushFunction("numbers", "[output.schema]\nitems = { type = \"integer\" }\n")
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 30_000), ",") + "]"
	n := int64(dispatch.MaxSchemaWork / (30_001 * values)) // so many outputs of one submission are checked
	require.Less(t, 30_001*values, schema.MaxWork)
	w.submit(n + 1)
	made := 100
	a := w.agent(func(string) functions.Result {
		made++
		return ok(fmt.Sprintf("%s,%d]", strings.TrimSuffix(list, ",1]"), made))
	})
	w.settleAll()
	lease := a.lease(int(n + 1))
	results := a.results(lease.Shards)
	_, err := a.post(lease.ID, results...)
	require.ErrorIs(t, err, dispatch.ErrTooMuchToCheck)
	flags, err := w.ListFlags(t.Context(), w.project, review.FlagFilter{}, functions.ListPage{Limit: 9})
	require.NoError(t, err)
	require.Empty(t, flags)
	recorded, err := a.post(lease.ID, results[:n]...)
	require.NoError(t, err)
	require.Equal(t, int(n), recorded.Recorded)
	_, err = a.post(lease.ID, results[n:]...)
	require.NoError(t, err)
}

// TestStoredOutputsAreCheckedForSoLong: they count as those that travel with their results do, and each distinct one once.
func TestStoredOutputsAreCheckedForSoLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushFunction("numbers", "[output.schema]\nitems = { type = \"integer\" }\n")
	const values = 40_001 // of an output that does not travel with its result
	n := dispatch.MaxSchemaWork/(values*3) + 1
	w.submit(int64(n))
	a := w.agent(honest)
	w.settleAll()
	lease := a.lease(n)
	stored := func(last int, shard int64) functions.Result {
		output := fmt.Sprintf("[%s%d]", strings.Repeat("1,", values-2), last)
		digest := canonical.Digest([]byte(output))
		_, err := w.PutOutput(t.Context(), a.id, lease.ID, digest, strings.NewReader(output))
		require.NoError(t, err)
		return functions.Result{Shard: shard, Status: "ok", OutputDigest: digest, OutputBytes: int64(len(output))}
	}
	var distinct, same []functions.Result
	for i, shard := range lease.Shards {
		distinct = append(distinct, stored(100+i, shard.Number))
		same = append(same, stored(100, shard.Number))
	}
	_, err := a.post(lease.ID, distinct...)
	require.ErrorIs(t, err, dispatch.ErrTooMuchToCheck)
	recorded, err := a.post(lease.ID, same...)
	require.NoError(t, err)
	require.Equal(t, n, recorded.Recorded)
}
