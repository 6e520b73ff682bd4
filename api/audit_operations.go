package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/auditlog"
)

const auditExportAbout = "JSON lines: the header, then for each 256 records the records, the hashes that the tree has of them and a signed checkpoint, and the end."

// projectAuditOperations are those about a project's log.
func (s *server) projectAuditOperations() {
	const path = "/v1/projects/{project}/audit"
	readers := roles(functions.RoleOwner, functions.RoleViewer, functions.RoleAuditor)
	register(s, operation{
		id: "listAudit", method: http.MethodGet, path: path, tag: "audit", summary: "List records of the audit log", access: readers,
		about: "Who did what to what, and when. A record gets its number in the sealed log some seconds after it was written.",
	}, func(ctx context.Context, c *call, in *ListAuditInput) (*Listed[auditlog.AuditRecord], error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.listAudit(ctx, c, project, in.Paging, in.AuditQuery)
	})
	register(s, operation{
		id: "getAuditRecord", method: http.MethodGet, path: path + "/records/{index}", tag: "audit", summary: "Get a record, with the proof that it is in the log", access: readers,
	}, func(ctx context.Context, _ *call, in *AuditRecordPath) (*auditProofOutput, error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.getAuditRecord(ctx, project, in.Index)
	})
	register(s, operation{
		id: "getAuditCheckpoint", method: http.MethodGet, path: path + "/checkpoint", tag: "audit", summary: "Get the newest signed head of the log", access: readers,
		about: "Keep it: a log that does not grow out of it was changed.",
	}, func(ctx context.Context, _ *call, in *InProject) (*auditHeadOutput, error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.getAuditCheckpoint(ctx, project)
	})
	register(s, operation{
		id: "getAuditStats", method: http.MethodGet, path: path + "/stats", tag: "audit", summary: "Count records of the log", access: readers,
	}, func(ctx context.Context, _ *call, in *AuditStatsInput) (*auditStatsOutput, error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.getAuditStats(ctx, project, in.AuditStatsQuery)
	})
	register(s, operation{
		id: "exportAudit", method: http.MethodGet, path: path + "/export", tag: "audit", summary: "Export the sealed log", access: readers,
		about: "`ostraka audit verify --export FILE --key KEY` verifies it without a server.", answers: bytesAnswer(ndjson, auditExportAbout),
	}, func(ctx context.Context, c *call, in *InProject) (*streamOutput, error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.exportAudit(ctx, c, project)
	})
	register(s, operation{
		id: "pruneAudit", method: http.MethodPost, path: path + "/prune", tag: "audit", summary: "Take the content of old records out", access: roles(functions.RoleOwner),
		about: "Their hashes stay, so that the log still verifies. That it was done is a record.", body: body{limit: MaxJSONBody},
	}, func(ctx context.Context, c *call, in *PruneAuditInput) (*auditPrunedOutput, error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.pruneAudit(ctx, c, project, in.Body.Before)
	})
	register(s, operation{
		id: "restartAudit", method: http.MethodPost, path: path + "/restart", tag: "audit", summary: "Have the log begin anew after a backup was restored", access: roles(functions.RoleOwner),
		about: restartAbout, body: body{limit: MaxJSONBody},
	}, func(ctx context.Context, c *call, in *RestartAuditInput) (*auditRestartOutput, error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.restartAudit(ctx, c, project, in.RestartServerAuditInput)
	})
}

const restartAbout = "The tree goes on from the restored head, with a record that says why; from that record on the log has another name, so that nothing which was signed before is signed against. " +
	"It is shown for ever wherever the log is. Agents that remember what is lost take no more work until their owners have accepted it."

// serverAuditOperations are those about the server's own log: what it does for all projects.
func (s *server) serverAuditOperations() {
	const path = "/v1/audit"
	operators := roles(functions.RoleOperator)
	register(s, operation{
		id: "listServerAudit", method: http.MethodGet, path: path, tag: "audit", summary: "List records of the server's own audit log", access: operators,
		about: "Who did what to what, and when. A record gets its number in the sealed log some seconds after it was written.",
	}, func(ctx context.Context, c *call, in *ListServerAuditInput) (*Listed[auditlog.AuditRecord], error) {
		return s.listAudit(ctx, c, uuid.Nil, in.Paging, in.AuditQuery)
	})
	register(s, operation{
		id: "getServerAuditRecord", method: http.MethodGet, path: path + "/records/{index}", tag: "audit", summary: "Get a record, with the proof that it is in the server's own log", access: operators,
	}, func(ctx context.Context, _ *call, in *AuditRecordName) (*auditProofOutput, error) {
		return s.getAuditRecord(ctx, uuid.Nil, in.Index)
	})
	register(s, operation{
		id: "getServerAuditCheckpoint", method: http.MethodGet, path: path + "/checkpoint", tag: "audit", summary: "Get the newest signed head of the server's own log", access: operators,
		about: "Keep it: a log that does not grow out of it was changed.",
	}, func(ctx context.Context, _ *call, _ *struct{}) (*auditHeadOutput, error) {
		return s.getAuditCheckpoint(ctx, uuid.Nil)
	})
	register(s, operation{
		id: "getServerAuditStats", method: http.MethodGet, path: path + "/stats", tag: "audit", summary: "Count records of the server's own log", access: operators,
	}, func(ctx context.Context, _ *call, in *AuditStatsQuery) (*auditStatsOutput, error) {
		return s.getAuditStats(ctx, uuid.Nil, *in)
	})
	register(s, operation{
		id: "exportServerAudit", method: http.MethodGet, path: path + "/export", tag: "audit", summary: "Export the server's own log", access: operators,
		about: "`ostraka audit verify --export FILE --key KEY` verifies it without a server.", answers: bytesAnswer(ndjson, auditExportAbout),
	}, func(ctx context.Context, c *call, _ *struct{}) (*streamOutput, error) {
		return s.exportAudit(ctx, c, uuid.Nil)
	})
	register(s, operation{
		id: "pruneServerAudit", method: http.MethodPost, path: path + "/prune", tag: "audit", summary: "Take the content of old records out, of the server's own log", access: operators,
		about: "Their hashes stay, so that the log still verifies. That it was done is a record.", body: body{limit: MaxJSONBody},
	}, func(ctx context.Context, c *call, in *PruneServerAuditInput) (*auditPrunedOutput, error) {
		return s.pruneAudit(ctx, c, uuid.Nil, in.Body.Before)
	})
	register(s, operation{
		id: "restartServerAudit", method: http.MethodPost, path: path + "/restart", tag: "audit", summary: "Have the server's own log begin anew after a backup was restored", access: operators,
		about: restartAbout, body: body{limit: MaxJSONBody},
	}, func(ctx context.Context, c *call, in *RestartServerAuditInput) (*auditRestartOutput, error) {
		return s.restartAudit(ctx, c, uuid.Nil, *in)
	})
}
