package engine_test

import (
	"bytes"
	"encoding/hex"
	"errors"
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
	receipt  []byte // with what agents have signed; nil: none
}

// taken takes an archive along: its document, and its shards as lines.
func (w *world) taken(a functions.JobArchive) sentArchive {
	w.t.Helper()
	_, shards := w.archived(a)
	var lines bytes.Buffer
	for _, s := range shards {
		require.NoError(w.t, file.WriteLine(&lines, s))
	}
	s := sentArchive{document: w.object(a.Document.Digest), shards: lines.Bytes()}
	if bytes.Contains(s.document, []byte(`"receipt":`)) {
		s.receipt = w.downloaded(a.Job)
	}
	return s
}

// stored stores an archive as objects of a project.
func (w *world) stored(project uuid.UUID, s sentArchive) (in archive.Import) {
	w.t.Helper()
	document, err := w.PutObject(w.t.Context(), project, "", bytes.NewReader(s.document))
	require.NoError(w.t, err)
	shards, err := w.PutObject(w.t.Context(), project, "", bytes.NewReader(s.shards))
	require.NoError(w.t, err)
	in = archive.Import{Document: document.Digest, Shards: shards.Digest}
	if s.receipt != nil {
		receipt, err := w.PutObject(w.t.Context(), project, "", bytes.NewReader(s.receipt))
		require.NoError(w.t, err)
		in.Receipt = receipt.Digest
	}
	return in
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
	check, err := verifyReceipt(w.downloaded(job.ID), head.Key)
	require.NoError(t, err, "by the log of where it ran, with what agents have signed")
	require.Equal(t, sent.receipt, w.downloaded(job.ID), "as it was taken along")
	signed, unsigned := check.Signed()
	require.EqualValues(t, 2*len(lines), signed)
	require.Zero(t, unsigned)
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'job.import' and detail ->> 'from' = $1", home.String()))

	w.ageObjects()
	w.collect()
	require.Len(t, w.allResults(job.ID, jobs.ResultQuery{After: -1}), 1030, "what an imported archive has is not collected")
	_, err = w.DeleteJob(ctx, by, project, job.ID)
	require.NoError(t, err)
	w.settleAll()
	_, err = w.GetJob(ctx, project, job.ID)
	requireCode(t, err, "job_deleted")
	for range 2 {
		_, err = w.ImportArchive(ctx, by, project, w.stored(project, sent))
		require.NoError(t, err, "who has the archive may bring back what was deleted")
		require.Len(t, w.allResults(job.ID, jobs.ResultQuery{After: -1}), 1030)
		_, err = w.DeleteJob(ctx, by, project, job.ID)
		require.NoError(t, err, "and delete it again")
		_, err = w.ImportArchive(ctx, by, project, w.stored(project, sent))
		require.ErrorIs(t, err, archive.ErrBeingDeleted)
		w.settleAll()
		_, err = w.GetJob(ctx, project, job.ID)
		requireCode(t, err, "job_deleted")
		require.Equal(t, int64(1), w.count("select count(*) from deleted_jobs where id = $1 and erased_at is not null", job.ID))
	}
	w.project = home
	require.Len(t, w.allResults(job.ID, jobs.ResultQuery{After: -1}), 1030, "where it ran it stays")
}

// verifyReceipt verifies a whole receipt as ostraka receipt verify does.
func verifyReceipt(text []byte, key string) (*audit.SignatureCheck, error) {
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	r, err := audit.OpenReceipt(lines[0], key)
	if err != nil {
		return nil, err
	}
	var peaks audit.Peaks
	check := audit.NewSignatureCheck(r)
	for _, line := range lines[1:] {
		if audit.IsSignedLine(line) {
			if err := check.Line(line); err != nil {
				return nil, err
			}
			continue
		}
		shard, err := audit.ParseShardLine(line)
		if err != nil {
			return nil, err
		}
		peaks.Add(audit.Leaf(line))
		if err := check.Shard(shard); err != nil {
			return nil, err
		}
	}
	if root := peaks.Root(); hex.EncodeToString(root[:]) != r.Statement.Shards.Root {
		return nil, errors.New("the tree is not that of the lines")
	}
	return check, check.End()
}

