package engine_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/registry"
	registrysql "github.com/ostraka/ostraka/functions/registry/sql"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/testenv"
)

// age lets a day pass for all objects.
func (w *world) ageObjects() {
	w.t.Helper()
	_, err := w.store.Pool.Exec(w.t.Context(), "update ostraka.objects set look_at = now() - interval '1 second'")
	require.NoError(w.t, err)
}

func (w *world) collect() {
	w.t.Helper()
	require.NoError(w.t, w.Collect(w.t.Context(), stepargs.CollectArgs{}))
}

func (w *world) put(content string) string {
	w.t.Helper()
	o, err := w.PutObject(w.t.Context(), w.project, "", strings.NewReader(content))
	require.NoError(w.t, err)
	return o.Digest
}

// overStores runs a test with objects in a folder and in S3.
func overStores(t *testing.T, test func(t *testing.T, w *world, objects *blob.Store)) {
	t.Helper()
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		test(t, w, w.blobs)
	})
	t.Run("S3", func(t *testing.T) {
		t.Parallel()
		objects, err := blob.OpenS3(t.Context(), testenv.MinIO(t))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, objects.Close()) })
		test(t, newWorld(t, func(o *engine.Options) { o.Blobs = objects }), objects)
	})
}

func TestWhatNothingRefersToIsCollectedAfterADay(t *testing.T) {
	t.Parallel()
	overStores(t, func(t *testing.T, w *world, objects *blob.Store) {
		t.Helper()
		ctx := t.Context()
		// What is referred to: a bundle, a built-in module, inputs, an output and an artifact, a named file, what a name meant when a job read it,
		// and what a rule names.
		large := `"` + strings.Repeat("x", result.MaxInlineOutput) + `"`
		job := w.submit(0, func(j *functions.NewJob) {
			j.Partition, j.Items, j.Quorum, j.Aggregator = partition.Spec{Kind: partition.KindItems}, []byte("1\n"), 1, "count"
		})
		w.settleAll()
		a := w.agent(func(string) functions.Result {
			return functions.Result{
				Status: "ok", OutputDigest: canonical.Digest([]byte(large)), OutputBytes: int64(len(large)),
				Files: []functions.File{{Path: "plot.png", Size: 4, Digest: canonical.Digest([]byte("plot"))}},
			}
		})
		lease := a.lease(1)
		a.store(lease, large)
		a.store(lease, "plot")
		a.store(lease, "of an attempt that was given up")
		a.report(lease)
		w.settleAll()
		require.Equal(t, functions.JobFinished, w.job(job.ID).State)
		kept := []string{canonical.Digest([]byte("1\n")), canonical.Digest([]byte(large)), canonical.Digest([]byte("plot"))}
		kept = append(kept, w.putFile("in/read", "read").Digest, w.putFile("stays", "stays").Digest)
		w.submit(0, func(j *functions.NewJob) {
			j.Partition = partition.Spec{Kind: partition.KindObjects, Objects: partition.Objects{Prefix: "in/", PerShard: 1}}
		})
		w.ageObjects()
		unused := w.put("never used")
		w.ageObjects()
		w.collect()
		_, err := objects.Stat(ctx, w.project, unused)
		require.NoError(t, err, "nothing is collected before it is known what a job over files reads")
		w.settleAll()
		w.putFile("in/read", "another")
		kept = append(kept, canonical.Digest([]byte("another")))
		replaced := w.putFile("changes", "before").Digest
		kept = append(kept, w.putFile("changes", "after").Digest)
		removed := w.putFile("removed", "removed").Digest
		require.NoError(t, w.DeleteFile(ctx, w.by, w.project, "removed", registry.FileCondition{}))

		before := *w.quota(functions.QuotaObjectBytes).Used
		w.collect()
		_, err = objects.Stat(ctx, w.project, replaced)
		require.NoError(t, err, "it stays for a day")
		w.ageObjects()
		w.collect()
		gone := []string{unused, replaced, removed, canonical.Digest([]byte("of an attempt that was given up"))}
		for _, digest := range gone {
			_, err := objects.Stat(ctx, w.project, digest)
			require.ErrorIs(t, err, blob.ErrNotFound)
		}
		for _, digest := range kept {
			_, err := objects.Stat(ctx, w.project, digest)
			require.NoError(t, err)
		}
		functionsOf, err := w.ListFunctions(ctx, w.project, functions.ListPage{Limit: 10})
		require.NoError(t, err)
		_, err = objects.Stat(ctx, w.project, functionsOf[0].Digest)
		require.NoError(t, err)
		require.Equal(t, before-int64(len("never used"+"before"+"removed")), *w.quota(functions.QuotaObjectBytes).Used)
		require.Equal(t, w.controlCount("select sum(size) from objects"), *w.quota(functions.QuotaObjectBytes).Used)
		removedBytes := "select coalesce(sum((detail ->> 'bytes')::bigint), 0)::bigint from audit where action = 'objects.collect'"
		require.Equal(t, before-*w.quota(functions.QuotaObjectBytes).Used, w.count(removedBytes))
		require.Equal(t, int64(len(gone)), w.count("select sum((detail ->> 'objects')::bigint)::bigint from audit where action = 'objects.collect'"))
		w.ageObjects()
		w.collect()
		require.Equal(t, before-*w.quota(functions.QuotaObjectBytes).Used, w.count(removedBytes), "a second run finds nothing")
	})
}

