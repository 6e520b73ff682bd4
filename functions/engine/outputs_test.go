package engine_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// put stores an output under a lease.
func (a *agent) put(lease *functions.Lease, content string) error {
	_, err := a.w.PutOutput(a.w.t.Context(), a.id, lease.ID, canonical.Digest([]byte(content)), strings.NewReader(content))
	return err
}

func TestOutputsAreForOpenLeases(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.submit(4, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a := w.agent(honest)
	lease := a.lease(1)
	require.NoError(t, a.put(lease, "1"))
	require.NoError(t, w.ReturnLease(t.Context(), a.id, lease.ID))
	require.ErrorIs(t, a.put(lease, "2"), functions.ErrLeaseEnded)
	_, err := w.blobs.Stat(t.Context(), w.project, canonical.Digest([]byte("2")))
	require.ErrorIs(t, err, blob.ErrNotFound, "nothing is stored")
	done := a.lease(1)
	a.report(done)
	require.ErrorIs(t, a.put(done, "3"), functions.ErrLeaseEnded)
	other := w.agent(honest)
	requireCode(t, other.put(lease, "4"), "not_found")
}

func TestOutputsOfALeaseAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.submit(4, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a := w.agent(honest)
	lease := a.lease(2)
	var limits bundle.Limits
	require.NoError(t, w.store.Project(t.Context(), w.project, func(tx *store.Tx) error {
		return tx.QueryRow(t.Context(), "select manifest -> 'limits' from function_versions").Scan(&limits)
	}))
	objects := 2 * dispatch.UploadTries * (1 + limits.Files)
	bytes := 2 * dispatch.UploadTries * (limits.OutputBytes + limits.ArtifactBytes)
	stored := func(objects, bytes int64) {
		w.sql("update "+migrations.ProjectSchema(w.project)+".leases set uploads = $1, upload_bytes = $2", objects, bytes)
	}
	stored(objects-1, 0)
	require.NoError(t, a.put(lease, "1"), "the last")
	requireCode(t, a.put(lease, "2"), "too_many_outputs")
	stored(0, bytes-1)
	require.NoError(t, a.put(lease, "3"), "the last byte")
	require.Equal(t, bytes, w.count("select upload_bytes from leases"))
	requireCode(t, a.put(lease, "4"), "too_many_outputs")
	stored(0, bytes-1)
	requireCode(t, a.put(lease, "55"), "object_too_large")
	require.Equal(t, bytes-1, w.count("select upload_bytes from leases"))
	stored(0, 0)
	a.report(lease)
}

// TestWhatWasNotStoredUsesNothingUp: bytes that are not what their digest says, that are too many, and that stop coming.
func TestWhatWasNotStoredUsesNothingUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.submit(4, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a := w.agent(honest)
	lease := a.lease(1)
	cut, hangUp := context.WithCancel(t.Context())
	for _, refused := range []struct {
		ctx     context.Context
		content io.Reader
	}{
		{t.Context(), strings.NewReader("something else")},
		{t.Context(), io.LimitReader(zeros{}, 1<<30)},
		{cut, io.MultiReader(strings.NewReader("1"), readerFunc(func([]byte) (int, error) {
			hangUp()
			return 0, io.ErrUnexpectedEOF
		}))},
	} {
		_, err := w.PutOutput(refused.ctx, a.id, lease.ID, canonical.Digest([]byte("1")), refused.content)
		require.Error(t, err)
		require.Zero(t, w.count("select uploads from leases"), "it is as if it had not been tried: %v", err)
	}
	require.NoError(t, a.put(lease, "1"))
	require.Equal(t, int64(1), w.count("select uploads from leases"))
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// TestNamesOfArtifactsAreReadAlikeEverywhere has those that would be something else on another system, or look like it.
func TestNamesOfArtifactsAreReadAlikeEverywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.submit(1, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a := w.agent(leaves("x", "x"))
	lease := a.lease(1)
	a.store(lease, "x")
	for _, name := range []string{
		`..\..\escape`, `C:\escape`, "CON", "aux.txt", " ", "a ", "a.", "<script>", "a\u202eb", "a\u2028b", "a//b", "../b", "/b", "", strings.Repeat("a", result.MaxArtifactPath+1),
	} {
		results := a.results(lease.Shards)
		results[0].Files[0].Path = name
		_, err := a.post(lease.ID, results...)
		requireCode(t, err, "bad_result")
	}
	results := a.results(lease.Shards)
	results[0].Files[0].Path = "plots/2024/a b-é.png"
	_, err := a.post(lease.ID, results...)
	require.NoError(t, err)
}
