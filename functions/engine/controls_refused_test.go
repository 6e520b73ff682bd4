package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/submit"
)

func TestControlsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shard := func(n int64) functions.Control { return functions.Control{Shard: &n, Output: json.RawMessage(`1`)} }
	many := func(n int) (list []functions.Control) {
		for i := range n {
			list = append(list, functions.Control{Input: itemOf(1_000_000 + i), Output: json.RawMessage(`1`)})
		}
		return list
	}
	large := json.RawMessage(`"` + strings.Repeat("x", 60<<10) + `"`)
	var heavy []functions.Control
	for i := range submit.MaxControlBytes/(60<<10) + 1 {
		heavy = append(heavy, functions.Control{Input: itemOf(1_000_000 + i), Output: large})
	}
	input := func(text, output string) functions.Control {
		return functions.Control{Input: json.RawMessage(text), Output: json.RawMessage(output)}
	}
	const veryMany = 5000 // items: more than those that are compared by what they say
	overRange := func(j *functions.NewJob) { j.Partition = rangeOf(5) }
	for name, c := range map[string]struct {
		list   []functions.Control
		change func(*functions.NewJob)
		says   string
	}{
		"more than are taken":        {many(submit.MaxControls + 1), items(submit.MaxControls + 1), "1001 controls"},
		"more than there are shards": {many(6), items(5), "6 controls, and the job has 5 shards"},
		"too large":                  {heavy, items(100), "bytes"},
		"neither shard nor input":    {[]functions.Control{{Output: json.RawMessage(`1`)}}, items(5), "exactly one of shard and input"},
		"no answer":                  {[]functions.Control{{Input: itemOf(1)}}, items(5), "exactly one of output and output_sha256"},
		"no digest":                  {[]functions.Control{{Input: itemOf(1), OutputSHA256: "abc"}}, items(5), "no SHA-256"},
		"an input of another shape":  {[]functions.Control{{Input: json.RawMessage(`{"from":7}`), Output: json.RawMessage(`1`)}}, items(5), "an agent could tell it"},
		"an input of a range":        {many(1), overRange, "could be told"},
		"a shard that is not there":  {[]functions.Control{shard(5)}, overRange, "no shard 5"},
		"a shard below the first":    {[]functions.Control{shard(-1)}, overRange, "no shard -1"},
		"a shard twice":              {[]functions.Control{shard(1), shard(1)}, overRange, "twice"},
		"an input twice":             {[]functions.Control{input(`{"from":"100"}`, `5`), input(`{"from": "100"}`, `6`)}, items(5), "control 2: it has the input of control 1"},
		"an input of the job":        {[]functions.Control{input(`{"from":"100"}`, `5`), input(`{"from":"3"}`, `5`)}, items(5), "control 2: its input is that of shard 3 of the job"},
		"one of very many":           {[]functions.Control{input(`{"from":"4999"}`, `5`)}, items(veryMany), "control 1: its input is that of shard 4999 of the job"},
		"an input written otherwise": {[]functions.Control{input(`{"from":"1"}`, `5`)}, asWritten(`{"from":"0"}`, `{ "from": "\u0031" }`), "control 1: its input is that of shard 1 of the job"},
		"a digest for a validator":   {[]functions.Control{{Input: itemOf(1), OutputSHA256: strings.Repeat("a", 64)}}, func(j *functions.NewJob) { items(5)(j); tolerant(`{"relative":0.1}`)(j) }, "only a digest"},
	} {
		want := functions.NewJob{Function: "numbers", Quorum: 2, Controls: c.list}
		c.change(&want)
		_, _, err := w.SubmitJob(t.Context(), w.by, w.project, want, functions.Idempotency{})
		requireCode(t, err, "bad_controls")
		require.ErrorContains(t, err, c.says, name)
	}
	job := w.submit(0, items(submit.MaxControls), controls(many(submit.MaxControls)...))
	require.Equal(t, int64(submit.MaxControls), job.Controls.Total)
	plan, err := w.PlanJob(t.Context(), w.project, functions.NewJob{Function: "numbers", Partition: rangeOf(10), Quorum: 2, Controls: []functions.Control{shard(1)}})
	require.NoError(t, err)
	require.Equal(t, 1, plan.Controls)
}

// asWritten are the inputs of a job, as they are written here.
func asWritten(list ...string) func(*functions.NewJob) {
	return func(j *functions.NewJob) {
		j.Partition, j.Items = partition.Spec{Kind: partition.KindItems}, []byte(strings.Join(list, "\n"))
	}
}