// TestWhoeverStoresAnObjectWins has the same bytes stored, and asked for, while the collector is about to remove them.
func TestWhoeverStoresAnObjectWins(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(w *world, digest string) error{
		"stored again": func(w *world, _ string) error {
			_, err := w.PutFile(w.t.Context(), w.by, w.project, "file", "", strings.NewReader("content"), registry.FileCondition{})
			return err
		},
		"named": func(w *world, digest string) error {
			_, err := w.NameObject(w.t.Context(), w.by, w.project, "file", digest, registry.FileCondition{})
			return err
		},
		"granted as an upload": func(w *world, digest string) error {
			u, _, err := w.CreateUpload(w.t.Context(), w.by, w.project, digest, int64(len("content")), functions.Idempotency{})
			if err != nil || u.Stored {
				return errors.Join(err, w.named(digest))
			}
			if _, err := w.ReceiveUpload(w.t.Context(), w.project, u.ID, strings.NewReader("content")); err != nil {
				return err
			}
			if _, err := w.CompleteUpload(w.t.Context(), w.project, u.ID); err != nil {
				return err
			}
			return w.named(digest)
		},
		"left by an agent": func(w *world, digest string) error {
			a := w.agent(func(input string) functions.Result {
				r := honest(input)
				r.Files = []functions.File{{Path: "file", Size: int64(len("content")), Digest: digest}}
				return r
			})
			lease := a.lease(1)
			if err := a.put(lease, "content"); err != nil {
				return err
			}
			_, err := a.post(lease.ID, a.results(lease.Shards)...)
			return err
		},
	} {
		for _, held := range []store.Query{registrysql.LockObject, registrysql.ObjectIsUsed, registrysql.ForgetObject} {
			t.Run(name+" before "+held.Name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.submit(1, func(j *functions.NewJob) { j.Quorum = 1 })
				w.settleAll()
				digest := w.put("content")
				w.sql("update ostraka.objects set look_at = now() - interval '1 second' where digest = $1", digest) // and nothing else is looked at
				reached, release := w.holdUp(held)
				var done sync.WaitGroup
				done.Go(w.collect)
				<-reached
				var err error
				ended := make(chan struct{})
				done.Go(func() {
					defer close(ended)
					err = meanwhile(w, digest)
				})
				if held.Name == registrysql.LockObject.Name {
					<-ended // nobody has a lock yet
				} else {
					testenv.Eventually(t, func() bool {
						return w.controlCount("select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()") > 0
					}, "it waits for the collector")
				}
				release()
				done.Wait()
				if err != nil {
					requireCode(t, err, "not_found")
					require.Zero(t, w.count("select count(*) from files"), "what is gone is not named")
					return
				}
				content, err := w.blobs.Get(t.Context(), w.project, digest, 100)
				require.NoError(t, err, "what is named is there")
				require.Equal(t, "content", string(content))
				require.Equal(t, int64(1), w.controlCount("select count(*) from objects where digest = $1", digest))
				w.ageObjects()
				w.collect()
				_, err = w.blobs.Stat(t.Context(), w.project, digest)
				require.NoError(t, err)
			})
		}
	}
}

// TestJobsOfBeforeDoNotKeepEverything: what they read is kept as of jobs since, and the rest is collected.
func TestJobsOfBeforeDoNotKeepEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two, three := w.putFile("in/a", "a").Digest, w.putFile("in/b", "b").Digest, w.putFile("in/c", "c").Digest
	for _, each := range []int64{1, 2} { // a file by itself, and a list
		w.submit(0, func(j *functions.NewJob) {
			j.Partition = partition.Spec{Kind: partition.KindObjects, Objects: partition.Objects{Prefix: "in/", PerShard: each}}
		})
	}
	w.settleAll()
	for _, name := range []string{"in/a", "in/b", "in/c"} {
		require.NoError(t, w.DeleteFile(t.Context(), w.by, w.project, name, registry.FileCondition{}))
	}
	unused := w.put("unused")
	stored := func(digest string) bool {
		_, err := w.blobs.Stat(t.Context(), w.project, digest)
		require.True(t, err == nil || errors.Is(err, blob.ErrNotFound), err)
		return err == nil
	}
	w.sql("update " + w.schema() + ".jobs set inputs_kept = false")
	w.sql("delete from " + w.schema() + ".kept_objects")
	w.ageObjects()
	w.collect()
	require.True(t, stored(unused), "nothing of such a project is collected")

	text, err := os.ReadFile("../../migrations/project/032_files_of_before.sql")
	require.NoError(t, err)
	require.NoError(t, w.store.Project(t.Context(), w.project, func(tx *store.Tx) error {
		_, err := tx.Exec(t.Context(), string(text))
		return err
	}))
	w.ageObjects()
	w.collect()
	require.False(t, stored(unused))
	for _, digest := range []string{one, two, three} {
		require.True(t, stored(digest), "a job reads it")
	}
}

