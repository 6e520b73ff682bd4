package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/ostraka/ostraka/runtime/canonical"
)

const (
	// Format names the form of documents; a program that knows another one refuses it.
	Format = "ostraka.archive.v1"
	// MaxDocument is how long a document may be, in bytes.
	MaxDocument = 16 << 20
)

// Document says what an archived job was. Its file is named by its digest, as that of the shards is.
type Document struct {
	Format     string    `json:"format"`
	Project    string    `json:"project"`
	Job        string    `json:"job"`
	State      string    `json:"state"`
	ArchivedBy string    `json:"archived_by"`
	ArchivedAt time.Time `json:"archived_at"` // when it was written
	Function   Function  `json:"function"`
	Shards     Counts    `json:"shards"`
	Results    Results   `json:"results"`
	// Record is the job as the API shows it: input, policy, modules with their digests, bound, counters, answer.
	Record json.RawMessage `json:"record"`
	// What else is known of it, as the API shows each.
	Aggregations json.RawMessage `json:"aggregations,omitempty"`
	Metrics      json.RawMessage `json:"metrics,omitempty"`
	Incidents    json.RawMessage `json:"incidents,omitempty"`
	Flags        json.RawMessage `json:"flags,omitempty"`
	// Receipt is the receipt without the lines of its shards, which the file of shards has.
	Receipt string `json:"receipt,omitempty"`
}

// Function is what was executed.
type Function struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	Digest  string `json:"digest"` // of the bundle
}

// Counts are those of the job's shards by state.
type Counts struct {
	Total     int64 `json:"total"`
	Accepted  int64 `json:"accepted"`
	Failed    int64 `json:"failed"`
	Cancelled int64 `json:"cancelled"` // those that were never made among them
	Attempts  int64 `json:"attempts"`
}

// Results names the file of shards.
type Results struct {
	Digest string `json:"digest"` // SHA-256 of the file
	Bytes  int64  `json:"bytes"`
	Rows   int64  `json:"rows"` // shards in it: those that were made
}

// Encode writes a document that Parse takes.
func (d Document) Encode() ([]byte, error) {
	d.Format = Format
	text, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encoding the document of an archive: %w", err)
	}
	if len(text) > MaxDocument {
		return nil, fmt.Errorf("%w: the document has %d bytes, and may have %d", ErrTooLarge, len(text), MaxDocument)
	}
	return append(text, '\n'), d.check()
}

// ErrTooLarge says that a job is larger than what an archive holds.
var ErrTooLarge = errors.New("the job is too large for an archive")

// Parse reads a document, which may come from anybody.
func Parse(text []byte) (d Document, err error) {
	if len(text) > MaxDocument+1 {
		return d, fmt.Errorf("the document has %d bytes, and may have %d", len(text), MaxDocument)
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&d); err != nil {
		return d, fmt.Errorf("the document is not one of an archive: %w", err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return d, errors.New("something follows the document")
	}
	return d, d.check()
}

var (
	idPattern   = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	namePattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)
)

// check says what of a document cannot be.
func (d Document) check() error {
	c := d.Shards
	switch {
	case d.Format != Format:
		return fmt.Errorf("the document is of the form %.40q, and this program knows %q", d.Format, Format)
	case !idPattern.MatchString(d.Project) || !idPattern.MatchString(d.Job):
		return errors.New("the document names no project and job")
	case d.State != "finished" && d.State != "failed" && d.State != "cancelled":
		return fmt.Errorf("a job that is %.20q is in no archive", d.State)
	case !namePattern.MatchString(d.Function.Name) || d.Function.Version < 1 || !canonical.IsDigest(d.Function.Digest):
		return errors.New("the document names no version of a function")
	case !canonical.IsDigest(d.Results.Digest) || d.Results.Bytes < 1:
		return errors.New("the document names no file of shards")
	case c.Total < 1 || c.Total > MaxRows || min(c.Accepted, c.Failed, c.Cancelled, c.Attempts) < 0 || max(c.Accepted, c.Failed, c.Cancelled) > c.Total:
		return errors.New("the counts of shards cannot be")
	case d.Results.Rows < c.Accepted || d.Results.Rows > c.Total:
		return fmt.Errorf("the file has %d shards, and the job %d of %d accepted", d.Results.Rows, c.Accepted, c.Total)
	case len(d.Record) == 0:
		return errors.New("the document has no record of the job")
	}
	return nil
}
