package auditlog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	auditlog "github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/auditlog/sql"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

// lostCandidates is how many of the greatest heads that agents have co-signed are looked at when a log begins anew.
const lostCandidates = 16

// What a restart is refused with.
var (
	ErrNotSealed = &functions.Error{
		Kind: functions.KindConflict, Code: "not_sealed", Message: "the log is not sealed up to now, so that it has no head to go on from",
		Hint: "try again in some seconds",
	}
	ErrLogChanged = &functions.Error{
		Kind: functions.KindConflict, Code: "log_changed", Message: "the log is not what was signed: nothing is signed on top of it",
		Hint: "ostraka audit verify says where; restore a backup whose log verifies",
	}
	ErrTooManyRestarts = &functions.Error{
		Kind: functions.KindConflict, Code: "too_many_restarts", Message: "the log began anew as often as a log may",
		Hint: "make another project",
	}
)

// NewRestart says why a log begins anew.
type NewRestart struct {
	Reason   string
	LostHead string // a signed checkpoint that the log does not grow out of; "": none is given
}

// LogRestart is one time that a log began anew.
type LogRestart struct {
	Index    int64     `json:"index" doc:"The number of the record that says so."`
	At       time.Time `json:"at"`
	Actor    string    `json:"actor"`
	Reason   string    `json:"reason"`
	From     string    `json:"from" doc:"What the log was called before."`
	Origin   string    `json:"origin" doc:"What it is called since."`
	Restored int64     `json:"restored" doc:"How many records the head had that it went on from."`
	Lost     *int64    `json:"lost,omitempty" doc:"How many records the greatest head had that was known to be lost. Left out: none was known."`
	Record   string    `json:"record" doc:"The bytes that were hashed."`
	Proof    string    `json:"proof,omitempty" doc:"A C2SP tlog-proof that the log has the record, by the newest head; the last restart has one."`
}

func (r NewRestart) check() error {
	if strings.TrimSpace(r.Reason) == "" || !utf8.ValidString(r.Reason) || utf8.RuneCountInString(r.Reason) > auditlog.MaxRestartReason || strings.ContainsFunc(r.Reason, unicode.IsControl) {
		return functions.Invalid("bad_reason", fmt.Sprintf("a log begins anew for a reason of 1 to %d characters in one line", auditlog.MaxRestartReason), "say what has happened: everybody who reads the log sees it")
	}
	return nil
}

func badLostHead(why string) error {
	return functions.Invalid("bad_lost_head", "the checkpoint given is no head that the log has lost: "+why, "give one that ostraka audit checkpoint printed before the log was restored, or none")
}

// RestartLog has a log begin anew, in the open, after a backup was restored: its tree goes on from the restored head, with a record that says
// why, and its heads are called otherwise from that record on. Nothing that was signed before is signed against.
func (s *Service) RestartLog(ctx context.Context, by functions.Principal, project uuid.UUID, n NewRestart) (made LogRestart, err error) {
	if err := n.check(); err != nil {
		return made, err
	}
	key, err := s.logSigner(ctx)
	if err != nil {
		return made, err
	}
	err = s.env.In(ctx, project, func(tx *store.Tx) error {
		facts := guardian.DataFacts{Data: guardian.Data{Type: "audit", Name: logName(project)}}
		if err := s.env.Ask(ctx, tx, base.Intent{By: by, Project: project, Kind: guardian.AuditRestart, Subject: logName(project), Facts: facts, Asked: n}); err != nil {
			return err
		}
		cosigned, err := greatestCosigned(ctx, tx, project)
		if err != nil {
			return err
		}
		restart, err := prepareRestart(ctx, tx, project, key, n, cosigned)
		if err != nil {
			return err
		}
		if made, err = sealRestart(ctx, tx, project, key, by, restart); err != nil {
			return err
		}
		return asServer(ctx, tx, func() error {
			_, err := store.Exec(ctx, tx, sql.DropCosignatures, orServer(project))
			return err
		})
	})
	if err == nil {
		s.heads.drop(project)
	}
	return made, err
}

// asServer does in a transaction what is the server's, and takes the project's role again.
func asServer(ctx context.Context, tx *store.Tx, do func() error) error {
	was := tx.Server()
	if err := tx.SetServer(ctx, true); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return tx.SetServer(ctx, was)
}

// greatestCosigned are the greatest heads of a log that agents have co-signed.
func greatestCosigned(ctx context.Context, tx *store.Tx, project uuid.UUID) (notes []string, err error) {
	err = asServer(ctx, tx, func() (err error) {
		notes, err = store.Values[string](ctx, tx, sql.GreatestCosigned, orServer(project), lostCandidates)
		return err
	})
	return notes, err
}

// prepareRestart closes the gate that seals, and says what the record will say.
func prepareRestart(ctx context.Context, tx *store.Tx, project uuid.UUID, key auditlog.Key, n NewRestart, cosigned []string) (r auditlog.Restart, err error) {
	if _, err := store.Exec(ctx, tx, sql.GateAudit); err != nil {
		return r, err
	}
	before, found, err := store.One[checkpointRow](ctx, tx, sql.NewestCheckpoint)
	if err != nil {
		return r, err
	}
	if !found {
		return r, ErrNotSealed
	}
	nodes := auditNodes(ctx, tx)
	if err := soundHead(before, key, nodes); err != nil {
		return r, ErrLogChanged.With("%v", err)
	}
	known, err := store.Many[restartRow](ctx, tx, sql.ListRestarts)
	if err != nil {
		return r, err
	}
	if len(known) >= auditlog.MaxRestarts {
		return r, ErrTooManyRestarts.With("the log began anew %d times, as often as a log may", len(known))
	}
	name, err := origin(ctx, tx, project)
	if err != nil {
		return r, err
	}
	lost := lostHeads{key: key, name: name, size: before.Size, nodes: nodes}
	if err := lost.find(n.LostHead, cosigned); err != nil {
		return r, err
	}
	restored := auditlog.State(auditlog.Checkpoint{Size: before.Size, Root: auditlog.Hash(before.Root)})
	return auditlog.Restart{
		Reason: n.Reason, From: name, Origin: auditlog.NextEpoch(time.Now(), append(lost.names, name)...), Restored: restored, Lost: lost.greatest,
	}, nil
}

