package archive

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/archive/sql"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
	file "github.com/ostraka/ostraka/runtime/archive"
)

// importAgain is after how long it is worth asking again while another archive is imported.
const importAgain = 10 * time.Second

var (
	// ErrVersionMissing is for an archive of a function that the project does not have.
	ErrVersionMissing = &functions.Error{
		Kind: functions.KindConflict, Code: "version_missing", Message: "the project does not have the version of the function that the job ran",
		Hint: "push it first, and import again: ostraka function push; the digest must be the same",
	}
	// ErrJobThere is for an archive of a job that the project has in another form.
	ErrJobThere = &functions.Error{
		Kind: functions.KindConflict, Code: "job_there", Message: "the project has that job already, and it did not come out of this archive",
		Hint: "there is nothing to import; ostraka job get JOB shows it",
	}
	// ErrBeingDeleted is for an archive of a job that is being deleted from the project.
	ErrBeingDeleted = &functions.Error{
		Kind: functions.KindConflict, Code: "being_deleted", Message: "the job is still being deleted",
		Hint: "import it again in a moment: what was deleted may be brought back once nothing of it is left",
	}
	// ErrSignaturesMissing is for an archive that comes without what agents have signed of its receipt.
	ErrSignaturesMissing = &functions.Error{
		Kind: functions.KindConflict, Code: "signatures_missing", Message: "agents have signed the results of the receipt, and the archive came without their signatures",
		Hint: "download the archive again with ostraka archive download, which writes JOB.receipt, and import it with that file beside it",
	}
	// ErrImportBusy is for an archive while the server imports another one: each takes memory and a processor.
	ErrImportBusy = &functions.Error{
		Kind: functions.KindExhausted, Code: "import_busy", Message: "the server imports another archive",
		Hint:  "ask again in a moment: nothing was imported, and no approval was used",
		Quota: &functions.QuotaExceeded{Name: "import", Limit: 1, Used: 1, Again: importAgain},
	}
	// ErrObjectsMissing is for an archive whose results refer to objects that are not stored.
	ErrObjectsMissing = &functions.Error{
		Kind: functions.KindConflict, Code: "objects_missing", Message: "results of the job are objects that are not stored",
		Hint: "download the archive with --objects, and import it with the folder of its objects beside it",
	}
)

// Import is an archive that is to be imported: objects of the project.
type Import struct {
	Document string // digest of the document
	Shards   string // digest of the shards as lines, see file.ReadLines
	Receipt  string // digest of the whole receipt, with what agents have signed; empty: they have not
	Key      string // of the log that made its receipt; empty: the one in the receipt
}

// ImportArchive puts the job of an archive into a project, as an archived one. Everything that the archive says of itself is checked before, and
// the file of shards is written anew: servers read no Parquet that others have written. Asking twice is harmless.
func (s *Service) ImportArchive(ctx context.Context, by functions.Principal, project uuid.UUID, in Import) (a functions.JobArchive, err error) {
	if a, there, err := s.importedBefore(ctx, project, in); err != nil || there {
		return a, err
	}
	intent := in.intent(by, project)
	if err := s.judgeImport(ctx, intent); err != nil {
		return a, err
	}
	if !s.importing.take(project, time.Now()) {
		return a, ErrImportBusy
	}
	defer s.importing.leave()
	i, err := s.readImport(ctx, project, in)
	if err != nil {
		return a, err
	}
	if a, there, err := s.imported(ctx, project, i); err != nil || there {
		return a, err
	}
	if err := s.readSigned(ctx, project, &i, in.Receipt); err != nil {
		return a, err
	}
	if err := s.copyImport(ctx, project, &i); err != nil {
		return a, err
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		a, err = s.endImport(ctx, tx, intent, i)
		return err
	})
	return a, err
}

// intent is an import in the words of the rooms.
func (in Import) intent(by functions.Principal, project uuid.UUID) base.Intent {
	facts := guardian.DataFacts{Data: guardian.Data{Type: "archive", Name: in.Document}}
	return base.Intent{By: by, Project: project, Kind: guardian.DataImport, Subject: in.Document, Facts: facts}
}

// errJudged ends a transaction in which the guardian has agreed, so that nothing of it stays.
var errJudged = errors.New("the guardian has agreed")

// judgeImport asks the guardian before anything is read, and uses no approval: that is used where the import is written.
func (s *Service) judgeImport(ctx context.Context, intent base.Intent) error {
	err := s.env.Project(ctx, intent.Project, func(tx *store.Tx) error {
		if err := s.env.Ask(ctx, tx, intent); err != nil {
			return err
		}
		return errJudged
	})
	if errors.Is(err, errJudged) {
		return nil
	}
	return err
}

