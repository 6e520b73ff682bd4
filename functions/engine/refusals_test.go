package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
)

func TestARefusedFunctionIsNotLentAgainForAWhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(honest)
	job := w.submit(5, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	why := dispatch.Refusal{Code: "caps", Text: "its limit memory_bytes is 2 and this agent allows 1", Refuses: true}
	waits := func() (seconds int64) {
		require.NoError(t, w.store.Pool.QueryRow(t.Context(), "select round(extract(epoch from until - refused_at))::bigint from "+w.schema()+".refusals").Scan(&seconds))
		return seconds
	}

	lease := a.lease(5)
	require.NoError(t, w.RefuseLease(t.Context(), a.id, lease.ID, why))
	require.NoError(t, w.RefuseLease(t.Context(), a.id, lease.ID, why), "twice is harmless")
	require.EqualValues(t, 60, waits(), "and counts once")
	require.Nil(t, a.lease(5), "it is not offered again")
	e, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, "refused_by_all", e.Reasons[0].Code)
	require.Contains(t, e.Reasons[1].Text, why.Text)
	require.Contains(t, e.Reasons[1].Text, a.id.String())

	b := w.agent(honest)
	other := b.lease(2)
	require.NotNil(t, other, "others are asked")
	require.NoError(t, w.RefuseLease(t.Context(), b.id, other.ID, dispatch.Refusal{Code: "stopping"}))
	require.NotNil(t, b.lease(2), "one who only stops is not left out")

	for _, want := range []int64{120, 240, 480, 900, 900} {
		w.sql("update " + w.schema() + ".refusals set until = now() - interval '1 second'")
		lease = a.lease(1)
		require.NotNil(t, lease, "after a while it is asked again")
		require.NoError(t, w.RefuseLease(t.Context(), a.id, lease.ID, why))
		require.InDelta(t, want, waits(), 1)
	}
	w.sql("update " + w.schema() + ".refusals set until = now() - interval '1 hour'")
	require.NoError(t, w.RefuseLease(t.Context(), a.id, a.lease(1).ID, why))
	require.EqualValues(t, 60, waits(), "what is long over does not count")
	w.check(job.ID)
}

func TestRefusalsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, stranger := w.agent(honest), w.agent(honest)
	w.submit(5)
	w.settleAll()
	lease := a.lease(5)
	good := dispatch.Refusal{Code: "caps", Text: strings.Repeat("ä", dispatch.MaxRefusalText), Refuses: true}
	for _, bad := range []dispatch.Refusal{
		{}, {Code: "Caps"}, {Code: strings.Repeat("a", 41)}, {Code: "caps", Text: good.Text + "x"},
	} {
		requireCode(t, w.RefuseLease(t.Context(), a.id, lease.ID, bad), "bad_refusal")
	}
	requireCode(t, w.RefuseLease(t.Context(), a.id, lease.ID, dispatch.Refusal{Code: "caps", Text: "a\x00b", Refuses: true}), "bad_text")
	requireCode(t, w.RefuseLease(t.Context(), stranger.id, lease.ID, good), "not_found")
	require.Zero(t, w.count("select count(*) from refusals"))
	require.NoError(t, w.RefuseLease(t.Context(), a.id, lease.ID, good))
}
