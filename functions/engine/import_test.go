package engine_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/archive"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/result"
	file "github.com/ostraka/ostraka/runtime/archive"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// sentArchive is an archive as it is brought to another project.
type sentArchive struct {
	document []byte
	shards   []byte
}

// taken takes an archive along: its document, and its shards as lines.
func (w *world) taken(a functions.JobArchive) sentArchive {
	w.t.Helper()
	_, shards := w.archived(a)
	var lines bytes.Buffer
	for _, s := range shards {
		require.NoError(w.t, file.WriteLine(&lines, s))
	}
	return sentArchive{w.object(a.Document.Digest), lines.Bytes()}
}

// stored stores an archive as objects of a project.
func (w *world) stored(project uuid.UUID, s sentArchive) (in archive.Import) {
	w.t.Helper()
	document, err := w.PutObject(w.t.Context(), project, "", bytes.NewReader(s.document))
	require.NoError(w.t, err)
	shards, err := w.PutObject(w.t.Context(), project, "", bytes.NewReader(s.shards))
	require.NoError(w.t, err)
	return archive.Import{Document: document.Digest, Shards: shards.Digest}
}

// elsewhere is another project with the same function.
func (w *world) elsewhere() (uuid.UUID, functions.Principal) {
	w.t.Helper()
	project, by := w.newProject("elsewhere")
	_, _, err := w.PushFunction(w.t.Context(), by, project, bytes.NewReader(w.pack("numbers", "")), nil)
	require.NoError(w.t, err)
	return project, by
}

// TestAnImportedArchiveIsReadAsWhereItRan: results, answer and receipt, and it goes as it came.
func TestAnImportedArchiveIsReadAsWhereItRan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	job := w.agreed(1030)
	w.makeReceipt(job.ID)
	_, lines := w.receipt(job.ID)
	results := w.allResults(job.ID, jobs.ResultQuery{After: -1, Input: true})
	a := w.archive(job.ID)
	before := w.job(job.ID)
	head, err := w.AuditHead(ctx, w.project)
	require.NoError(t, err)
	sent := w.taken(a)

	project, by := w.elsewhere()
	in := w.stored(project, sent)
	in.Key = head.Key
	got, err := w.ImportArchive(ctx, by, project, in)
	require.NoError(t, err)
	require.Equal(t, functions.ArchiveDone, got.State)
	require.Equal(t, w.project, *got.ImportedFrom)
	require.Equal(t, a.Results, got.Results, "the same program writes the same file")
	require.Equal(t, a.Document, got.Document)
	again, err := w.ImportArchive(ctx, by, project, in)
	require.NoError(t, err, "asking twice is harmless")
	require.Equal(t, got, again)

	home := w.project
	w.project = project
	after := w.job(job.ID)
	require.Equal(t, by.Actor(), after.CreatedBy, "who imports it has made it here")
	require.Equal(t, results, w.allResults(job.ID, jobs.ResultQuery{After: -1, Input: true}))
	require.Equal(t, before.Shards, after.Shards)
	require.Equal(t, before.Aggregate, after.Aggregate)
	require.Equal(t, before.Policy, after.Policy)
	require.Equal(t, before.Verification, after.Verification)
	require.Equal(t, before.FinishedAt.UTC(), after.FinishedAt.UTC())
	made, err := w.MakeReceipt(ctx, by, project, job.ID)
	require.NoError(t, err)
	require.Equal(t, "made", string(made.State))
	var text bytes.Buffer
	for part, err := range w.ReceiptBytes(ctx, project, job.ID, true) {
		require.NoError(t, err)
		text.Write(part)
	}
	parts := bytes.Split(bytes.TrimSuffix(text.Bytes(), []byte("\n")), []byte("\n"))
	r, err := audit.OpenReceipt(parts[0], head.Key)
	require.NoError(t, err, "by the log of where it ran")
	require.Equal(t, home.String(), r.Statement.Project)
	require.Len(t, parts[1:], len(lines))
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'job.import' and detail ->> 'from' = $1", home.String()))

	w.ageObjects()
	w.collect()
	require.Len(t, w.allResults(job.ID, jobs.ResultQuery{After: -1}), 1030, "what an imported archive has is not collected")
	_, err = w.DeleteJob(ctx, by, project, job.ID)
	require.NoError(t, err)
	w.settleAll()
	_, err = w.GetJob(ctx, project, job.ID)
	requireCode(t, err, "job_deleted")
	_, err = w.ImportArchive(ctx, by, project, w.stored(project, sent))
	require.NoError(t, err, "who has the archive may bring back what was deleted")
	require.Len(t, w.allResults(job.ID, jobs.ResultQuery{After: -1}), 1030)
	w.project = home
	require.Len(t, w.allResults(job.ID, jobs.ResultQuery{After: -1}), 1030, "where it ran it stays")
}