// withoutSigned is a receipt without the lines of what agents have signed.
func withoutSigned(receipt []byte) (text []byte) {
	for line := range bytes.Lines(receipt) {
		if !audit.IsSignedLine(bytes.TrimSuffix(line, []byte("\n"))) {
			text = append(text, line...)
		}
	}
	return text
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
		"an output":           {sentArchive{sent.document, changed(sent.shards, `"output":"`, `"output":" `), sent.receipt}, "has the digest"},
		"a shard too few":     {sentArchive{sent.document, sent.shards[:bytes.IndexByte(sent.shards, '\n')+1], sent.receipt}, "there are 1 shards"},
		"a shard twice":       {sentArchive{sent.document, append(bytes.Clone(sent.shards), sent.shards...), sent.receipt}, "shard 0 stands where shard 3 belongs"},
		"another agent":       {sentArchive{sent.document, changed(sent.shards, `"attempts":[{"agent":"`, `"attempts":[{"agent":"x`), sent.receipt}, "is no agent"},
		"a vote":              {sentArchive{sent.document, changed(sent.shards, `"agrees":true`, `"agrees":false`), sent.receipt}, "its receipt is about other shards"},
		"a field":             {sentArchive{sent.document, changed(sent.shards, `"shard":0`, `"shard":0,"more":1`), sent.receipt}, "unknown field"},
		"no document":         {sentArchive{sent.shards, sent.shards, sent.receipt}, "not one of an archive"},
		"another count":       {sentArchive{changed(sent.document, `"accepted":3`, `"accepted":2`), sent.shards, sent.receipt}, "its counts"},
		"the record's policy": {sentArchive{changed(sent.document, `"quorum":2`, `"quorum":99`), sent.shards, sent.receipt}, "quorum 99"},
		"the receipt":         {sentArchive{changed(sent.document, `\"accepted\":3`, `\"accepted\":2`), sent.shards, sent.receipt}, "its receipt"},
		"the answer":          {sentArchive{changed(sent.document, `"aggregate":{"value":{`, `"aggregate":{"value":{"forged":1,`), sent.shards, sent.receipt}, "record.aggregate.value is "},
		"another target":      {sentArchive{changed(sent.document, `"quorum":2`, `"quorum":1`), sent.shards, sent.receipt}, "record.policy is "},
		"a field twice":       {sentArchive{changed(sent.document, `"quorum":2`, `"quorum":2,"quorum":1`), sent.shards, sent.receipt}, "quorum"},
		"in other letters":    {sentArchive{changed(sent.document, `"quorum":2`, `"quorum":2,"Quorum":1`), sent.shards, sent.receipt}, `a field "Quorum"`},
		"letters of another":  {sentArchive{changed(sent.document, `"aggregate":{`, `"aggregatE":{"count":9},"aggregate":{`), sent.shards, sent.receipt}, `a field "aggregatE"`},
		"a signature":         {sentArchive{sent.document, sent.shards, changed(sent.receipt, `"signature":"`, `"signature":"00`)}, "signed"},
		"no signature":        {sentArchive{sent.document, sent.shards, withoutSigned(sent.receipt)}, "that the log vouches for"},
		"half a receipt":      {sentArchive{sent.document, sent.shards, sent.receipt[:bytes.LastIndexByte(sent.receipt[:len(sent.receipt)-1], '\n')+1]}, "signed"},

		"another state": {sentArchive{changed(sent.document, `"state":"finished"`, `"state":"failed"`), sent.shards, sent.receipt}, "another job"},
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
	in.Key, in.Receipt = "", ""
	_, err = w.ImportArchive(ctx, by, project, in)
	require.ErrorIs(t, err, archive.ErrSignaturesMissing)
	_, err = w.ImportArchive(ctx, by, project, archive.Import{Document: in.Document, Receipt: w.stored(project, sent).Receipt, Shards: strings.Repeat("0", 64)})
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
