package auditlog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	auditlog "github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions/auditlog/sql"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
)

const (
	// sealBatch is how many records one transaction seals: a log that grew before logs were sealed is sealed in several.
	sealBatch = 2000
	// sealProjects is how many projects are listed at a time.
	sealProjects = 500
)

// origin is the name of a log in its checkpoints: a project's, or, for the nil project, the server's own; since it began anew another one.
func origin(ctx context.Context, tx *store.Tx, project uuid.UUID) (string, error) {
	name, begun, err := store.Value[string](ctx, tx, sql.LogOrigin)
	if err != nil || begun {
		return name, err
	}
	if project != uuid.Nil {
		return auditlog.ProjectOrigin(project.String()), nil
	}
	id, _, err := store.Value[uuid.UUID](ctx, tx, sql.InstallationID)
	return auditlog.ServerOrigin(id.String()), err
}

// Seal numbers the records that are not sealed yet, puts their hashes into the tree of their log and signs its head: of the server's own log,
// and of each project's.
func (s *Service) Seal(ctx context.Context, _ stepargs.SealArgs) error {
	key, err := s.logSigner(ctx)
	if err != nil {
		return fmt.Errorf("getting the key of the audit logs: %w", err)
	}
	if err := s.sealOrSay(ctx, uuid.Nil, key); err != nil {
		return err
	}
	for last := uuid.Nil; ; {
		var projects []uuid.UUID
		err := s.env.Control(ctx, func(tx pgx.Tx) (err error) {
			projects, err = store.Values[uuid.UUID](ctx, tx, store.ProjectIDs, last, sealProjects)
			return err
		})
		if err != nil {
			return fmt.Errorf("listing projects whose logs are sealed: %w", err)
		}
		for _, project := range projects {
			last = project
			if err := s.sealOrSay(ctx, project, key); err != nil {
				return err
			}
		}
		if len(projects) < sealProjects {
			return nil
		}
	}
}

// sealOrSay seals one log. One that cannot be sealed must not keep the others, nor have the step wait before it runs again.
func (s *Service) sealOrSay(ctx context.Context, project uuid.UUID, key auditlog.Key) error {
	if err := s.sealLog(ctx, project, key); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		s.env.Log.ErrorContext(ctx, "an audit log is not sealed", "project", project, "error", err)
	}
	return nil
}

// logSigner is the key from the operator's file, or one that the database keeps.
func (s *Service) logSigner(ctx context.Context) (auditlog.Key, error) {
	if !s.logKey.Zero() {
		return s.logKey, nil
	}
	var text string
	err := s.env.Control(ctx, func(tx pgx.Tx) error {
		var found bool
		var err error
		if text, found, err = store.Value[string](ctx, tx, sql.LogKey); err != nil || found {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.AddLogKey, auditlog.NewKey().Secret()); err != nil {
			return err
		}
		text, _, err = store.Value[string](ctx, tx, sql.LogKey) // of several servers that begin at once, one makes it
		return err
	})
	if err != nil {
		return auditlog.Key{}, err
	}
	return auditlog.ParseKey(text)
}

type unsealedRow struct {
	Seq     int64
	At      time.Time
	Actor   string
	Action  string
	Subject string
	Detail  json.RawMessage
}

func (r unsealedRow) canonical() ([]byte, error) {
	return auditlog.Record{Seq: r.Seq, At: r.At, Actor: r.Actor, Action: r.Action, Subject: r.Subject, Detail: r.Detail}.Canonical()
}

type checkpointRow struct {
	Size     int64
	Root     []byte
	Note     string
	SignedAt time.Time
}

