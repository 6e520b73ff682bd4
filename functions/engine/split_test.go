package engine_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/jobs"
	jobssql "github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
)

// smallChunk is how many shards a transaction makes where inSmallChunks is given: what a cut loses is the same with two chunks of these as with
// two of 65,536 shards, and takes a hundredth of the time.
const smallChunk = 2 * partition.PageSize

func inSmallChunks(o *engine.Options) { o.SplitPages = smallChunk / partition.PageSize }

// TestASplitGoesOnWhereItWasCutOff makes more shards than two chunks hold.
func TestASplitGoesOnWhereItWasCutOff(t *testing.T) {
	t.Parallel()
	const shards = 200_000
	w := newWorld(t)
	job := w.submit(shards, func(j *functions.NewJob) { j.Quorum = 3 })
	step := w.steps()[0]
	for n := 2; ; n += 3 { // inside the first chunk, between two, inside the second, …
		w.faults.arm(n)
		err := w.step(step)
		if !w.disarm() {
			require.NoError(t, err)
			break
		}
		require.Error(t, err)
		now := w.job(job.ID)
		require.Equal(t, functions.JobSplitting, now.State)
		require.Equal(t, int64(shards), now.Shards.Open, "shards that do not exist yet are open")
		made := w.count("select count(*) from shards")
		require.Equal(t, made, w.count("select split_next from jobs"))
		require.Zero(t, made%(jobs.DefaultSplitPages*partition.PageSize))
		if made > 0 {
			require.Equal(t, int64(0), w.agent(honest).lease(1).Shards[0].Number, "agents start on the first chunk")
		}
	}
	require.NoError(t, w.step(step))
	require.Equal(t, int64(shards), w.count("select count(*) from shards where wanted + lent = 3 and state = 'open'"))
	require.Equal(t, int64(shards-1), w.count("select max(number) from shards"))
	require.Equal(t, partition.Pages(shards), w.count("select count(*) from pages"))
	require.Equal(t, functions.JobRunning, w.job(job.ID).State)
	w.check(job.ID)
}

func TestASplitOfItemsGoesOnAtTheRightByte(t *testing.T) {
	t.Parallel()
	const items = 4*partition.PageSize + 100
	w := newWorld(t, inSmallChunks)
	var text bytes.Buffer
	for i := range items {
		fmt.Fprintf(&text, "%s%d\r\n%s", strings.Repeat(" ", i%5), i, strings.Repeat("\n", i%3))
	}
	job := w.submit(0, func(j *functions.NewJob) {
		j.Partition, j.Items = partition.Spec{Kind: partition.KindItems}, text.Bytes()
	})
	require.Equal(t, int64(items), job.Shards.Total)
	step := w.steps()[0]
	cuts := 0
	for n := 3; ; n += 2 {
		w.faults.arm(n)
		err := w.step(step)
		if !w.disarm() {
			require.NoError(t, err)
			break
		}
		cuts++
	}
	require.Greater(t, cuts, 4)
	require.NoError(t, w.step(step))
	require.Equal(t, int64(items), w.count("select count(*) from shards where convert_from(input, 'UTF8') = number::text"))
	w.check(job.ID)
}

// TestASplitNoticesThatItsItemsWereChanged changes the stored bytes after they were checked.
func TestASplitNoticesThatItsItemsWereChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.submit(0, func(j *functions.NewJob) {
		j.Partition, j.Items = partition.Spec{Kind: partition.KindItems}, []byte("11\n22\n33\n")
	})
	spec := w.jobs()[0].Partition
	path := w.objectPath(spec.Object)
	require.NoError(t, os.Chmod(path, 0o600))
	require.NoError(t, os.WriteFile(path, []byte("11\n22\n34\n"), 0o600))
	require.NoError(t, w.step(w.steps()[0]), "other jobs do not wait for it")
	steps := w.steps()
	require.ErrorContains(t, w.step(steps[len(steps)-1]), "corrupt", "a step of its own tries again")
	require.Zero(t, w.count("select count(*) from shards"))
}

// TestJobsAreSplitInTurns submits large jobs and then a small one: projects have one step each, which makes one chunk at a time, of the job
// that has waited longest.
func TestJobsAreSplitInTurns(t *testing.T) {
	t.Parallel()
	const chunk = smallChunk
	w := newWorld(t, inSmallChunks)
	made := func(job functions.Job) int64 { return w.count("select split_next from jobs where id = $1", job.ID) }
	first, second := w.submit(3*chunk), w.submit(3*chunk)
	steps := w.steps()
	require.Len(t, steps, 1, "a project has one step, however many jobs it has")
	turn := func() {
		t.Helper()
		var later *functions.Snooze
		require.ErrorAs(t, w.turn(steps[0]), &later)
		require.Zero(t, later.For, "others wait for nothing but one chunk")
	}
	turn()
	turn()
	require.Equal(t, []int64{chunk, chunk}, []int64{made(first), made(second)})
	small := w.submit(10)
	require.Len(t, w.steps(), 1)
	turn()
	require.Equal(t, int64(10), made(small), "it has waited longest")
	require.Equal(t, functions.JobRunning, w.job(small.ID).State)
	require.NoError(t, w.step(steps[0]))
	require.Equal(t, []int64{3 * chunk, 3 * chunk}, []int64{made(first), made(second)})
	w.done(steps[0])
	require.Empty(t, w.steps(), "nothing is left to be split")
	third := w.submit(10)
	require.Len(t, w.steps(), 1)
	w.settleAll()
	require.Equal(t, int64(10), made(third))
	for _, job := range []functions.Job{first, second, small, third} {
		w.check(job.ID)
	}
}

