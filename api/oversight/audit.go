package oversight

import (
	"context"
	"iter"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/auditlog"
)

// AuditLog is what the API asks of the audit logs: a project's, or, of the nil project, the server's own.
type AuditLog interface {
	ListAudit(ctx context.Context, project uuid.UUID, filter auditlog.AuditFilter, page functions.ListPage) ([]auditlog.AuditRecord, error) // After: a seq
	GetAudit(ctx context.Context, project uuid.UUID, index int64) (auditlog.AuditProof, error)
	AuditHead(ctx context.Context, project uuid.UUID) (auditlog.AuditHead, error)
	// AuditStats counts by actor, action, agent, function or day.
	AuditStats(ctx context.Context, project uuid.UUID, by string, from, to time.Time) ([]auditlog.AuditCount, error)
	// AuditExport yields the bytes of an export with the content of these records; it must be used up before the next is asked for.
	AuditExport(ctx context.Context, project uuid.UUID, of audit.Range) iter.Seq2[[]byte, error]
	PruneAudit(ctx context.Context, by functions.Principal, project uuid.UUID, before time.Time) (int64, error)
	// RestartLog has a log begin anew, in the open, after a backup was restored.
	RestartLog(ctx context.Context, by functions.Principal, project uuid.UUID, n auditlog.NewRestart) (auditlog.LogRestart, error)
}

// AuditQuery narrows a list of records.
type AuditQuery struct {
	Actor    string    `query:"actor" maxLength:"200" doc:"Only what this actor did, for example agent:ID."`
	Action   string    `query:"action" maxLength:"100" doc:"Only this action, or all below it: job is job.submit and job.cancel."`
	Subject  string    `query:"subject" maxLength:"300" doc:"Only what was done to this."`
	Agent    string    `query:"agent" maxLength:"100" doc:"Only what this agent did, or what was done to or because of it."`
	Job      string    `query:"job" maxLength:"100" doc:"Only what concerns this job."`
	Sandbox  string    `query:"sandbox" maxLength:"100" doc:"Only what concerns this sandbox."`
	Function string    `query:"function" maxLength:"100" doc:"Only what concerns this function."`
	Decision string    `query:"decision" maxLength:"100" doc:"Only records with this decision."`
	From     time.Time `query:"from" doc:"Only what happened then or later."`
	To       time.Time `query:"to" doc:"Only what happened before."`
	Order    string    `query:"order" enum:"oldest,newest" default:"oldest" doc:"Which come first."`
}

func (q AuditQuery) filter() auditlog.AuditFilter {
	return auditlog.AuditFilter{
		Actor: q.Actor, Action: q.Action, Subject: q.Subject, Agent: q.Agent, Job: q.Job, Sandbox: q.Sandbox, Decision: q.Decision,
		Function: q.Function, From: q.From, To: q.To, Newest: q.Order == "newest",
	}
}

// ListAuditInput asks for records of a project's log.
type ListAuditInput struct {
	rest.ListInProject
	AuditQuery
}

// ListServerAuditInput asks for records of the server's own log.
type ListServerAuditInput struct {
	rest.Paging
	AuditQuery
}

// AuditRecordName names a record of a log.
type AuditRecordName struct {
	Index int64 `path:"index" minimum:"0" doc:"The record's number in the sealed log."`
}

// AuditRecordPath names a record of a project's log.
type AuditRecordPath struct {
	rest.InProject
	AuditRecordName
}

type auditProofOutput struct {
	Body auditlog.AuditProof
}

type auditHeadOutput struct {
	Body auditlog.AuditHead
}

// AuditStatsQuery says what is counted.
type AuditStatsQuery struct {
	By   string    `query:"by" enum:"actor,action,agent,function,day" default:"action" doc:"What records are counted by."`
	From time.Time `query:"from" doc:"Only what happened then or later."`
	To   time.Time `query:"to" doc:"Only what happened before."`
}

// AuditStatsInput asks for statistics of a project's log.
type AuditStatsInput struct {
	rest.InProject
	AuditStatsQuery
}

// AuditStats are the counts of records, the most frequent first; of days the oldest first.
type AuditStats struct {
	By     string                `json:"by"`
	Counts []auditlog.AuditCount `json:"counts"`
}

type auditStatsOutput struct {
	Body AuditStats
}

// PruneServerAuditInput says what is pruned.
type PruneServerAuditInput struct {
	Body struct {
		Before time.Time `json:"before" doc:"The content of records that are older is taken out; their hashes stay."`
	} `nameHint:"AuditPruning"`
}