func (w *world) named(digest string) error {
	_, err := w.NameObject(w.t.Context(), w.by, w.project, "file", digest, registry.FileCondition{})
	return err
}

func TestACollectionGoesOnWhereItWasCutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kept := w.putFile("kept", "kept").Digest
	for n := 1; ; n++ {
		unused := []string{w.put("a"), w.put("b"), w.put("c")}
		w.ageObjects()
		w.faults.arm(n)
		_ = w.Collect(t.Context(), stepargs.CollectArgs{})
		cut := w.disarm()
		for _, digest := range unused {
			testenv.Eventually(t, func() bool { // Postgres may not know yet that a run was cut off, which then still has its lock
				w.collect()
				_, err := w.blobs.Stat(t.Context(), w.project, digest)
				return errors.Is(err, blob.ErrNotFound)
			}, "the next run goes on")
		}
		_, err := w.blobs.Stat(t.Context(), w.project, kept)
		require.NoError(t, err)
		require.Equal(t, w.controlCount("select sum(size) from objects"), *w.quota(functions.QuotaObjectBytes).Used)
		if !cut {
			return
		}
	}
}

func TestBytesOfObjectsAtTheLimitAndOnePastIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	used := *w.quota(functions.QuotaObjectBytes).Used
	require.Positive(t, used, "the bundle")
	w.setQuota(functions.QuotaObjectBytes, used+10)
	put := func(content string) error {
		_, err := w.PutObject(t.Context(), w.project, "", strings.NewReader(content))
		return err
	}
	require.NoError(t, put("123456"))
	require.NoError(t, put("123456"), "the same object once more is none")
	requireQuota(t, put("12345"), functions.QuotaObjectBytes, used+10, used+6)
	_, err := w.blobs.Stat(t.Context(), w.project, canonical.Digest([]byte("12345")))
	require.ErrorIs(t, err, blob.ErrNotFound, "nothing of it is stored")
	_, _, err = w.CreateUpload(t.Context(), w.by, w.project, quotaDigest("12345"), 5, functions.Idempotency{})
	requireQuota(t, err, functions.QuotaObjectBytes, used+10, used+6)
	require.Zero(t, *w.quota(functions.QuotaOpenUploads).Used)

	var done sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		done.Go(func() { errs[i] = put(strings.Repeat(string(rune('a'+i)), 4)) })
	}
	done.Wait()
	passed := 0
	for _, err := range errs {
		if err == nil {
			passed++
			continue
		}
		requireQuota(t, err, functions.QuotaObjectBytes, used+10, used+10)
	}
	require.Equal(t, 1, passed, "there was room for one")
	require.Equal(t, used+10, *w.quota(functions.QuotaObjectBytes).Used)
	w.setQuota(functions.QuotaObjectBytes, used+11)
	require.NoError(t, put("1"))

	w.setQuota(functions.QuotaObjectBytes, used+13)
	_, _, err = w.CreateUpload(t.Context(), w.by, w.project, quotaDigest("xyz"), 1, functions.Idempotency{})
	require.NoError(t, err)
	requireQuota(t, put("xyz"), functions.QuotaObjectBytes, used+13, used+12)
	w.setQuota(functions.QuotaObjectBytes, used+14)
	require.NoError(t, put("xyz"), "what was announced as smaller counts as what it is")
	require.Equal(t, used+14, *w.quota(functions.QuotaObjectBytes).Used)
	content, err := w.blobs.Get(t.Context(), w.project, canonical.Digest([]byte("123456")), 100)
	require.NoError(t, err)
	require.True(t, bytes.Equal([]byte("123456"), content))
}

// An agent cannot use up what the project may store.
func TestWhatAgentsStoreDoesNotCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.submit(2)
	w.settleAll()
	a := w.agent(honest)
	lease := a.lease(1)
	used := *w.quota(functions.QuotaObjectBytes).Used
	w.setQuota(functions.QuotaObjectBytes, used)
	content := strings.Repeat("1", 100)
	_, err := w.PutOutput(t.Context(), a.id, lease.ID, quotaDigest(content), strings.NewReader(content))
	require.NoError(t, err)
	require.Equal(t, used, *w.quota(functions.QuotaObjectBytes).Used)
	_, err = w.PutObject(t.Context(), w.project, "", strings.NewReader(content))
	requireQuota(t, err, functions.QuotaObjectBytes, used, used)
	w.setQuota(functions.QuotaObjectBytes, used+100)
	_, err = w.PutObject(t.Context(), w.project, "", strings.NewReader(content))
	require.NoError(t, err, "it counts once somebody of the project has stored it")
	require.Equal(t, used+100, *w.quota(functions.QuotaObjectBytes).Used)
}