// sealLog seals a project's log, or, for the nil project, the server's own.
func (s *Service) sealLog(ctx context.Context, project uuid.UUID, key auditlog.Key) error {
	for more := true; more; {
		err := s.env.In(ctx, project, func(tx *store.Tx) error {
			rows, err := store.Many[unsealedRow](ctx, tx, sql.UnsealedAudit, 1)
			if err != nil || len(rows) == 0 {
				more = false
				return err
			}
			if _, err := store.Exec(ctx, tx, sql.GateAudit); err != nil {
				return err
			}
			// Again behind the gate: another server may have been faster.
			if rows, err = store.Many[unsealedRow](ctx, tx, sql.UnsealedAudit, sealBatch); err != nil {
				return err
			}
			more = len(rows) == sealBatch
			name, err := origin(ctx, tx, project)
			if err != nil {
				return err
			}
			return seal(ctx, tx, name, key, rows)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// seal appends rows to the tree and signs the new head. It signs nothing that does not grow out of the head before.
func seal(ctx context.Context, tx *store.Tx, origin string, key auditlog.Key, rows []unsealedRow) error {
	if len(rows) == 0 {
		return nil
	}
	before, _, err := store.One[checkpointRow](ctx, tx, sql.NewestCheckpoint)
	if err != nil {
		return err
	}
	nodes := auditNodes(ctx, tx)
	if err := soundHead(before, key, nodes); err != nil {
		return err
	}
	seqs, numbers, leaves := make([]int64, len(rows)), make([]int64, len(rows)), make([]auditlog.Hash, len(rows))
	for i, r := range rows {
		text, err := r.canonical()
		if err != nil {
			return err
		}
		seqs[i], numbers[i], leaves[i] = r.Seq, before.Size+int64(i), auditlog.Leaf(text)
	}
	fresh, root, err := auditlog.Grow(before.Size, leaves, nodes)
	if err != nil {
		return err
	}
	size := before.Size + int64(len(rows))
	note, err := key.Sign(auditlog.Checkpoint{Origin: origin, Size: size, Root: root})
	if err != nil {
		return err
	}
	hashes := make([][]byte, len(fresh))
	for i := range fresh {
		hashes[i] = fresh[i][:]
	}
	if sealed, err := store.Exec(ctx, tx, sql.SealAudit, seqs, numbers); err != nil || sealed != int64(len(rows)) {
		return errors.Join(err, fmt.Errorf("numbered %d of %d records", sealed, len(rows)))
	}
	if _, err := store.Exec(ctx, tx, sql.AddAuditNodes, auditlog.NodeCount(before.Size), hashes); err != nil {
		return err
	}
	_, err = store.Exec(ctx, tx, sql.AddAuditCheckpoint, size, root[:], string(note))
	return err
}

// soundHead refuses to continue from a head that is not what was signed: to sign what follows would make a changed log look whole. A head
// that another key has signed is judged by its root alone, since an operator may change the key. It may be of the epoch before.
func soundHead(before checkpointRow, key auditlog.Key, nodes auditlog.Nodes) error {
	if before.Size == 0 {
		return nil
	}
	root, err := auditlog.Root(before.Size, nodes)
	if err != nil {
		return err
	}
	verifier, err := key.Verifier(auditlog.Origin([]byte(before.Note)))
	if err != nil {
		return err
	}
	signed, err := auditlog.Open([]byte(before.Note), verifier)
	if err == nil && (signed.Size != before.Size || !bytes.Equal(signed.Root[:], before.Root)) || !bytes.Equal(root[:], before.Root) {
		return fmt.Errorf("the log was changed: the tree over its first %d records is not the one that was signed; `ostraka audit verify` says where", before.Size)
	}
	return nil
}

// auditNodes reads nodes of a log's tree.
func auditNodes(ctx context.Context, tx store.DB) auditlog.Nodes {
	return func(numbers []int64) ([]auditlog.Hash, error) {
		known, err := readNodes(ctx, tx, numbers)
		if err != nil {
			return nil, err
		}
		hashes := make([]auditlog.Hash, len(numbers))
		for i, n := range numbers {
			if copy(hashes[i][:], known[n]) != len(hashes[i]) {
				return nil, fmt.Errorf("node %d of the audit log's tree is missing", n)
			}
		}
		return hashes, nil
	}
}

func readNodes(ctx context.Context, tx store.DB, numbers []int64) (map[int64][]byte, error) {
	type row struct {
		Number int64
		Hash   []byte
	}
	rows, err := store.Many[row](ctx, tx, sql.GetAuditNodes, numbers)
	known := make(map[int64][]byte, len(rows))
	for _, r := range rows {
		known[r.Number] = r.Hash
	}
	return known, err
}