// PruneAuditInput says what is pruned of a project's log.
type PruneAuditInput struct {
	rest.InProject
	PruneServerAuditInput
}

// AuditRangeQuery says whose content an export has.
type AuditRangeQuery struct {
	From int64 `query:"from" minimum:"0" doc:"The number of the first record whose content is exported; of all others the hashes are."`
	To   int64 `query:"to" minimum:"0" doc:"The number of the first record behind them; left out or 0: there is none."`
}

func (q AuditRangeQuery) bounds() (audit.Range, error) {
	of := audit.Range{From: q.From, To: q.To}
	if err := of.Check(); err != nil {
		return of, functions.Invalid("bad_record_range", err.Error(), "give the number of the first record as from, and of the one behind the last as to")
	}
	return of, nil
}

// ExportAuditInput asks for a project's log.
type ExportAuditInput struct {
	rest.InProject
	AuditRangeQuery
}

type auditPrunedOutput struct {
	Body struct {
		Pruned int64 `json:"pruned" doc:"How many records have no content any more since."`
	} `nameHint:"AuditPruned"`
}

// RestartServerAuditInput says why a log begins anew.
type RestartServerAuditInput struct {
	Body struct {
		Reason   string `json:"reason" minLength:"1" maxLength:"200" doc:"What has happened. Everybody who reads the log sees it, and so do the owners of machines that remember what is lost."`
		LostHead string `json:"lost_head,omitempty" maxLength:"32768" doc:"A checkpoint that the log had signed and does not grow out of any more. Left out: the greatest that agents have co-signed, where the database has one."`
	} `nameHint:"NewLogRestart"`
}

// RestartAuditInput says why a project's log begins anew.
type RestartAuditInput struct {
	rest.InProject
	RestartServerAuditInput
}

type auditRestartOutput struct {
	Body auditlog.LogRestart
}

func (s *server) listAudit(ctx context.Context, c *rest.Call, project uuid.UUID, paging rest.Paging, query AuditQuery) (*rest.Listed[auditlog.AuditRecord], error) {
	page, err := paging.Page(rest.CursorOfNumber)
	if err != nil {
		return nil, err
	}
	records, err := s.service.ListAudit(ctx, project, query.filter(), page)
	if err != nil {
		return nil, err
	}
	return rest.AnswerList(c, page, records, rest.CursorOfNumber, func(r auditlog.AuditRecord) string { return strconv.FormatInt(r.Seq, 10) }), nil
}

func (s *server) getAuditRecord(ctx context.Context, project uuid.UUID, index int64) (*auditProofOutput, error) {
	p, err := s.service.GetAudit(ctx, project, index)
	if err != nil {
		return nil, err
	}
	return &auditProofOutput{Body: p}, nil
}

func (s *server) getAuditCheckpoint(ctx context.Context, project uuid.UUID) (*auditHeadOutput, error) {
	head, err := s.service.AuditHead(ctx, project)
	if err != nil {
		return nil, err
	}
	return &auditHeadOutput{Body: head}, nil
}

func (s *server) getAuditStats(ctx context.Context, project uuid.UUID, in AuditStatsQuery) (*auditStatsOutput, error) {
	counts, err := s.service.AuditStats(ctx, project, in.By, in.From, in.To)
	if err != nil {
		return nil, err
	}
	if counts == nil {
		counts = []auditlog.AuditCount{}
	}
	return &auditStatsOutput{Body: AuditStats{By: in.By, Counts: counts}}, nil
}

func (s *server) exportAudit(ctx context.Context, c *rest.Call, project uuid.UUID, in AuditRangeQuery) (*rest.StreamOutput, error) {
	of, err := in.bounds()
	if err != nil {
		return nil, err
	}
	return rest.Streamed(ctx, s.Server, c, "exporting an audit log", s.service.AuditExport(ctx, project, of), rest.WriteBytes)
}

func (s *server) pruneAudit(ctx context.Context, c *rest.Call, project uuid.UUID, before time.Time) (out *auditPrunedOutput, err error) {
	out = &auditPrunedOutput{}
	out.Body.Pruned, err = s.service.PruneAudit(ctx, c.Principal, project, before)
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (s *server) restartAudit(ctx context.Context, c *rest.Call, project uuid.UUID, in RestartServerAuditInput) (*auditRestartOutput, error) {
	made, err := s.service.RestartLog(ctx, c.Principal, project, auditlog.NewRestart{Reason: in.Body.Reason, LostHead: in.Body.LostHead})
	if err != nil {
		return nil, err
	}
	return &auditRestartOutput{Body: made}, nil
}
