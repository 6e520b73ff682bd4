package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/archive/compare"
	"github.com/ostraka/ostraka/functions/auditlog"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/turns"
	file "github.com/ostraka/ostraka/runtime/archive"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// maxImportText bounds what an imported job says in words of its own, and an answer that is no object, in bytes: a job that ran here has no longer one.
const maxImportText = 64 << 10

// maxImportObjects is how many objects its shards may refer to: each is looked for, within the request.
const maxImportObjects = 100_000

// importedJob is a job that is about to be imported.
type importedJob struct {
	sent     string // digest of the document as it was sent
	shards   string // digest of its shards as lines
	proof    string // its receipt, as it is kept; empty: it has none
	doc      file.Document
	document functions.ArchivedFile // as it is written here
	job      functions.Job
	receipt  *audit.Statement       // nil: it has none
	signed   *auditlog.WholeReceipt // with what agents have signed; nil: nothing was
	counts   functions.ShardCounts
	rows     int64
	key      string          // by which its receipt was verified; empty: its own
	objects  map[string]bool // what its shards refer to, and whether a result is that object
	kept     []string        // those that are there
}

// badImport says of an archive that it is not one, or not one that can be imported.
func badImport(err error) error {
	var ours *functions.Error
	if errors.As(err, &ours) {
		return err
	}
	return functions.Invalid("bad_archive", err.Error(), "ostraka archive verify says what is wrong with the files; download them again from where the job ran")
}

// readImport reads the document of an archive and checks what it says.
func (s *Service) readImport(ctx context.Context, project uuid.UUID, in Import) (i importedJob, err error) {
	for _, digest := range []string{in.Document, in.Shards} {
		if err := registry.CheckDigest(digest); err != nil {
			return i, err
		}
	}
	text, err := s.env.Blobs.Get(ctx, project, in.Document, file.MaxDocument+1)
	if err != nil {
		return i, registry.ObjectError(err, in.Document)
	}
	doc, err := file.Parse(text)
	if err != nil {
		return i, badImport(err)
	}
	key := in.Key
	if doc.Project == project.String() { // its own log says what happened in it, and no other
		if key, err = s.receipts.LogKey(ctx, project); err != nil {
			return i, err
		}
	}
	i, err = checkImport(text, doc, key)
	if err != nil {
		return i, badImport(err)
	}
	i.sent, i.shards, i.key = in.Document, in.Shards, key
	return i, nil
}

// checkImport checks a document, which may come from anybody.
func checkImport(text []byte, doc file.Document, key string) (i importedJob, err error) {
	i.doc = doc
	if err := compare.Names(text, i.doc, reflect.TypeFor[functions.Job]()); err != nil {
		return i, err
	}
	i.objects = map[string]bool{}
	if bytes.Contains(i.doc.Record, []byte(`\u0000`)) || bytes.ContainsRune([]byte(i.doc.Receipt), 0) {
		return i, errors.New("a text of the document has a NUL, which no database keeps")
	}
	if err := json.Unmarshal(i.doc.Record, &i.job); err != nil {
		return i, fmt.Errorf("the record of the job: %w", err)
	}
	if err := i.checkRecord(); err != nil {
		return i, fmt.Errorf("the record of the job: %w", err)
	}
	return i, i.openReceipt(text, key)
}

// checkRecord says what of a record cannot be, or is about something else than the document.
func (i importedJob) checkRecord() error {
	j, d := i.job, i.doc
	switch {
	case j.ID.String() != d.Job || j.Function != d.Function.Name || string(j.State) != d.State:
		return errors.New("it is about another job than the document")
	case j.ID.Version() != 7:
		return errors.New("no job has such an ID")
	case d.Results.Rows > file.MaxImportShards || j.Shards.Total != d.Shards.Total || j.Shards.Accepted != d.Shards.Accepted || j.Attempts != d.Shards.Attempts:
		return errors.New("its counts are not those of the document, or an archive of so many shards cannot be imported")
	case j.FinishedAt == nil || j.CreatedAt.After(*j.FinishedAt) || j.FinishedAt.After(time.Now().Add(time.Hour)) || j.CreatedAt.Year() < 2000:
		return errors.New("its times cannot be")
	case j.Run < 1 || j.Run > maxListed || j.Priority < turns.MinPriority || j.Priority > turns.MaxPriority:
		return errors.New("its priority, or how often it was folded, cannot be")
	case max(len(j.Error), len(j.AggregationError), len(j.CreatedBy)) > maxImportText:
		return errors.New("a text of it is too long")
	}
	if err := j.Partition.Validate(); err != nil {
		return err
	}
	if n, known := j.Partition.Count(); known && n != j.Shards.Total {
		return fmt.Errorf("its input has %d shards, and it says %d", n, j.Shards.Total)
	}
	if err := j.Policy.Validate(); err != nil {
		return err
	}
	return checkAnswer(j.Aggregate)
}