// imported says whether the job is there already, and that the project has the version of its function.
func (s *Service) imported(ctx context.Context, project uuid.UUID, i importedJob) (a functions.JobArchive, there bool, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if a, there, err = thereAlready(ctx, tx, i); err != nil || there {
			return err
		}
		_, _, err = findVersion(ctx, tx, i.doc.Function)
		return err
	})
	return a, there, err
}

// importedBefore returns the archive that came out of a document before. It is looked for first: what is there needs no approval.
func (s *Service) importedBefore(ctx context.Context, project uuid.UUID, in Import) (a functions.JobArchive, there bool, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		var job uuid.UUID
		if job, there, err = store.Value[uuid.UUID](ctx, tx, sql.ImportedBefore, in.Document); err != nil || !there {
			return err
		}
		a, there, err = store.Value[functions.JobArchive](ctx, tx, sql.GetArchive, job)
		return err
	})
	return a, there, err
}

func thereAlready(ctx context.Context, tx *store.Tx, i importedJob) (a functions.JobArchive, there bool, err error) {
	type row struct {
		State    functions.JobState
		Imported string
	}
	job, found, err := store.One[row](ctx, tx, sql.ImportedJob, i.job.ID)
	switch {
	case err != nil || !found:
		return a, false, err
	case job.State == functions.JobDeleting:
		return a, true, ErrBeingDeleted.With("job %s is still being deleted", i.job.ID)
	case job.Imported != i.sent:
		return a, true, ErrJobThere.With("job %s is in the project already, and did not come out of this archive", i.job.ID)
	}
	a, _, err = store.Value[functions.JobArchive](ctx, tx, sql.GetArchive, i.job.ID)
	return a, true, err
}

func findVersion(ctx context.Context, tx *store.Tx, f file.Function) (function uuid.UUID, version int, err error) {
	type row struct {
		FunctionID uuid.UUID
		Version    int
	}
	v, found, err := store.One[row](ctx, tx, sql.FindVersion, f.Name, f.Digest)
	if err == nil && !found {
		err = ErrVersionMissing.With("the project has no version of function %s with the digest %s", f.Name, f.Digest)
	}
	return v.FunctionID, v.Version, err
}

// copyImport checks the shards, and writes them and the document as files of this project.
func (s *Service) copyImport(ctx context.Context, project uuid.UUID, i *importedJob) error {
	in, _, err := s.env.Blobs.Open(ctx, project, i.shards)
	if err != nil {
		return registry.ObjectError(err, i.shards)
	}
	defer func() { _ = in.Close() }() // it was only read
	out, pipe := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := i.check(in, file.NewWriter(pipe, "server"))
		_ = pipe.CloseWithError(err) // which never fails
		done <- err
	}()
	results := file.Results{}
	results.Digest, results.Bytes, err = s.env.Blobs.Put(ctx, project, out, s.maxBytes)
	_ = out.CloseWithError(errors.Join(err, io.ErrClosedPipe)) // ends the writing if nothing reads any more
	if bad := <-done; bad != nil && (err == nil || errors.Is(err, bad)) {
		return badImport(bad)
	}
	if err != nil {
		return registry.ObjectError(err, "")
	}
	results.Rows = i.rows
	i.doc.Results = results
	text, err := i.doc.Encode()
	if err != nil {
		return badImport(err)
	}
	i.document.Digest, i.document.Bytes, err = s.env.Blobs.Put(ctx, project, bytes.NewReader(text), file.MaxDocument+1)
	if err != nil {
		return registry.ObjectError(err, "")
	}
	return s.findObjects(ctx, project, i)
}

// findObjects looks whether what results refer to is there. What attempts refer to besides is kept where it is.
func (s *Service) findObjects(ctx context.Context, project uuid.UUID, i *importedJob) error {
	missing := 0
	first := ""
	for digest, needed := range i.objects {
		_, err := s.env.Blobs.Stat(ctx, project, digest) // from here on it stays for a day
		switch {
		case err == nil:
			i.kept = append(i.kept, digest)
		case !errors.Is(err, blob.ErrNotFound):
			return registry.ObjectError(err, digest)
		case needed:
			if missing++; first == "" || digest < first {
				first = digest
			}
		}
	}
	if missing > 0 {
		return ErrObjectsMissing.With("%s of the job's results not stored, the first is %s", base.Plural(int64(missing), "object is", "objects are"), first)
	}
	return nil
}

