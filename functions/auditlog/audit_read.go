package auditlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"time"

	"github.com/google/uuid"

	auditlog "github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/auditlog/sql"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

// AuditRecord is one entry of an audit log.
type AuditRecord struct {
	Seq      int64           `json:"seq" doc:"In the order in which records were written; there may be gaps."`
	Leaf     *int64          `json:"index,omitempty" doc:"The record's number in the sealed log; left out until it is sealed, which takes some seconds."`
	At       time.Time       `json:"at"`
	Actor    string          `json:"actor" doc:"Who: the role and ID of a key, agent:ID, or server."`
	Action   string          `json:"action" example:"job.submit"`
	Subject  string          `json:"subject" doc:"What it was done to."`
	Detail   json.RawMessage `json:"detail"`
	PrunedAt *time.Time      `json:"pruned_at,omitempty" doc:"When its content was taken out; its hash is still in the log."`
}

// AuditFilter narrows a list of records. Zero fields match everything.
type AuditFilter struct {
	Actor, Action, Subject        string // Action also matches those below it: job is job.submit and job.cancel
	Agent, Job, Sandbox, Decision string
	Function                      string
	From, To                      time.Time
	Newest                        bool // the newest first
}

// AuditProof is a record with the proof that it is in the log.
type AuditProof struct {
	AuditRecord
	Canonical string `json:"canonical" doc:"The bytes that were hashed; empty when the content was pruned."`
	Proof     string `json:"proof" doc:"A C2SP tlog-proof: the way from the record to the signed checkpoint."`
	Key       string `json:"key" doc:"The log's key, with which the checkpoint is verified."`
}

// AuditHead is the newest signed head of a log.
type AuditHead struct {
	Origin     string    `json:"origin" doc:"The log's name."`
	Size       int64     `json:"size" doc:"How many records are sealed; 0: none yet, and then there is no checkpoint."`
	Checkpoint string    `json:"checkpoint" doc:"A C2SP tlog-checkpoint: a signed note."`
	Key        string    `json:"key" doc:"What verifies it, as C2SP signed-note writes it."`
	SignedAt   time.Time `json:"signed_at"`

	Cosignatures []Cosignature `json:"cosignatures" doc:"What agents have co-signed of the log, each the newest head that it did; 99 at most, one of each owner before a second of any, and the largest first. They may be of heads before this one."`
	Restarts     []LogRestart  `json:"restarts,omitempty" doc:"How often, where and why the log began anew, the first time first. Left out: it never did."`
	Owners       int           `json:"owners" doc:"How many independent owners are behind the agents that have co-signed exactly this head. One without an owner counts by itself."`
}

// AuditCount counts records that have something in common.
type AuditCount struct {
	Key        string    `json:"key"`
	Records    int64     `json:"records"`
	Failures   int64     `json:"failures"`
	Denials    int64     `json:"denials"`
	CPUSeconds float64   `json:"cpu_seconds" doc:"What agents and servers say that the results took which they brought."`
	Bytes      int64     `json:"bytes" doc:"Of the outputs and files of these results."`
	FirstAt    time.Time `json:"first_at"`
	LastAt     time.Time `json:"last_at"`
}

// MaxAuditCounts is how many lines of statistics are made; those with the most records are kept.
const MaxAuditCounts = 500

// ListAudit lists records in the order in which they were written, or the newest first. After is a seq.
func (s *Service) ListAudit(ctx context.Context, project uuid.UUID, f AuditFilter, page functions.ListPage) (list []AuditRecord, err error) {
	after, err := registry.AfterNumber(page)
	if err != nil {
		return nil, err
	}
	query := sql.ListAudit
	if f.Newest {
		if query = sql.ListAuditNewest; page.After == "" {
			after = math.MaxInt64
		}
	}
	err = s.env.In(ctx, project, func(tx *store.Tx) error {
		// What is not asked for falls out of the conditions where the planner knows the values: then each filter has an index to go by.
		if _, err := store.Exec(ctx, tx, sql.PlanByValues); err != nil {
			return err
		}
		list, err = store.Many[AuditRecord](ctx, tx, query, after, base.PageLimit(page), f.Actor, f.Action, f.Subject, f.Agent, f.Job, f.Sandbox, f.Decision, orNever(f.From), orNever(f.To), f.Function)
		return err
	})
	return list, err
}