// TestOneSplitOfAProjectAtATime holds one in its transaction, while another one is tried.
func TestOneSplitOfAProjectAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(10)
	step := w.steps()[0]
	require.NoError(t, w.store.Project(t.Context(), w.project, func(tx *store.Tx) error {
		_, err := store.Exec(t.Context(), tx, jobssql.TrySplit)
		require.NoError(t, err)
		var later *functions.Snooze
		require.ErrorAs(t, w.turn(step), &later)
		require.Positive(t, later.For)
		return nil
	}))
	require.NoError(t, w.step(step))
	require.Equal(t, int64(10), w.count("select split_next from jobs where id = $1", job.ID))
}

// TestALostSplitIsMadeAnew deletes the step, as an operator can.
func TestALostSplitIsMadeAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(10)
	w.done(w.steps()[0])
	require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
	require.Empty(t, w.steps(), "it may be about to run")
	w.exec("update split_turns set seen_at = now() - interval '1 hour'")
	require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
	w.settleAll()
	require.Equal(t, functions.JobRunning, w.job(job.ID).State)
}

func (w *world) jobs() []functions.Job {
	w.t.Helper()
	return w.family(uuid.Nil)
}

// TestObjectsBelongToTheirProject checks the store of objects that clients see.
func TestObjectsBelongToTheirProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	o, err := w.PutObject(ctx, w.project, "", strings.NewReader("hello"))
	require.NoError(t, err)
	_, err = w.PutObject(ctx, w.project, o.Digest, strings.NewReader("other"))
	requireCode(t, err, "digest_mismatch")
	_, err = w.PutObject(ctx, w.project, "x", strings.NewReader("other"))
	requireCode(t, err, "bad_digest")
	_, err = w.PutObject(ctx, w.project, "", broken{})
	require.ErrorIs(t, err, errBroken)
	other, _ := w.newProject("other")
	_, _, err = w.OpenObject(ctx, other, o.Digest)
	requireCode(t, err, "not_found")
	r, size, err := w.OpenObject(ctx, w.project, o.Digest)
	require.NoError(t, err)
	require.Equal(t, int64(5), size)
	require.NoError(t, r.Close())
}

var errBroken = errors.New("broken off")

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBroken }

// TestASplitOfLinesGoesOnAtTheRightLine reads compressed text.
func TestASplitOfLinesGoesOnAtTheRightLine(t *testing.T) {
	t.Parallel()
	const shards = 2*partition.PageSize + 50
	w := newWorld(t, inSmallChunks)
	var stored bytes.Buffer
	zip := gzip.NewWriter(&stored)
	for i := range 2*shards - 1 {
		fmt.Fprintf(zip, "%d\r\n", i)
	}
	require.NoError(t, zip.Close())
	object, err := w.PutObject(t.Context(), w.project, "", &stored)
	require.NoError(t, err)
	job := w.submit(0, func(j *functions.NewJob) {
		j.Partition = partition.Spec{Kind: partition.KindLines, Lines: partition.Lines{Object: object.Digest, PerShard: 2}}
	})
	require.Equal(t, int64(shards), job.Shards.Total)
	step := w.steps()[0]
	for n := 3; ; n += 4 {
		w.faults.arm(n)
		err := w.step(step)
		if !w.disarm() {
			require.NoError(t, err)
			break
		}
	}
	require.NoError(t, w.step(step))
	require.Equal(t, int64(shards-1), w.count(`select count(*) from shards where convert_from(input, 'UTF8')
		= format('{"first":%s,"lines":["%s","%s"]}', 2 * number, 2 * number, 2 * number + 1)`), "the last has one line")
	w.check(job.ID)

	_, _, err = w.SubmitJob(t.Context(), w.by, w.project, functions.NewJob{Function: "numbers", Partition: partition.Spec{
		Kind: partition.KindLines, Lines: partition.Lines{Object: strings.Repeat("0", 64), PerShard: 2},
	}}, functions.Idempotency{})
	requireCode(t, err, "not_found")
}

func TestAGridIsComputed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var spec partition.Spec
	require.NoError(t, spec.UnmarshalJSON([]byte(`{"kind":"grid","axes":[{"name":"b","values":[1,2]},{"name":"a","values":["x","y"]}]}`)))
	job := w.submit(0, func(j *functions.NewJob) { j.Partition, j.Quorum = spec, 1 })
	w.settleAll()
	require.Equal(t, int64(4), w.count("select count(*) from shards where input is null"))
	var inputs []string
	for _, shard := range w.agent(honest).lease(4).Shards {
		inputs = append(inputs, shard.Input)
	}
	require.Equal(t, []string{`{"a":"x","b":1}`, `{"a":"y","b":1}`, `{"a":"x","b":2}`, `{"a":"y","b":2}`}, inputs)
	require.Equal(t, spec, w.job(job.ID).Partition)
}

// objectPath is where an object of the tests' store lies.
func (w *world) objectPath(digest string) (found string) {
	w.t.Helper()
	require.NoError(w.t, filepath.WalkDir(w.objects, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Base(path) == digest {
			found = path
		}
		return err
	}))
	require.NotEmpty(w.t, found)
	return found
}