// lostHeads looks for the greatest head that a log had signed and does not grow out of any more.
type lostHeads struct {
	key      auditlog.Key
	name     string
	size     int64
	nodes    auditlog.Nodes
	names    []string // of all that were looked at: the next epoch comes after each
	greatest *auditlog.StatedHead
}

func (l *lostHeads) find(given string, cosigned []string) error {
	if given != "" {
		lost, err := l.look(given)
		if err != nil {
			return badLostHead(err.Error())
		}
		if !lost {
			return badLostHead("the log has grown out of it")
		}
	}
	for _, note := range cosigned {
		_, _ = l.look(note) // one that cannot be read, or is of another key, is no evidence
	}
	return nil
}

// look says whether a signed head is lost.
func (l *lostHeads) look(text string) (lost bool, err error) {
	verifier, err := l.key.Verifier(l.name)
	if err != nil {
		return false, err
	}
	head, err := auditlog.OpenEpoch([]byte(text), verifier)
	if err != nil {
		return false, err
	}
	l.names = append(l.names, head.Origin)
	if head.Size < 1 {
		return false, errors.New("it is of an empty log")
	}
	if head.Size <= l.size {
		root, err := auditlog.Root(head.Size, l.nodes)
		if err != nil || root == head.Root {
			return false, err
		}
	}
	if l.greatest != nil && l.greatest.Size >= head.Size {
		return true, nil
	}
	bare, err := auditlog.Bare([]byte(text), verifier)
	if err != nil {
		return false, err
	}
	stated := auditlog.State(head)
	stated.Checkpoint = string(bare)
	l.greatest = &stated
	return true, nil
}

// sealRestart writes the record, seals it with all that waits to be sealed, and signs the first head of the new name.
func sealRestart(ctx context.Context, tx *store.Tx, project uuid.UUID, key auditlog.Key, by functions.Principal, r auditlog.Restart) (made LogRestart, err error) {
	detail, err := r.Detail()
	if err != nil {
		return made, fmt.Errorf("writing the record of a restart: %w", err)
	}
	record, _, err := store.One[unsealedRow](ctx, tx, sql.AddReceiptRecord, by.Actor(), auditlog.RestartAction, logName(project), detail)
	if err != nil {
		return made, err
	}
	rows, err := store.Many[unsealedRow](ctx, tx, sql.UnsealedAudit, sealBatch)
	if err != nil {
		return made, err
	}
	place := -1
	for i, row := range rows {
		if row.Seq == record.Seq {
			place = i
		}
	}
	if place < 0 {
		return made, ErrNotSealed.With("more than %d records wait to be sealed before the log can begin anew", sealBatch)
	}
	if err := seal(ctx, tx, r.Origin, key, rows); err != nil {
		return made, err
	}
	text, err := record.canonical()
	if err != nil {
		return made, err
	}
	r, err = auditlog.ParseRestart(text)
	if err != nil {
		return made, fmt.Errorf("reading the record of a restart: %w", err)
	}
	r.Index = r.Restored.Size + int64(place)
	if _, err := store.Exec(ctx, tx, sql.AddRestart, r.Index, r.Origin, string(text)); err != nil {
		return made, err
	}
	return logRestart(r, string(text)), nil
}

func logRestart(r auditlog.Restart, record string) LogRestart {
	made := LogRestart{Index: r.Index, At: r.At, Actor: r.Actor, Reason: r.Reason, From: r.From, Origin: r.Origin, Restored: r.Restored.Size, Record: record}
	if r.Lost != nil {
		made.Lost = &r.Lost.Size
	}
	return made
}

type restartRow struct {
	Leaf   int64
	Record string
}

// restarts are the times that a log began anew, the last with its proof by a head.
func (s *Service) restarts(ctx context.Context, project uuid.UUID, head AuditHead) (list []LogRestart, err error) {
	if _, epoch := auditlog.Epoch(head.Origin); epoch == "" {
		return nil, nil
	}
	err = s.env.In(ctx, project, func(tx *store.Tx) error {
		rows, err := store.Many[restartRow](ctx, tx, sql.ListRestarts)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row.Leaf >= head.Size { // since the head was read
				break
			}
			r, err := auditlog.ParseRestart([]byte(row.Record))
			if err != nil {
				return fmt.Errorf("reading the record of a restart: %w", err)
			}
			r.Index = row.Leaf
			list = append(list, logRestart(r, row.Record))
		}
		if len(list) == 0 {
			return nil
		}
		newest := &list[len(list)-1]
		proof, err := auditlog.Prove(newest.Index, head.Size, []byte(head.Checkpoint), auditNodes(ctx, tx))
		newest.Proof = string(proof)
		return err
	})
	return list, err
}