func orNever(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// AuditHead returns the newest checkpoint, with what agents have co-signed.
func (s *Service) AuditHead(ctx context.Context, project uuid.UUID) (head AuditHead, err error) {
	if head, err = s.head(ctx, project); err != nil {
		return head, err
	}
	if head.Restarts, err = s.restarts(ctx, project, head); err != nil {
		return head, err
	}
	return head, s.addCosignatures(ctx, project, &head)
}

// head is AuditHead as the log alone has signed it.
func (s *Service) head(ctx context.Context, project uuid.UUID) (head AuditHead, err error) {
	key, err := s.logSigner(ctx)
	if err != nil {
		return head, err
	}
	err = s.env.In(ctx, project, func(tx *store.Tx) error {
		if head.Origin, err = origin(ctx, tx, project); err != nil {
			return err
		}
		if head.Key, err = key.Verifier(head.Origin); err != nil {
			return err
		}
		row, found, err := store.One[checkpointRow](ctx, tx, sql.NewestCheckpoint)
		if err == nil && found {
			head.Size, head.Checkpoint, head.SignedAt = row.Size, row.Note, row.SignedAt
		}
		return err
	})
	return head, err
}

// GetAudit returns a sealed record by its number, with its proof.
func (s *Service) GetAudit(ctx context.Context, project uuid.UUID, index int64) (p AuditProof, err error) {
	head, err := s.head(ctx, project)
	if err != nil {
		return p, err
	}
	if index < 0 || index >= head.Size {
		return p, functions.NotFound("record", strconv.FormatInt(index, 10))
	}
	p.Key = head.Key
	err = s.env.In(ctx, project, func(tx *store.Tx) error {
		var found bool
		if p.AuditRecord, found, err = store.One[AuditRecord](ctx, tx, sql.GetAudit, index); err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("record %d of the audit log is missing", index)
		}
		if p.PrunedAt == nil {
			text, err := unsealedRow{Seq: p.Seq, At: p.At, Actor: p.Actor, Action: p.Action, Subject: p.Subject, Detail: p.Detail}.canonical()
			if err != nil {
				return err
			}
			p.Canonical = string(text)
		}
		text, err := auditlog.Prove(index, head.Size, []byte(head.Checkpoint), auditNodes(ctx, tx))
		p.Proof = string(text)
		return err
	})
	return p, err
}

// AuditStats counts records by actor, action, agent, function or day.
func (s *Service) AuditStats(ctx context.Context, project uuid.UUID, by string, from, to time.Time) (counts []AuditCount, err error) {
	err = s.env.In(ctx, project, func(tx *store.Tx) error {
		counts, err = store.Many[AuditCount](ctx, tx, sql.AuditStats, by, orNever(from), orNever(to), MaxAuditCounts)
		return err
	})
	return counts, err
}

// PruneAudit takes the content of sealed records that are older than a time out, and keeps their hashes.
func (s *Service) PruneAudit(ctx context.Context, by functions.Principal, project uuid.UUID, before time.Time) (pruned int64, err error) {
	if before.IsZero() || before.After(time.Now()) {
		return 0, functions.Invalid("bad_period", "records can be pruned up to now, and no time, or one to come, was given", "say before which time, for example before=2026-01-01T00:00:00Z")
	}
	err = s.env.In(ctx, project, func(tx *store.Tx) error {
		pruned = 0
		facts := guardian.DataFacts{Data: guardian.Data{Type: "audit", Before: before.UTC()}}
		if err := s.env.Ask(ctx, tx, base.Intent{By: by, Project: project, Kind: guardian.AuditPrune, Subject: logName(project), Facts: facts}); err != nil {
			return err
		}
		for last, more := int64(0), true; more; {
			seqs, err := store.Values[int64](ctx, tx, sql.PruneAudit, before, last, sealBatch)
			if err != nil {
				return err
			}
			for _, seq := range seqs {
				last = max(last, seq)
			}
			pruned += int64(len(seqs))
			more = len(seqs) == sealBatch
		}
		if pruned == 0 {
			return nil
		}
		return auditIn(ctx, tx, project, by.Actor(), "audit.prune", map[string]any{"before": before.UTC(), "records": pruned})
	})
	return pruned, err
}

