package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// leaves is an agent whose shards leave a file with that content.
func leaves(path, content string) func(string) functions.Result {
	return func(input string) functions.Result {
		r := honest(input)
		r.Files = []functions.File{{Path: path, Size: int64(len(content)), Digest: canonical.Digest([]byte(content))}}
		return r
	}
}

// store stores content under the agent's lease.
func (a *agent) store(lease *functions.Lease, content string) {
	a.w.t.Helper()
	_, err := a.w.PutOutput(a.w.t.Context(), a.id, lease.ID, canonical.Digest([]byte(content)), strings.NewReader(content))
	require.NoError(a.w.t, err)
}

// TestAgentsMustAgreeOnArtifacts has an agent whose output is right and whose file is not.
func TestAgentsMustAgreeOnArtifacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(2, func(j *functions.NewJob) { j.Aggregator = "count" })
	w.settleAll()
	files := map[int]string{0: "a plot", 1: "another plot", 2: "a plot"}
	for i := range 3 {
		a := w.agent(leaves("plots/a.png", files[i]))
		lease := a.lease(2)
		require.NotNil(t, lease)
		if i < 2 { // nobody has stored it
			_, err := a.post(lease.ID, a.results(lease.Shards)...)
			requireCode(t, err, "bad_result")
		}
		a.store(lease, files[i])
		a.report(lease)
		w.settleAll()
	}
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	list, err := w.ListArtifacts(t.Context(), w.project, job.ID, functions.ListPage{Limit: 1})
	require.NoError(t, err)
	require.Len(t, list, 1)
	want := functions.File{Path: "plots/a.png", Size: 6, Digest: canonical.Digest([]byte("a plot"))}
	require.Equal(t, dispatch.ShardArtifacts{Shard: 0, Files: []functions.File{want}}, list[0])
	list, err = w.ListArtifacts(t.Context(), w.project, job.ID, functions.ListPage{Limit: 5, After: "0"})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, int64(1), list[0].Shard)
	w.check(job.ID)
}

func TestWhatIsNoArtifact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushFunction("small", "[limits]\nfiles = 2\nartifact_bytes = 10\n")
	w.submit(1, func(j *functions.NewJob) { j.Function, j.Quorum = "small", 1 })
	w.settleAll()
	a := w.agent(honest)
	lease := a.lease(1)
	a.store(lease, "12345")
	five := canonical.Digest([]byte("12345"))
	long := strings.Repeat("x", 120) + "/" + strings.Repeat("x", result.MaxArtifactPath-121)
	many := make([]functions.File, result.MaxFilesListed+1)
	for i := range many {
		many[i] = functions.File{Path: strings.Repeat("x", i+1), Digest: five}
	}
	for name, files := range map[string][]functions.File{
		"absolute": {{Path: "/a", Size: 5, Digest: five}}, "above": {{Path: "../a", Size: 5, Digest: five}}, "through": {{Path: "a/../../b", Size: 5, Digest: five}},
		"not clean": {{Path: "a//b", Size: 5, Digest: five}}, "empty": {{Size: 5, Digest: five}}, "folder": {{Path: ".", Size: 5, Digest: five}},
		"control": {{Path: "a\nb", Size: 5, Digest: five}}, "long": {{Path: long + "x", Size: 5, Digest: five}},
		"twice": {{Path: "a", Size: 5, Digest: five}, {Path: "a", Size: 5, Digest: five}}, "negative": {{Path: "a", Size: -1, Digest: five}},
		"no digest": {{Path: "a", Size: 5}}, "other size": {{Path: "a", Size: 4, Digest: five}}, "not stored": {{Path: "a", Size: 1, Digest: canonical.Digest([]byte("x"))}},
		"too many listed": many,
		"three files":     {{Path: "a", Size: 0, Digest: five}, {Path: "b", Size: 5, Digest: five}, {Path: "c", Size: 5, Digest: five}},
		"eleven bytes":    {{Path: "a", Size: 5, Digest: five}, {Path: "b", Size: 6, Digest: five}},
		"overflow":        {{Path: "a", Size: 1 << 62, Digest: five}, {Path: "b", Size: 1 << 62, Digest: five}},
	} {
		r := a.results(lease.Shards)[0]
		r.Files = files
		_, err := a.post(lease.ID, r)
		requireCode(t, err, "bad_result")
		require.NotEmpty(t, name)
	}
	failed := raised("ValueError", "no")
	failed.Shard, failed.Files = 0, []functions.File{{Path: "a", Size: 5, Digest: five}}
	_, err := a.post(lease.ID, failed)
	requireCode(t, err, "bad_result")

	r := a.results(lease.Shards)[0]
	r.Files = []functions.File{{Path: long, Size: 5, Digest: five}, {Path: "dir/ü", Size: 5, Digest: five}}
	_, err = a.post(lease.ID, r)
	require.NoError(t, err, "at the limits")
}
