package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/inputfile"
	"github.com/ostraka/ostraka/runtime/recheck"
)

func (w *world) putFile(name, content string) registry.NamedFile {
	w.t.Helper()
	f, err := w.PutFile(w.t.Context(), w.by, w.project, name, "", strings.NewReader(content), registry.FileCondition{})
	require.NoError(w.t, err)
	return f
}

func TestAFileIsANameForAnObject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	first := w.putFile("texts/a.txt", "one")
	require.Equal(t, canonical.Digest([]byte("one")), first.Digest)
	require.Equal(t, int64(3), first.Size)
	require.Equal(t, w.by.Actor(), first.UpdatedBy)
	second := w.putFile("texts/a.txt", "two!")
	require.Equal(t, first.CreatedAt, second.CreatedAt)
	got, err := w.GetFile(ctx, w.project, "texts/a.txt")
	require.NoError(t, err)
	require.Equal(t, second, got)
	r, _, err := w.OpenObject(ctx, w.project, first.Digest)
	require.NoError(t, err, "what the name meant before stays")
	require.NoError(t, r.Close())

	_, err = w.PutFile(ctx, w.by, w.project, "texts/a.txt", first.Digest, strings.NewReader("evil"), registry.FileCondition{})
	requireCode(t, err, "digest_mismatch")
	for _, when := range []registry.FileCondition{{New: true}, {Digest: first.Digest}} {
		_, err = w.NameObject(ctx, w.by, w.project, "texts/a.txt", first.Digest, when)
		requireCode(t, err, "file_changed")
		require.ErrorIs(t, err, registry.ErrFileChanged)
	}
	_, err = w.NameObject(ctx, w.by, w.project, "new", first.Digest, registry.FileCondition{Digest: first.Digest})
	requireCode(t, err, "file_changed")
	_, err = w.NameObject(ctx, w.by, w.project, "new", first.Digest, registry.FileCondition{New: true})
	require.NoError(t, err)
	_, err = w.NameObject(ctx, w.by, w.project, "texts/a.txt", first.Digest, registry.FileCondition{Digest: second.Digest})
	require.NoError(t, err)
	_, err = w.NameObject(ctx, w.by, w.project, "new", strings.Repeat("0", 64), registry.FileCondition{})
	requireCode(t, err, "not_found")
	_, err = w.NameObject(ctx, w.by, w.project, "../new", first.Digest, registry.FileCondition{})
	requireCode(t, err, "bad_file_name")

	requireCode(t, w.DeleteFile(ctx, w.by, w.project, "texts/a.txt", registry.FileCondition{Digest: second.Digest}), "file_changed")
	require.NoError(t, w.DeleteFile(ctx, w.by, w.project, "texts/a.txt", registry.FileCondition{}))
	requireCode(t, w.DeleteFile(ctx, w.by, w.project, "texts/a.txt", registry.FileCondition{}), "not_found")
	_, err = w.GetFile(ctx, w.project, "texts/a.txt")
	requireCode(t, err, "not_found")

	other, _ := w.newProject("other")
	_, err = w.GetFile(ctx, other, "new")
	requireCode(t, err, "not_found")
	_, err = w.NameObject(ctx, w.by, other, "stolen", first.Digest, registry.FileCondition{})
	requireCode(t, err, "not_found")
}

func TestFilesAreListedByPrefix(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"a", "a/1", "a/10", "a/2", "a0", "aé", "b/z", "B/z", "a/\U0001F600"} {
		w.putFile(name, "x")
	}
	list := func(prefix, after string, most int) (names []string) {
		files, err := w.ListFiles(t.Context(), w.project, prefix, functions.ListPage{After: after, Limit: most})
		require.NoError(t, err)
		for _, f := range files {
			names = append(names, f.Name)
		}
		return names
	}
	require.Equal(t, []string{"B/z", "a", "a/1", "a/10", "a/2", "a/\U0001F600", "a0", "aé", "b/z"}, list("", "", 100))
	require.Equal(t, []string{"a/1", "a/10", "a/2", "a/\U0001F600"}, list("a/", "", 100))
	require.Equal(t, []string{"a/2", "a/\U0001F600"}, list("a/", "a/10", 100))
	require.Equal(t, []string{"a/1"}, list("a/", "a", 1))
	require.Empty(t, list("c", "", 100))
	require.Empty(t, list("%", "", 100))
}

func overPrefix(prefix string, perShard int64) func(*functions.NewJob) {
	return func(j *functions.NewJob) {
		j.Partition = partition.Spec{Kind: partition.KindObjects, Objects: partition.Objects{Prefix: prefix, PerShard: perShard}}
	}
}

