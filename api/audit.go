package api

import (
	"context"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/auditlog"
)

// AuditLog is what the API asks of a project's audit log.
type AuditLog interface {
	ListAudit(ctx context.Context, project uuid.UUID, filter auditlog.AuditFilter, page functions.ListPage) ([]auditlog.AuditRecord, error) // After: a seq
	GetAudit(ctx context.Context, project uuid.UUID, index int64) (auditlog.AuditProof, error)
	AuditHead(ctx context.Context, project uuid.UUID) (auditlog.AuditHead, error)
	// AuditStats counts by actor, action, agent, function or day.
	AuditStats(ctx context.Context, project uuid.UUID, by string, from, to time.Time) ([]auditlog.AuditCount, error)
	// AuditExport yields the bytes of an export; it must be used up before the next is asked for.
	AuditExport(ctx context.Context, project uuid.UUID) iter.Seq2[[]byte, error]
	PruneAudit(ctx context.Context, by functions.Principal, project uuid.UUID, before time.Time) (int64, error)
}

// ListAuditInput asks for records of the log.
type ListAuditInput struct {
	ListInProject
	Actor    string    `query:"actor" maxLength:"200" doc:"Only what this actor did, for example agent:ID."`
	Action   string    `query:"action" maxLength:"100" doc:"Only this action, or all below it: job is job.submit and job.cancel."`
	Subject  string    `query:"subject" maxLength:"300" doc:"Only what was done to this."`
	Agent    string    `query:"agent" maxLength:"100" doc:"Only what this agent did, or what was done to or because of it."`
	Job      string    `query:"job" maxLength:"100" doc:"Only what concerns this job."`
	Sandbox  string    `query:"sandbox" maxLength:"100" doc:"Only what concerns this sandbox."`
	Decision string    `query:"decision" maxLength:"100" doc:"Only records with this decision."`
	From     time.Time `query:"from" doc:"Only what happened then or later."`
	To       time.Time `query:"to" doc:"Only what happened before."`
	Order    string    `query:"order" enum:"oldest,newest" default:"oldest" doc:"Which come first."`
}

// AuditRecordPath names a record of the log.
type AuditRecordPath struct {
	InProject
	Index int64 `path:"index" minimum:"0" doc:"The record's number in the sealed log."`
}

type auditProofOutput struct {
	Body auditlog.AuditProof
}

type auditHeadOutput struct {
	Body auditlog.AuditHead
}

// AuditStatsInput asks for statistics.
type AuditStatsInput struct {
	InProject
	By   string    `query:"by" enum:"actor,action,agent,function,day" default:"action" doc:"What records are counted by."`
	From time.Time `query:"from" doc:"Only what happened then or later."`
	To   time.Time `query:"to" doc:"Only what happened before."`
}

// AuditStats are the counts of records, the most frequent first; of days the oldest first.
type AuditStats struct {
	By     string                `json:"by"`
	Counts []auditlog.AuditCount `json:"counts"`
}

type auditStatsOutput struct {
	Body AuditStats
}

// PruneAuditInput says what is pruned.
type PruneAuditInput struct {
	InProject
	Body struct {
		Before time.Time `json:"before" doc:"The content of records that are older is taken out; their hashes stay."`
	} `nameHint:"AuditPruning"`
}

type auditPrunedOutput struct {
	Body struct {
		Pruned int64 `json:"pruned" doc:"How many records have no content any more since."`
	} `nameHint:"AuditPruned"`
}

func (s *server) auditOperations() {
	const base = "/v1/projects/{project}/audit"
	readers := roles(functions.RoleOwner, functions.RoleViewer, functions.RoleAuditor)
	register(s, operation{
		id: "listAudit", method: http.MethodGet, path: base, tag: "audit", summary: "List records of the audit log", access: readers,
		about: "Who did what to what, and when. A record gets its number in the sealed log some seconds after it was written.",
	}, s.listAudit)
	register(s, operation{
		id: "getAuditRecord", method: http.MethodGet, path: base + "/records/{index}", tag: "audit", summary: "Get a record, with the proof that it is in the log", access: readers,
	}, s.getAuditRecord)
	register(s, operation{
		id: "getAuditCheckpoint", method: http.MethodGet, path: base + "/checkpoint", tag: "audit", summary: "Get the newest signed head of the log", access: readers,
		about: "Keep it: a log that does not grow out of it was changed.",
	}, s.getAuditCheckpoint)
	register(s, operation{
		id: "getAuditStats", method: http.MethodGet, path: base + "/stats", tag: "audit", summary: "Count records of the log", access: readers,
	}, s.getAuditStats)
	register(s, operation{
		id: "exportAudit", method: http.MethodGet, path: base + "/export", tag: "audit", summary: "Export the sealed log", access: readers,
		about:   "`ostraka audit verify --export FILE --key KEY` verifies it without a server.",
		answers: bytesAnswer(ndjson, "JSON lines: the header, then for each 256 records the records, the hashes that the tree has of them and a signed checkpoint, and the end."),
	}, s.exportAudit)
	register(s, operation{
		id: "pruneAudit", method: http.MethodPost, path: base + "/prune", tag: "audit", summary: "Take the content of old records out",
		about: "Their hashes stay, so that the log still verifies. That it was done is a record.", access: roles(functions.RoleOwner), body: body{limit: MaxJSONBody},
	}, s.pruneAudit)
}

func (s *server) listAudit(ctx context.Context, c *call, in *ListAuditInput) (*Listed[auditlog.AuditRecord], error) {
	project, page, err := in.read(cursorOfNumber)
	if err != nil {
		return nil, err
	}
	records, err := s.service.ListAudit(ctx, project, auditlog.AuditFilter{
		Actor: in.Actor, Action: in.Action, Subject: in.Subject, Agent: in.Agent, Job: in.Job, Sandbox: in.Sandbox, Decision: in.Decision,
		From: in.From, To: in.To, Newest: in.Order == "newest",
	}, page)
	if err != nil {
		return nil, err
	}
	return listed(c, page, records, cursorOfNumber, func(r auditlog.AuditRecord) string { return strconv.FormatInt(r.Seq, 10) }), nil
}

func (s *server) getAuditRecord(ctx context.Context, _ *call, in *AuditRecordPath) (*auditProofOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	p, err := s.service.GetAudit(ctx, project, in.Index)
	if err != nil {
		return nil, err
	}
	return &auditProofOutput{Body: p}, nil
}

func (s *server) getAuditCheckpoint(ctx context.Context, _ *call, in *InProject) (*auditHeadOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	head, err := s.service.AuditHead(ctx, project)
	if err != nil {
		return nil, err
	}
	return &auditHeadOutput{Body: head}, nil
}

func (s *server) getAuditStats(ctx context.Context, _ *call, in *AuditStatsInput) (*auditStatsOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	counts, err := s.service.AuditStats(ctx, project, in.By, in.From, in.To)
	if err != nil {
		return nil, err
	}
	if counts == nil {
		counts = []auditlog.AuditCount{}
	}
	return &auditStatsOutput{Body: AuditStats{By: in.By, Counts: counts}}, nil
}

func (s *server) exportAudit(ctx context.Context, c *call, in *InProject) (*streamOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	return streamed(ctx, s, c, "exporting an audit log", s.service.AuditExport(ctx, project), writeBytes)
}

func (s *server) pruneAudit(ctx context.Context, c *call, in *PruneAuditInput) (*auditPrunedOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	out := &auditPrunedOutput{}
	out.Body.Pruned, err = s.service.PruneAudit(ctx, c.principal, project, in.Body.Before)
	if err != nil {
		return nil, err
	}
	return out, nil
}