// TestWhatIsNoArchiveIsNotImported changes one thing of an archive at a time.
func TestWhatIsNoArchiveIsNotImported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	job := w.agreed(3)
	w.makeReceipt(job.ID)
	sent := w.taken(w.archive(job.ID))
	project, by := w.elsewhere()
	changed := func(text []byte, from, to string) []byte {
		require.Contains(t, string(text), from)
		return []byte(strings.Replace(string(text), from, to, 1))
	}
	for what, c := range map[string]struct {
		is   sentArchive
		says string
	}{
		"an output":           {sentArchive{sent.document, changed(sent.shards, `"output":"`, `"output":" `)}, "has the digest"},
		"a shard too few":     {sentArchive{sent.document, sent.shards[:bytes.IndexByte(sent.shards, '\n')+1]}, "there are 1 shards"},
		"a shard twice":       {sentArchive{sent.document, append(bytes.Clone(sent.shards), sent.shards...)}, "shard 0 stands where shard 3 belongs"},
		"another agent":       {sentArchive{sent.document, changed(sent.shards, `"attempts":[{"agent":"`, `"attempts":[{"agent":"x`)}, "is no agent"},
		"a vote":              {sentArchive{sent.document, changed(sent.shards, `"agrees":true`, `"agrees":false`)}, "its receipt is about other shards"},
		"a field":             {sentArchive{sent.document, changed(sent.shards, `"shard":0`, `"shard":0,"more":1`)}, "unknown field"},
		"no document":         {sentArchive{sent.shards, sent.shards}, "not one of an archive"},
		"another count":       {sentArchive{changed(sent.document, `"accepted":3`, `"accepted":2`), sent.shards}, "its counts"},
		"the record's policy": {sentArchive{changed(sent.document, `"quorum":2`, `"quorum":99`), sent.shards}, "quorum 99"},
		"the receipt":         {sentArchive{changed(sent.document, `\"accepted\":3`, `\"accepted\":2`), sent.shards}, "its receipt"},
		"another state":       {sentArchive{changed(sent.document, `"state":"finished"`, `"state":"failed"`), sent.shards}, "another job"},
	} {
		_, err := w.ImportArchive(ctx, by, project, w.stored(project, c.is))
		requireCode(t, err, "bad_archive")
		require.ErrorContains(t, err, c.says, what)
	}
	in := w.stored(project, sent)
	other, err := w.AuditHead(ctx, project)
	require.NoError(t, err)
	in.Key = other.Key
	_, err = w.ImportArchive(ctx, by, project, in)
	requireCode(t, err, "bad_archive")
	require.ErrorContains(t, err, "its receipt", "of another log than the one that is known")
	_, err = w.ImportArchive(ctx, by, project, archive.Import{Document: in.Document, Shards: strings.Repeat("0", 64)})
	requireCode(t, err, "not_found")
	_, err = w.ImportArchive(ctx, w.by, w.project, w.stored(w.project, sent))
	require.ErrorIs(t, err, archive.ErrJobThere, "where it ran it is there")
	empty, owner := w.newProject("empty")
	_, err = w.ImportArchive(ctx, owner, empty, w.stored(empty, sent))
	require.ErrorIs(t, err, archive.ErrVersionMissing)
	w.project = project
	require.Zero(t, w.count("select count(*) from jobs"))
	require.Zero(t, w.count("select count(*) from audit where action = 'job.import'"))
}

// TestObjectsOfResultsMustComeAlong: an archive without them is refused, and with them they stay.
func TestObjectsOfResultsMustComeAlong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	large := `"` + strings.Repeat("x", result.MaxInlineOutput) + `"`
	job := w.submit(0, func(j *functions.NewJob) {
		j.Partition, j.Items, j.Quorum, j.Aggregator = partition.Spec{Kind: partition.KindItems}, []byte("1\n"), 1, "count"
	})
	w.settleAll()
	a := w.agent(func(string) functions.Result {
		return functions.Result{Status: "ok", OutputDigest: canonical.Digest([]byte(large)), OutputBytes: int64(len(large))}
	})
	lease := a.lease(1)
	a.store(lease, large)
	a.report(lease)
	w.settleAll()
	sent := w.taken(w.archive(job.ID))

	project, by := w.elsewhere()
	_, err := w.ImportArchive(ctx, by, project, w.stored(project, sent))
	require.ErrorIs(t, err, archive.ErrObjectsMissing)
	require.ErrorContains(t, err, canonical.Digest([]byte(large)))
	_, err = w.PutObject(ctx, project, "", strings.NewReader(large))
	require.NoError(t, err)
	_, err = w.ImportArchive(ctx, by, project, w.stored(project, sent))
	require.NoError(t, err, "what its inputs were read from is not needed: each shard has its own")
	w.project = project
	w.ageObjects()
	w.collect()
	results := w.allResults(job.ID, jobs.ResultQuery{After: -1, Input: true})
	require.Len(t, results, 1)
	require.Equal(t, "1", string(results[0].Input))
	require.Len(t, w.object(results[0].OutputDigest), len(large), "what a result is stays")
}
