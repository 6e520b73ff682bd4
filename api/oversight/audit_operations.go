package oversight

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/auditlog"
)

const auditExportAbout = "JSON lines: the header, then for each 256 records the records, the hashes that the tree has of them and a signed checkpoint, and the end."

// ProjectAuditOperations are those about a project's log.
func (s *server) projectAuditOperations() {
	const path = "/v1/projects/{project}/audit"
	readers := rest.Roles(functions.RoleOwner, functions.RoleViewer, functions.RoleAuditor)
	rest.Register(s.Server, rest.Operation{
		ID: "listAudit", Method: http.MethodGet, Path: path, Tag: "audit", Summary: "List records of the audit log", Access: readers,
		About: "Who did what to what, and when. A record gets its number in the sealed log some seconds after it was written.",
	}, func(ctx context.Context, c *rest.Call, in *ListAuditInput) (*rest.Listed[auditlog.AuditRecord], error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.listAudit(ctx, c, project, in.Paging, in.AuditQuery)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "getAuditRecord", Method: http.MethodGet, Path: path + "/records/{index}", Tag: "audit", Summary: "Get a record, with the proof that it is in the log", Access: readers,
	}, func(ctx context.Context, _ *rest.Call, in *AuditRecordPath) (*auditProofOutput, error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.getAuditRecord(ctx, project, in.Index)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "getAuditCheckpoint", Method: http.MethodGet, Path: path + "/checkpoint", Tag: "audit", Summary: "Get the newest signed head of the log", Access: readers,
		About: "Keep it: a log that does not grow out of it was changed.",
	}, func(ctx context.Context, _ *rest.Call, in *rest.InProject) (*auditHeadOutput, error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.getAuditCheckpoint(ctx, project)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "getAuditStats", Method: http.MethodGet, Path: path + "/stats", Tag: "audit", Summary: "Count records of the log", Access: readers,
	}, func(ctx context.Context, _ *rest.Call, in *AuditStatsInput) (*auditStatsOutput, error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.getAuditStats(ctx, project, in.AuditStatsQuery)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "exportAudit", Method: http.MethodGet, Path: path + "/export", Tag: "audit", Summary: "Export the sealed log", Access: readers,
		About: "`ostraka audit verify --export FILE --key KEY` verifies it without a server.", Answers: rest.BytesAnswer(rest.NDJSON, auditExportAbout),
	}, func(ctx context.Context, c *rest.Call, in *ExportAuditInput) (*rest.StreamOutput, error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.exportAudit(ctx, c, project, in.AuditRangeQuery)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "pruneAudit", Method: http.MethodPost, Path: path + "/prune", Tag: "audit", Summary: "Take the content of old records out", Access: rest.Roles(functions.RoleOwner),
		About: "Their hashes stay, so that the log still verifies. That it was done is a record.", Body: rest.Body{Limit: rest.MaxJSONBody},
	}, func(ctx context.Context, c *rest.Call, in *PruneAuditInput) (*auditPrunedOutput, error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.pruneAudit(ctx, c, project, in.Body.Before)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "restartAudit", Method: http.MethodPost, Path: path + "/restart", Tag: "audit", Summary: "Have the log begin anew after a backup was restored", Access: rest.Roles(functions.RoleOwner),
		About: restartAbout, Body: rest.Body{Limit: rest.MaxJSONBody},
	}, func(ctx context.Context, c *rest.Call, in *RestartAuditInput) (*auditRestartOutput, error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.restartAudit(ctx, c, project, in.RestartServerAuditInput)
	})
}

const restartAbout = "The tree goes on from the restored head, with a record that says why; from that record on the log has another name, so that nothing which was signed before is signed against. " +
	"It is shown for ever wherever the log is. Agents that remember what is lost take no more work until their owners have accepted it."

// ServerAuditOperations are those about the server's own log: what it does for all projects.
func (s *server) serverAuditOperations() {
	const path = "/v1/audit"
	operators := rest.Roles(functions.RoleOperator)
	rest.Register(s.Server, rest.Operation{
		ID: "listServerAudit", Method: http.MethodGet, Path: path, Tag: "audit", Summary: "List records of the server's own audit log", Access: operators,
		About: "Who did what to what, and when. A record gets its number in the sealed log some seconds after it was written.",
	}, func(ctx context.Context, c *rest.Call, in *ListServerAuditInput) (*rest.Listed[auditlog.AuditRecord], error) {
		return s.listAudit(ctx, c, uuid.Nil, in.Paging, in.AuditQuery)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "getServerAuditRecord", Method: http.MethodGet, Path: path + "/records/{index}", Tag: "audit", Summary: "Get a record, with the proof that it is in the server's own log", Access: operators,
	}, func(ctx context.Context, _ *rest.Call, in *AuditRecordName) (*auditProofOutput, error) {
		return s.getAuditRecord(ctx, uuid.Nil, in.Index)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "getServerAuditCheckpoint", Method: http.MethodGet, Path: path + "/checkpoint", Tag: "audit", Summary: "Get the newest signed head of the server's own log", Access: operators,
		About: "Keep it: a log that does not grow out of it was changed.",
	}, func(ctx context.Context, _ *rest.Call, _ *struct{}) (*auditHeadOutput, error) {
		return s.getAuditCheckpoint(ctx, uuid.Nil)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "getServerAuditStats", Method: http.MethodGet, Path: path + "/stats", Tag: "audit", Summary: "Count records of the server's own log", Access: operators,
	}, func(ctx context.Context, _ *rest.Call, in *AuditStatsQuery) (*auditStatsOutput, error) {
		return s.getAuditStats(ctx, uuid.Nil, *in)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "exportServerAudit", Method: http.MethodGet, Path: path + "/export", Tag: "audit", Summary: "Export the server's own log", Access: operators,
		About: "`ostraka audit verify --export FILE --key KEY` verifies it without a server.", Answers: rest.BytesAnswer(rest.NDJSON, auditExportAbout),
	}, func(ctx context.Context, c *rest.Call, in *AuditRangeQuery) (*rest.StreamOutput, error) {
		return s.exportAudit(ctx, c, uuid.Nil, *in)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "pruneServerAudit", Method: http.MethodPost, Path: path + "/prune", Tag: "audit", Summary: "Take the content of old records out, of the server's own log", Access: operators,
		About: "Their hashes stay, so that the log still verifies. That it was done is a record.", Body: rest.Body{Limit: rest.MaxJSONBody},
	}, func(ctx context.Context, c *rest.Call, in *PruneServerAuditInput) (*auditPrunedOutput, error) {
		return s.pruneAudit(ctx, c, uuid.Nil, in.Body.Before)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "restartServerAudit", Method: http.MethodPost, Path: path + "/restart", Tag: "audit", Summary: "Have the server's own log begin anew after a backup was restored", Access: operators,
		About: restartAbout, Body: rest.Body{Limit: rest.MaxJSONBody},
	}, func(ctx context.Context, c *rest.Call, in *RestartServerAuditInput) (*auditRestartOutput, error) {
		return s.restartAudit(ctx, c, uuid.Nil, *in)
	})
}
