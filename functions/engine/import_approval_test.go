package engine_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/policy"
	"github.com/ostraka/ostraka/guardian"
)

// TestAnImportUsesItsApprovalWhereItIsWritten: an archive that is refused uses none, and one that is there already asks for none.
func TestAnImportUsesItsApprovalWhereItIsWritten(t *testing.T) {
	t.Parallel()
	clock := &watch{}
	w := newWorld(t, guarded(clock))
	ctx := t.Context()
	job := w.agreed(3)
	w.makeReceipt(job.ID)
	sent := w.taken(w.archive(job.ID))
	w.project, w.by = w.elsewhere()
	w.guard(guardRule("archives", guardian.Ask, "", guardian.DataImport))
	in := w.stored(w.project, sent)
	_, err := w.ImportArchive(ctx, w.by, w.project, in)
	requireCode(t, err, "approval_needed")
	list, err := w.ListApprovals(ctx, w.project, policy.ApprovalWaiting, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Len(t, list, 1)
	_, err = w.DecideApproval(ctx, w.by, w.project, list[0].ID, true, "fine")
	require.NoError(t, err)

	short := in
	short.Shards = w.stored(w.project, sentArchive{document: sent.document, shards: sent.shards[:bytes.IndexByte(sent.shards, '\n')+1]}).Shards
	_, err = w.ImportArchive(ctx, w.by, w.project, short)
	requireCode(t, err, "bad_archive")
	got, err := w.ImportArchive(ctx, w.by, w.project, in)
	require.NoError(t, err, "the approval is there still")
	again, err := w.ImportArchive(ctx, w.by, w.project, in)
	require.NoError(t, err, "nothing is to be approved")
	require.Equal(t, got, again)
	_, err = w.DeleteJob(ctx, w.by, w.project, job.ID)
	require.NoError(t, err)
	w.settleAll()
	_, err = w.ImportArchive(ctx, w.by, w.project, in)
	requireCode(t, err, "approval_needed")
}

// TestAnArchiveOfThisProjectIsOfItsOwnLog: what the request says is the key of the log counts for other projects alone.
func TestAnArchiveOfThisProjectIsOfItsOwnLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	job := w.agreed(3)
	w.makeReceipt(job.ID)
	sent := w.taken(w.archive(job.ID))
	project, _ := w.elsewhere()
	other, err := w.AuditHead(ctx, project)
	require.NoError(t, err)
	own, err := w.AuditHead(ctx, w.project)
	require.NoError(t, err)
	_, err = w.DeleteJob(ctx, w.by, w.project, job.ID)
	require.NoError(t, err)
	w.settleAll()
	in := w.stored(w.project, sent)
	in.Key = other.Key
	_, err = w.ImportArchive(ctx, w.by, w.project, in)
	require.NoError(t, err)
	check, err := verifyReceipt(w.downloaded(job.ID), own.Key)
	require.NoError(t, err, "the keys of its agents are proven by the head that came along")
	signed, _ := check.Signed()
	require.EqualValues(t, 6, signed)
}