// endImport writes the rows of an imported job. It is one transaction.
func (s *Service) endImport(ctx context.Context, tx *store.Tx, intent base.Intent, i importedJob) (a functions.JobArchive, err error) {
	if a, there, err := thereAlready(ctx, tx, i); err != nil || there {
		return a, err
	}
	if err := s.env.Ask(ctx, tx, intent); err != nil { // which uses an approval up
		return a, err
	}
	by := intent.By
	if there, err := i.insert(ctx, tx, by.Actor()); err != nil || there {
		if err == nil { // another request was faster
			a, _, err = thereAlready(ctx, tx, i)
		}
		return a, err
	}
	if i.signed != nil {
		if err := s.receipts.KeepImported(ctx, tx, i.job.ID, *i.signed); err != nil {
			return a, err
		}
	}
	detail := map[string]any{
		"from": i.doc.Project, "archived_at": i.doc.ArchivedAt, "archived_by": i.doc.ArchivedBy, "created_by": i.job.CreatedBy,
		"sent": i.sent, "results": i.doc.Results.Digest, "document": i.document.Digest, "shards": i.rows, "receipt": i.doc.Receipt != "",
	}
	if err := base.Audit(ctx, tx, by.Actor(), "job.import", i.job.ID.String(), detail); err != nil {
		return a, err
	}
	if err := base.Notify(ctx, tx, base.ChannelJobs, i.job.ID); err != nil {
		return a, err
	}
	a, _, err = store.Value[functions.JobArchive](ctx, tx, sql.GetArchive, i.job.ID)
	return a, err
}

// insert writes the job, its answer and its archive; there: the job is there already.
func (i importedJob) insert(ctx context.Context, tx *store.Tx, by string) (there bool, err error) {
	function, version, err := findVersion(ctx, tx, i.doc.Function)
	if err != nil {
		return false, err
	}
	j := i.job
	c, err := i.columns()
	if err != nil {
		return false, err
	}
	n, err := store.Exec(ctx, tx, sql.AddImportedJob, j.ID, function, version, c.partition, c.policy, j.State, j.Error, j.Shards.Total, partition.Pages(j.Shards.Total),
		by, j.CreatedAt, j.StartedAt, j.FinishedAt, c.validator, c.heuristics, j.Priority, j.Run)
	if err != nil || n == 0 {
		return true, err
	}
	answer := i.answer()
	if _, err := store.Exec(ctx, tx, sql.AddImportedAggregation, j.ID, j.Run, c.aggregator, i.folded(), j.AggregationError, partition.Pages(j.Shards.Total),
		answer.AggregateValue, answer.AggregateObject, answer.AggregateCount, answer.AggregateSummary, answer.LeftOut, answer.AggregateRows, answer.RowsObject, by, j.FinishedAt); err != nil {
		return false, err
	}
	d := i.doc
	if _, err := store.Exec(ctx, tx, sql.AddImportedArchive, j.ID, by, d.Results.Digest, d.Results.Bytes, d.Results.Rows, i.document.Digest, i.document.Bytes,
		i.counts.Accepted, i.counts.Provisional, i.counts.Review, i.counts.Failed, i.counts.Cancelled, d.Shards.Attempts, c.verification, d.Project, i.sent, i.proof); err != nil {
		return false, err
	}
	if len(i.kept) > 0 {
		_, err = store.Exec(ctx, tx, sql.KeepReferred, j.ID, i.kept)
	}
	return false, err
}

// answer are the columns of the job's answer.
func (i importedJob) answer() (row jobs.AnswerRow) {
	a := i.job.Aggregate
	if a == nil || a.Preview != nil {
		return row
	}
	row = jobs.AnswerRow{AggregateCount: &a.Count, AggregateSummary: a.Summary, LeftOut: a.LeftOut}
	if a.Object != "" {
		row.AggregateObject = &a.Object
	} else if string(a.Value) != "null" {
		row.AggregateValue = a.Value
	}
	if a.RowsObject != "" {
		row.RowsObject = &a.RowsObject
	} else if len(a.Rows) > 0 {
		row.AggregateRows = a.Rows
	}
	return row
}

// folded is how its aggregation ended.
func (i importedJob) folded() functions.AggregationState {
	if i.job.AggregationError != "" || i.job.State != functions.JobFinished && i.answer().AggregateCount == nil {
		return functions.AggregationFailed
	}
	return functions.AggregationFinished
}

// importedColumns are parts of a job as they stand in its row.
type importedColumns struct{ partition, policy, validator, heuristics, aggregator, verification []byte }

func (i importedJob) columns() (c importedColumns, err error) {
	j := i.job
	for _, part := range []struct {
		into *[]byte
		from any
		some bool
	}{
		{&c.partition, j.Partition, true},
		{&c.policy, j.Policy, true},
		{&c.validator, j.Validator, j.Validator != nil},
		{&c.heuristics, j.Heuristics, len(j.Heuristics) > 0},
		{&c.aggregator, j.Aggregator, j.Aggregator != nil},
		{&c.verification, j.Verification, j.Verification != nil},
	} {
		if !part.some {
			continue
		}
		if *part.into, err = json.Marshal(part.from); err != nil {
			return c, fmt.Errorf("encoding a part of an imported job: %w", err)
		}
	}
	return c, nil
}

// rootOf is the root of a tree as receipts write it.
func rootOf(root [32]byte) string { return hex.EncodeToString(root[:]) }
