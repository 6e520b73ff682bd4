package engine_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/tree"
)

// storedTree stores the manifest and the only piece of a small runtime as objects.
func (w *world) storedTree(content string) (manifest, piece string) {
	w.t.Helper()
	m := tree.Manifest{
		Format: tree.Format, Platform: tree.Platform, Python: "3.11.2", Interpreter: "bin/python3.11", Loader: "bin/python3.11", Libraries: []string{}, Packages: []string{},
		Entries: []tree.Entry{{Path: "bin/python3.11", Size: int64(len(content)), Executable: true}},
		Pieces:  []tree.Piece{{Digest: tree.DigestOf([]byte(content)), Size: int64(len(content))}},
	}
	text, err := m.Encode()
	require.NoError(w.t, err)
	return w.storedObject(string(text)), w.storedObject(content)
}

func (w *world) storedObject(content string) string {
	w.t.Helper()
	o, err := w.PutObject(w.t.Context(), w.project, "", strings.NewReader(content))
	require.NoError(w.t, err)
	return o.Digest
}

// TestNativeCodeOfANewPublisherWaitsForAPerson: the first runtime of a key does, and no further one of it; the same tree again is nothing new.
func TestNativeCodeOfANewPublisherWaitsForAPerson(t *testing.T) {
	t.Parallel()
	rules, err := guardian.CompiledDefaults()
	require.NoError(t, err)
	w := newWorld(t, func(o *engine.Options) { o.GuardianRules = rules })
	ctx := t.Context()
	first, _ := w.storedTree("one")
	second, _ := w.storedTree("two")
	add := func(by functions.Principal, name, digest string) error {
		_, _, err := w.AddRuntime(ctx, by, w.project, registry.NewRuntime{Name: name, Digest: digest})
		return err
	}
	err = add(w.by, "one", first)
	requireCode(t, err, "approval_needed")
	require.ErrorContains(t, err, "it brings native code of somebody who has published none in this project yet (rule ask-native-code")
	require.Len(t, w.waiting(), 1)
	requireCode(t, add(w.by, "two", second), "approval_needed")
	w.approve(w.by, w.waiting()[0])
	require.NoError(t, add(w.by, "one", first), "a yes is for one tree")
	require.NoError(t, add(w.by, "two", second), "and then the key is known")

	_, secret, _, err := w.CreateKey(ctx, w.by, w.project, "another", functions.RoleOwner, nil, functions.Idempotency{})
	require.NoError(t, err)
	another, err := w.Authenticate(ctx, secret)
	require.NoError(t, err)
	third, _ := w.storedTree("three")
	require.NoError(t, add(another, "one", first), "this tree is here")
	requireCode(t, add(another, "three", third), "approval_needed")
}

// TestRuntimesGoToAgentsThatCan: a function in a runtime is lent to agents of its platform, which read its objects under their leases, and
// nothing else of the project.
func TestRuntimesGoToAgentsThatCan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	manifest, piece := w.storedTree("program")
	r, created, err := w.AddRuntime(ctx, w.by, w.project, registry.NewRuntime{Name: "numpy", Digest: manifest})
	require.NoError(t, err)
	require.True(t, created)
	require.Equal(t, int64(len("program")), r.Bytes)
	again, created, err := w.AddRuntime(ctx, w.by, w.project, registry.NewRuntime{Name: "numpy", Digest: manifest})
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, r, again)
	w.pushFunction("count", fmt.Sprintf("runtime = %q\n", r.Line()))
	job := w.submit(4, func(j *functions.NewJob) { j.Function = "count" })
	w.settleAll()
	a := w.agent(honest)
	require.Nil(t, a.lease(1), "an agent of before")
	e, err := w.Explain(ctx, w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, "no_runtime", e.Reasons[0].Code)
	wish := func(platform string) {
		t.Helper()
		_, err := w.Heartbeat(ctx, a.id, fleet.Heartbeat{Wishes: &fleet.AgentWishes{Runtimes: platform}})
		require.NoError(t, err)
	}
	wish("linux/arm64")
	require.Nil(t, a.lease(1), "another platform")
	wish(tree.Platform)
	got := a.lease(1)
	require.Equal(t, job.ID, got.Job)
	require.Equal(t, r.Digest, got.Manifest.RuntimeDigest())
	for digest, want := range map[string]string{piece: "program", manifest: "\"format\":1"} {
		in, _, err := w.LeaseRuntime(ctx, a.id, got.ID, digest)
		require.NoError(t, err)
		text, err := io.ReadAll(in)
		require.NoError(t, err)
		require.NoError(t, in.Close())
		require.Contains(t, string(text), want)
	}
	_, _, err = w.LeaseRuntime(ctx, a.id, got.ID, w.storedObject("a secret of the project"))
	requireCode(t, err, "not_found")
	_, _, err = w.LeaseRuntime(ctx, a.id, uuid.New(), piece)
	requireCode(t, err, "not_found")

	requireCode(t, w.DeleteRuntime(ctx, w.by, w.project, r.Digest), "runtime_in_use")
	_, err = w.CancelJob(ctx, w.by, w.project, job.ID)
	require.NoError(t, err)
	w.settleAll()
	require.NoError(t, w.DeleteRuntime(ctx, w.by, w.project, r.Digest))
	_, _, err = w.SubmitJob(ctx, w.by, w.project, functions.NewJob{Function: "count", Partition: rangeOf(1), Quorum: 2}, functions.Idempotency{})
	requireCode(t, err, "no_runtime")
	_, err = w.GetRuntime(ctx, w.project, "numpy")
	requireCode(t, err, "not_found")
}