func checkAnswer(a *functions.Aggregate) error {
	if a == nil {
		return nil
	}
	switch {
	case a.Count < 0 || a.LeftOut < 0 || len(a.Summary) > maxImportText:
		return errors.New("its answer cannot be")
	case max(len(a.Value), len(a.Rows)) > maxImportText:
		return fmt.Errorf("its answer has more than %d bytes, and is no object", maxImportText)
	}
	for _, digest := range []string{a.Object, a.RowsObject} {
		if digest != "" && !canonical.IsDigest(digest) {
			return errors.New("its answer is no object that can be")
		}
	}
	return nil
}

// openReceipt verifies the receipt, and that the document says what it says.
func (i *importedJob) openReceipt(text []byte, key string) error {
	if i.doc.Receipt == "" {
		return nil
	}
	receipt := bytes.TrimSpace([]byte(i.doc.Receipt))
	r, err := audit.OpenReceipt(receipt, key)
	if err != nil {
		return fmt.Errorf("its receipt: %w", err)
	}
	said := r.Statement
	if said.Job != i.doc.Job || said.Project != i.doc.Project || said.Function.Digest != i.doc.Function.Digest {
		return errors.New("its receipt is about another job")
	}
	if _, err := compare.Document(text, said); err != nil {
		return err
	}
	i.receipt, i.proof = &said, string(receipt)
	return nil
}

// readSigned reads the receipt with what agents have signed, where they have.
func (s *Service) readSigned(ctx context.Context, project uuid.UUID, i *importedJob, digest string) error {
	if i.receipt == nil || i.receipt.Signed == nil {
		return nil
	}
	if digest == "" {
		return ErrSignaturesMissing
	}
	if err := registry.CheckDigest(digest); err != nil {
		return err
	}
	in, _, err := s.env.Blobs.Open(ctx, project, digest)
	if err != nil {
		return registry.ObjectError(err, digest)
	}
	defer func() { _ = in.Close() }() // it was only read
	whole, err := auditlog.ReadReceipt(in, i.key)
	if err != nil {
		return badImport(fmt.Errorf("the receipt with what agents have signed: %w", err))
	}
	inDocument, err := i.receipt.Canonical()
	if err != nil {
		return badImport(err)
	}
	given, err := whole.Statement.Canonical()
	if err != nil || !bytes.Equal(inDocument, given) {
		return badImport(errors.Join(errors.New("the receipt with what agents have signed is another one than that of the document"), err))
	}
	i.signed, i.proof = &whole, string(whole.Text) // whose head proves the keys in its lines
	return nil
}

// check reads the shards, holds them against the document and the receipt, and writes them.
func (i *importedJob) check(in io.Reader, out *file.Writer) error {
	var peaks audit.Peaks
	for s, err := range file.ReadLines(in) {
		if err != nil {
			return err
		}
		if err := out.Write(s); err != nil {
			return err
		}
		if i.count(s); len(i.objects) > maxImportObjects {
			return fmt.Errorf("its shards refer to more than %d objects, which is more than can be imported", maxImportObjects)
		}
		line, accepted := receiptLine(s)
		if !accepted || i.receipt == nil {
			continue
		}
		if i.receipt.Draws == nil {
			line.Draw = nil
		}
		text, err := line.Canonical()
		if err != nil {
			return fmt.Errorf("shard %d: %w", s.Shard, err)
		}
		peaks.Add(audit.Leaf(text))
	}
	i.rows = out.Rows()
	switch d := i.doc; {
	case i.rows != d.Results.Rows || i.counts.Accepted != d.Shards.Accepted || i.counts.Failed != d.Shards.Failed:
		return fmt.Errorf("there are %d shards, %d accepted and %d failed, and the document says %d, %d and %d", i.rows, i.counts.Accepted, i.counts.Failed, d.Results.Rows, d.Shards.Accepted, d.Shards.Failed)
	case i.counts.Accepted != d.Shards.Total && d.State == string(functions.JobFinished):
		return errors.New("the job has finished, and some of its shards are not accepted")
	case i.receipt != nil && i.receipt.Shards.Root != rootOf(peaks.Root()):
		return errors.New("its receipt is about other shards")
	}
	i.answerObjects()
	return out.Close()
}

// count counts a shard, and what it refers to.
func (i *importedJob) count(s file.Shard) {
	switch functions.ShardState(s.State) {
	case functions.ShardAccepted:
		i.counts.Accepted++
		if s.Provisional {
			i.counts.Provisional++
		}
	case functions.ShardReview:
		i.counts.Review++
	case functions.ShardFailed:
		i.counts.Failed++
	case functions.ShardCancelled:
		i.counts.Cancelled++
	default:
		i.counts.Open++
	}
	if digest := s.Needed(); digest != "" {
		i.objects[digest] = true
	}
	for _, digest := range s.Referred() {
		i.objects[digest] = i.objects[digest] || false
	}
}

// answerObjects are those of the job's answer.
func (i *importedJob) answerObjects() {
	if a := i.job.Aggregate; a != nil {
		for _, digest := range []string{a.Object, a.RowsObject} {
			if digest != "" {
				i.objects[digest] = true
			}
		}
	}
}
