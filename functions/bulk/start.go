package bulk

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/bulk/sql"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

// StartBulkAction chooses what a bulk action is about and has it carried out. The nil project stands for the whole installation.
func (s *Service) StartBulkAction(ctx context.Context, by functions.Principal, project uuid.UUID, start Start, idem functions.Idempotency) (d BulkActionDetail, replayed bool, err error) {
	k, err := s.prepare(ctx, project, &start)
	if err != nil {
		return d, false, err
	}
	id := base.NewID()
	err = s.env.In(ctx, project, func(tx *store.Tx) error {
		if id, replayed, err = base.RememberInProject(ctx, tx, project, "start-bulk-action", idem, id); err != nil || replayed {
			return err
		}
		items, err := choose(ctx, tx, start, k)
		if err != nil {
			return err
		}
		return s.begin(ctx, tx, by, project, making{id: id, start: start, items: items})
	})
	if err != nil {
		return BulkActionDetail{}, false, err
	}
	d, err = s.GetBulkAction(ctx, project, id)
	return d, replayed, err
}

// making is a bulk action with what it is about.
type making struct {
	id     uuid.UUID
	start  Start
	items  []chosen
	undoes *uuid.UUID
}

// begin asks the guardian about a bulk action, keeps it, and enqueues its step.
func (s *Service) begin(ctx context.Context, tx *store.Tx, by functions.Principal, project uuid.UUID, m making) error {
	asked := asking{start: m.start, undoes: m.undoes, items: int64(len(m.items))}
	if err := s.env.Ask(ctx, tx, asked.intent(by, project, guardian.BulkStart)); err != nil {
		return err
	}
	detail := map[string]any{"subject": m.start.Subject, "action": m.start.Action, "filter": m.start.Filter, "items": len(m.items), "reason": m.start.Reason}
	if m.undoes != nil {
		detail["undoes"] = m.undoes
	}
	if err := record(ctx, tx, by, project, "bulk.start", m.id, detail); err != nil {
		return err
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return err
	}
	if err := insert(ctx, server, by, project, m); err != nil {
		return err
	}
	return s.env.Enqueue(ctx, tx, stepargs.BulkArgs{Project: project, Bulk: m.id, Turn: 1})
}

func insert(ctx context.Context, server store.DB, by functions.Principal, project uuid.UUID, m making) error {
	of := maybe(project)
	if err := mayRun(ctx, server, of); err != nil {
		return err
	}
	if err := mayKeep(ctx, server, of, int64(len(m.items))); err != nil {
		return err
	}
	filter, err := encode(m.start.Filter)
	if err != nil {
		return err
	}
	whose, err := encode(rightsOf(by))
	if err != nil {
		return err
	}
	if _, err := store.Exec(ctx, server, sql.AddBulk, m.id, of, m.start.Subject, m.start.Action, m.start.Reason, filter, whose, by.Actor(), m.undoes, len(m.items)); err != nil {
		return err
	}
	ids, revisions, states := make([]uuid.UUID, len(m.items)), make([]int64, len(m.items)), make([]string, len(m.items))
	for i, item := range m.items {
		ids[i], revisions[i], states[i] = item.Item, item.Revision, item.Was
	}
	_, err = store.Exec(ctx, server, sql.AddItems, m.id, ids, revisions, states)
	return err
}

// mayRun refuses one bulk action more than may run at once.
func mayRun(ctx context.Context, server store.DB, project *uuid.UUID) error {
	if _, err := store.Exec(ctx, server, sql.LockStarts, project); err != nil {
		return err
	}
	running, _, err := store.Value[int64](ctx, server, sql.CountRunning, project)
	if err != nil || running < MaxRunning {
		return err
	}
	return &functions.Error{
		Kind: functions.KindConflict, Code: "too_many_bulk_actions", Message: fmt.Sprintf("%d bulk actions run already, and no more do at once", MaxRunning),
		Hint: "wait until one has ended, or cancel one",
	}
}

// mayKeep refuses more items than are kept; whoever calls it has called mayRun, so that two are counted one after the other.
func mayKeep(ctx context.Context, server store.DB, project *uuid.UUID, more int64) error {
	kept, _, err := store.Value[int64](ctx, server, sql.CountKeptItems, project)
	if err != nil || kept+more <= MaxKept {
		return err
	}
	return &functions.Error{
		Kind: functions.KindConflict, Code: "too_many_bulk_items", Message: fmt.Sprintf("%d items of bulk actions are kept; with %d more they would be over %d", kept, more, MaxKept),
		Hint: "choose fewer, or wait: which flags and jobs were done is forgotten a day after the end, the rest after 30 days",
	}
}

func encode(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding a bulk action: %w", err)
	}
	return text, nil
}

// maybe is a project as the database knows it; nil: the whole installation.
func maybe(project uuid.UUID) *uuid.UUID {
	if project == uuid.Nil {
		return nil
	}
	return &project
}

// asking is what the guardian is asked about, and what a person's yes is for.
type asking struct {
	start  Start
	undoes *uuid.UUID
	bulk   *uuid.UUID // which is retried or stopped
	items  int64
}

// intent is a bulk action in the words of the guardian.
func (a asking) intent(by functions.Principal, project uuid.UUID, kind guardian.Kind) base.Intent {
	s := a.start
	facts := guardian.DecisionFacts{Decision: guardian.Decided{About: string(s.Subject), Verdict: s.Action, Reason: s.Reason, Function: s.Filter.Function, Items: a.items}}
	if s.Filter.Job != nil {
		facts.Decision.Job = s.Filter.Job.String()
	}
	if a.undoes != nil {
		facts.Decision.Undoes = a.undoes.String()
	}
	asked := struct {
		BulkFilter
		Undoes *uuid.UUID `json:"undoes,omitempty"`
		Bulk   *uuid.UUID `json:"bulk,omitempty"`
		Items  int64      `json:"items"`
	}{s.Filter, a.undoes, a.bulk, a.items}
	return base.Intent{By: by, Project: project, Kind: kind, Subject: string(s.Subject) + "/" + s.Action, Facts: facts, Asked: asked}
}

// record writes into the log of the project, or of the installation.
func record(ctx context.Context, tx *store.Tx, by functions.Principal, project uuid.UUID, action string, id uuid.UUID, detail map[string]any) error {
	if project == uuid.Nil {
		return base.AuditServer(ctx, tx, by.Actor(), action, id.String(), detail)
	}
	return base.Audit(ctx, tx, by.Actor(), action, id.String(), detail)
}