// TestRuntimesAreRefused for what they are not, and at their limit.
func TestRuntimesAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	manifest, piece := w.storedTree("one")
	add := func(name, digest string) error {
		_, _, err := w.AddRuntime(ctx, w.by, w.project, registry.NewRuntime{Name: name, Digest: digest})
		return err
	}
	missing, err := w.MissingObjects(ctx, w.project, []string{manifest, strings.Repeat("0", 64), piece})
	require.NoError(t, err)
	require.Equal(t, []string{strings.Repeat("0", 64)}, missing)
	_, err = w.MissingObjects(ctx, w.project, []string{"../x"})
	requireCode(t, err, "bad_digest")
	lost := slices.Repeat([]string{strings.Repeat("0", 64)}, registry.MaxAskedObjects)
	missing, err = w.MissingObjects(ctx, w.project, lost)
	require.NoError(t, err)
	require.Equal(t, lost[:1], missing, "each once")
	_, err = w.MissingObjects(ctx, w.project, append(slices.Clone(lost), piece))
	requireCode(t, err, "invalid_request")
	requireCode(t, add("numpy", strings.Repeat("0", 64)), "not_found")
	requireCode(t, add("numpy", piece), "bad_runtime")
	requireCode(t, add("python3", manifest), "bad_name")
	requireCode(t, add("Numpy", manifest), "bad_name")
	lacking := tree.Manifest{
		Format: tree.Format, Platform: tree.Platform, Python: "3.11.2", Interpreter: "p", Loader: "p", Libraries: []string{}, Packages: []string{},
		Entries: []tree.Entry{{Path: "p", Size: 4, Executable: true}}, Pieces: []tree.Piece{{Digest: strings.Repeat("1", 64), Size: 4}},
	}
	text, err := lacking.Encode()
	require.NoError(t, err)
	requireCode(t, add("numpy", w.storedObject(string(text))), "runtime_incomplete")
	lacking.Pieces[0].Digest = piece // it has three bytes
	text, err = lacking.Encode()
	require.NoError(t, err)
	requireCode(t, add("numpy", w.storedObject(string(text))), "bad_runtime")

	_, _, err = w.PushFunction(ctx, w.by, w.project, bytes.NewReader(w.pack("f", fmt.Sprintf("runtime = %q\n", bundle.PinnedRuntime("numpy", manifest)))), nil)
	requireCode(t, err, "no_runtime")
	require.NoError(t, add("numpy", manifest))
	requireCode(t, add("scipy", manifest), "runtime_named")
	_, _, err = w.PushFunction(ctx, w.by, w.project, bytes.NewReader(w.pack("f", fmt.Sprintf("runtime = %q\n", bundle.PinnedRuntime("scipy", manifest)))), nil)
	requireCode(t, err, "no_runtime")

	w.inProject(`insert into runtimes (id, name, digest, platform, python, bytes, files, pieces, created_by)
		select gen_random_uuid(), 'r', lpad(n::text, 64, '0'), platform, python, bytes, files, pieces, created_by from runtimes, generate_series(1, $1) n`, registry.MaxRuntimes-2)
	two, _ := w.storedTree("two")
	require.NoError(t, add("numpy", two), "the last one")
	three, _ := w.storedTree("three")
	requireCode(t, add("numpy", three), "too_many_runtimes")
}

// TestRuntimesAreHeldByJobsThatAreMade: neither is a job made whose runtime was deleted since it was planned, nor is a runtime deleted whose job is
// being made.
func TestRuntimesAreHeldByJobsThatAreMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	manifest, _ := w.storedTree("program")
	publish := func() registry.Runtime {
		t.Helper()
		r, _, err := w.AddRuntime(ctx, w.by, w.project, registry.NewRuntime{Name: "numpy", Digest: manifest})
		require.NoError(t, err)
		return r
	}
	r := publish()
	w.pushFunction("count", fmt.Sprintf("runtime = %q\n", r.Line()))
	submit := func() error {
		_, _, err := w.SubmitJob(ctx, w.by, w.project, functions.NewJob{Function: "count", Partition: rangeOf(1), Quorum: 2}, functions.Idempotency{})
		return err
	}
	// meanwhile has do wait for what a transaction holds, and says how it ends after that.
	meanwhile := func(holds, waits string, do, then func() error) error {
		t.Helper()
		done := make(chan error, 1)
		require.NoError(t, w.store.Project(ctx, w.project, func(tx *store.Tx) error {
			if _, err := tx.Exec(ctx, holds, r.Digest); err != nil {
				return err
			}
			go func() { done <- do() }()
			require.Eventually(t, func() bool {
				return len(done) > 0 || w.controlCount("select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '"+waits+"'") > 0
			}, time.Minute, 10*time.Millisecond)
			return then()
		}))
		return <-done
	}
	nothing := func() error { return nil }
	requireCode(t, meanwhile("delete from runtimes where digest = $1", "%from runtimes%for share%", submit, nothing), "no_runtime")
	publish()
	remove := func() error { return w.DeleteRuntime(ctx, w.by, w.project, r.Digest) }
	requireCode(t, meanwhile("select 1 from runtimes where digest = $1 for share", "%from runtimes%", remove, submit), "runtime_in_use")
}