// logName is what a record about a whole log is about.
func logName(project uuid.UUID) string {
	if project == uuid.Nil {
		return "server"
	}
	return project.String()
}

// auditIn writes a record about a log into it.
func auditIn(ctx context.Context, tx *store.Tx, project uuid.UUID, actor, action string, detail map[string]any) error {
	if project == uuid.Nil {
		return base.AuditServer(ctx, tx, actor, action, logName(project), detail)
	}
	return base.Audit(ctx, tx, actor, action, logName(project), detail)
}

type exportRow struct {
	unsealedRow
	Leaf   int64
	Pruned bool
}

// ExportAudit writes the sealed log, see package audit. No transaction is open while the reader reads.
func (s *Service) ExportAudit(ctx context.Context, project uuid.UUID, w io.Writer) error {
	return s.exportRange(ctx, project, auditlog.Range{}, w)
}

// exportRange writes the sealed log with the content of some records.
func (s *Service) exportRange(ctx context.Context, project uuid.UUID, of auditlog.Range, w io.Writer) error {
	head, err := s.head(ctx, project)
	if err != nil {
		return err
	}
	e, err := auditlog.NewRangeExporter(w, head.Origin, head.Key, of)
	if err != nil {
		return err
	}
	for next := int64(0); next < head.Size; next += auditlog.TileSize {
		if err := s.exportTile(ctx, project, head, next, of, e); err != nil {
			return err
		}
	}
	return e.Close()
}

// exportTile writes the records of one tile, the tree's hashes of them, and the newest checkpoint that ends in it.
func (s *Service) exportTile(ctx context.Context, project uuid.UUID, head AuditHead, first int64, of auditlog.Range, e *auditlog.Exporter) error {
	from, to := of.Ends(head.Size)
	end := min(first+auditlog.TileSize, head.Size)
	var rows []exportRow
	var leaves []auditlog.Hash
	var checkpoint []byte
	err := s.env.In(ctx, project, func(tx *store.Tx) (err error) {
		if rows, err = store.Many[exportRow](ctx, tx, sql.ExportAudit, first-1, end, from, to); err != nil {
			return err
		}
		if leaves, err = sealedLeaves(ctx, tx, first, end); err != nil {
			return err
		}
		note, found, err := store.Value[string](ctx, tx, sql.LastCheckpointWithin, first, end)
		if _, bad := auditlog.OpenEpoch([]byte(note), head.Key); found && bad == nil { // else it is of a key of before
			checkpoint = []byte(note)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range rows {
		var text []byte
		if !r.Pruned {
			if text, err = r.canonical(); err != nil {
				return err
			}
		}
		if err := e.Record(r.Leaf, text); err != nil {
			return err
		}
	}
	return e.Tile(leaves, checkpoint)
}

// sealedLeaves are the hashes that the tree has of records; of one whose hash is missing it is of zeros, which no verifier takes.
func sealedLeaves(ctx context.Context, tx store.DB, first, end int64) ([]auditlog.Hash, error) {
	numbers := make([]int64, 0, end-first)
	for i := first; i < end; i++ {
		numbers = append(numbers, auditlog.LeafNode(i))
	}
	known, err := readNodes(ctx, tx, numbers)
	if err != nil {
		return nil, err
	}
	leaves := make([]auditlog.Hash, len(numbers))
	for i, n := range numbers {
		copy(leaves[i][:], known[n])
	}
	return leaves, nil
}

// errStopped ends what writes for somebody who reads no more.
var errStopped = errors.New("nobody reads on")

// AuditExport yields the lines of an export, some at a time, with the content of these records.
func (s *Service) AuditExport(ctx context.Context, project uuid.UUID, of auditlog.Range) iter.Seq2[[]byte, error] {
	return written(func(write func([]byte) error) error { return s.exportRange(ctx, project, of, writerFunc(write)) })
}

// written yields what is written, until the reader stops. The bytes are good until the next are asked for.
func written(from func(write func([]byte) error) error) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		err := from(func(b []byte) error {
			if !yield(b, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

type writerFunc func([]byte) error

// Write hands the bytes on.
func (f writerFunc) Write(b []byte) (int, error) { return len(b), f(b) }