// A job reads what the names meant when it was submitted.
func TestAJobOverAPrefixIsASnapshot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.putFile("in/1", "one"), w.putFile("in/2", "two")
	w.putFile("other", "x")
	job := w.submit(0, overPrefix("in/", 0))
	require.Equal(t, int64(2), job.Shards.Total)
	require.NotEmpty(t, job.Partition.Objects.Manifest)
	w.putFile("in/1", "changed")
	w.putFile("in/3", "more")
	require.NoError(t, w.DeleteFile(t.Context(), w.by, w.project, "in/2", registry.FileCondition{}))
	require.NoError(t, w.step(w.steps()[0]))

	a := w.agent(honest)
	lease := a.lease(2)
	require.True(t, lease.Files)
	for i, want := range []registry.NamedFile{one, two} {
		files, err := inputfile.Parse([]byte(lease.Shards[i].Input))
		require.NoError(t, err)
		require.Equal(t, []inputfile.File{{Digest: want.Digest, Name: want.Name, Path: want.Name, Size: 3}}, files)
	}
	read := func(agent, lease uuid.UUID, shard int64, digest string) (string, error) {
		r, _, err := w.LeaseFile(t.Context(), agent, lease, shard, digest)
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(r)
		return string(text), errors.Join(err, r.Close())
	}
	text, err := read(a.id, lease.ID, 1, two.Digest)
	require.NoError(t, err)
	require.Equal(t, "two", text)
	// Nothing else of the project can be had.
	b := w.agent(honest)
	for name, try := range map[string]func() error{
		"a file of another shard": func() error { _, err := read(a.id, lease.ID, 0, two.Digest); return err },
		"any object":              func() error { _, err := read(a.id, lease.ID, 0, w.putFile("x", "secret").Digest); return err },
		"no such shard":           func() error { _, err := read(a.id, lease.ID, 7, two.Digest); return err },
		"another agent":           func() error { _, err := read(b.id, lease.ID, 1, two.Digest); return err },
		"no digest":               func() error { _, err := read(a.id, lease.ID, 1, "../x"); return err },
	} {
		requireCode(t, try(), "not_found")
		require.Error(t, try(), name)
	}
	require.NoError(t, w.ReturnLease(t.Context(), a.id, lease.ID))
	_, err = read(a.id, lease.ID, 1, two.Digest)
	require.ErrorIs(t, err, functions.ErrLeaseEnded)
}

// What only looks like a list of files is none.
func TestItemsOpenNoFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	secret := w.putFile("secret", "secret")
	item, err := inputfile.File{Digest: secret.Digest, Name: "a", Path: "a", Size: 6}.Append(nil)
	require.NoError(t, err)
	w.submit(0, func(j *functions.NewJob) {
		j.Partition, j.Items = partition.Spec{Kind: partition.KindItems}, item
	})
	require.NoError(t, w.step(w.steps()[0]))
	a := w.agent(honest)
	lease := a.lease(1)
	require.False(t, lease.Files)
	_, _, err = w.LeaseFile(t.Context(), a.id, lease.ID, 0, secret.Digest)
	requireCode(t, err, "not_found")
}

func TestJobsOverManifests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	named := w.putFile("dir/a", "aaaa")
	loose, err := w.PutObject(t.Context(), w.project, "", strings.NewReader("loose"))
	require.NoError(t, err)
	manifest := func(text string) string {
		o, err := w.PutObject(t.Context(), w.project, "", strings.NewReader(text))
		require.NoError(t, err)
		return o.Digest
	}
	over := func(text string, perShard int64) func(*functions.NewJob) {
		digest := manifest(text)
		return func(j *functions.NewJob) {
			j.Partition = partition.Spec{Kind: partition.KindObjects, Objects: partition.Objects{Manifest: digest, PerShard: perShard}}
		}
	}
	job := w.submit(0, over(fmt.Sprintf("\"dir/a\"\n{\"digest\":%q}\n{\"name\":\"b\",\"digest\":%q,\"size\":7}\n{\"name\":\"dir/a\"}", loose.Digest, named.Digest), 2))
	require.Equal(t, int64(2), job.Shards.Total)
	require.NoError(t, w.step(w.steps()[0]))
	lease := w.agent(honest).lease(2)
	var got []inputfile.File
	for _, shard := range lease.Shards {
		files, err := inputfile.Parse([]byte(shard.Input))
		require.NoError(t, err)
		got = append(got, files...)
	}
	require.Equal(t, []inputfile.File{
		{Digest: named.Digest, Name: "dir/a", Path: "dir/a", Size: 4},
		{Digest: loose.Digest, Name: loose.Digest, Path: loose.Digest, Size: 5},
		{Digest: named.Digest, Name: "b", Path: "b", Size: 4},
		{Digest: named.Digest, Name: "dir/a", Path: "dir/a", Size: 4},
	}, got)

	refused := func(change func(*functions.NewJob), code, says string) {
		t.Helper()
		want := functions.NewJob{Function: "numbers", Quorum: 2}
		change(&want)
		_, _, err := w.SubmitJob(t.Context(), w.by, w.project, want, functions.Idempotency{})
		requireCode(t, err, code)
		require.ErrorContains(t, err, says)
	}
	refused(overPrefix("nothing/", 0), "items_empty", `no file has a name that begins with "nothing/"`)
	refused(over("\"dir/a\"\n\"dir/b\"", 0), "file_missing", `entry 2 of the manifest: there is no file "dir/b"`)
	refused(over(`{"digest":"`+strings.Repeat("0", 64)+`"}`, 0), "file_missing", "entry 1")
	refused(over("\"dir/a\"\nnonsense", 0), "item_syntax", "line 2")
	refused(over("\"dir/a\"\n\"dir/a\"", 2), "shard_files", "taken twice")
	refused(over("", 0), "items_empty", "")
	refused(func(j *functions.NewJob) {
		j.Partition = partition.Spec{Kind: partition.KindObjects, Objects: partition.Objects{Manifest: strings.Repeat("0", 64)}}
	}, "not_found", "object")
}

// The manifest of a large prefix is streamed, and a split that is cut off at any statement goes on at the right file.
func TestASplitOfObjectsGoesOnAtTheRightFile(t *testing.T) {
	t.Parallel()
	const shards = 2*partition.PageSize + 50
	w := newWorld(t, inSmallChunks)
	o, err := w.PutObject(t.Context(), w.project, "", bytes.NewReader([]byte("x")))
	require.NoError(t, err)
	require.NoError(t, w.store.Project(t.Context(), w.project, func(tx *store.Tx) error {
		_, err := tx.Exec(t.Context(), "insert into files (name, digest, size, updated_by) select 'f/' || to_char(n, 'FM0000000'), $1, 1, 'test' from generate_series(0, $2) n", o.Digest, 2*shards-2)
		return err
	}))
	job := w.submit(0, overPrefix("f/", 2))
	require.Equal(t, int64(shards), job.Shards.Total)
	step := w.steps()[0]
	cuts := 0
	for n := 2; ; n++ {
		w.faults.arm(n)
		err := w.step(step)
		if !w.disarm() {
			require.NoError(t, err)
			break
		}
		require.Error(t, err)
		cuts++
	}
	require.Greater(t, cuts, 4)
	require.NoError(t, w.step(step))
	require.Equal(t, int64(shards), w.count(`select count(*) from shards where convert_from(input, 'UTF8')::jsonb -> 0 ->> 'name' = 'f/' || to_char(2 * number, 'FM0000000')`))
	require.Equal(t, int64(shards-1), w.count(`select count(*) from shards where convert_from(input, 'UTF8')::jsonb -> 1 ->> 'name' = 'f/' || to_char(2 * number + 1, 'FM0000000')`))
	w.check(job.ID)
}

// readingCourt reads the files of what it executes, as a sandbox does.
type readingCourt struct {
	*court
	read map[string]string
}

func (c *readingCourt) Recheck(ctx context.Context, batch recheck.Batch) ([]harness.Result, error) {
	for _, shard := range batch.Shards {
		for _, f := range shard.Files {
			r, err := batch.Open(ctx, f)
			if err != nil {
				return nil, err
			}
			text, err := io.ReadAll(r)
			if err := errors.Join(err, r.Close()); err != nil {
				return nil, err
			}
			c.set(func(*court) { c.read[f.Path] = string(text) })
		}
	}
	return c.court.Recheck(ctx, batch)
}

// The server executes shards with the same files as agents.
func TestRechecksReadTheFiles(t *testing.T) {
	t.Parallel()
	c := &readingCourt{court: &court{}, read: map[string]string{}}
	w := newWorld(t, withCourt(c.court), func(o *engine.Options) { o.Rechecker = c })
	w.opened()
	w.putFile("in/1", "one")
	w.putFile("in/2", "two")
	job := w.submit(0, overPrefix("in/", 0), func(j *functions.NewJob) { j.Quorum, j.Recheck = 0, "all" })
	w.drain(func(s waiting) { require.NoError(t, w.step(s)) })
	require.Equal(t, 2, w.agent(func(string) functions.Result { return honest("1") }).do(2))
	w.drain(func(s waiting) { require.NoError(t, w.step(s)) })
	require.Equal(t, map[string]string{"in/1": "one", "in/2": "two"}, c.read)
	require.Equal(t, int64(2), w.job(job.ID).Shards.Total)
}
