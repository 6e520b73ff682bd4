package jobs

import (
	"context"
	"iter"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/auditlog"
)

// Receipts is what the API asks of the domain about the receipts of jobs.
type Receipts interface {
	// MakeReceipt asks for the receipt of a job that has ended, and GetReceipt says how far it is.
	MakeReceipt(ctx context.Context, by functions.Principal, project, job uuid.UUID) (auditlog.JobReceipt, error)
	GetReceipt(ctx context.Context, project, job uuid.UUID) (auditlog.JobReceipt, error)
	// ReceiptBytes yields a receipt that was made; the bytes must be used up before the next are asked for.
	ReceiptBytes(ctx context.Context, project, job uuid.UUID, shards bool) iter.Seq2[[]byte, error]
}

type receiptOutput struct {
	Body auditlog.JobReceipt
}

// DownloadReceiptInput asks for a receipt that was made.
type DownloadReceiptInput struct {
	rest.JobPath
	Shards bool `query:"shards" doc:"With a line for each accepted shard: which output, and who gave exactly these bytes."`
}

func (s *server) receiptOperations() {
	const path = rest.JobsPath + "/{job}/receipt"
	readers := rest.Roles(functions.RoleOwner, functions.RoleSubmitter, functions.RoleViewer, functions.RoleAuditor)
	rest.Register(s.Server, rest.Operation{
		ID: "makeReceipt", Method: http.MethodPost, Path: path, Tag: "jobs", Summary: "Ask for the receipt of a job that has ended",
		About: "A file that says what was executed, under which policy, what each shard gave and what the answer is, and that proves that the project's log has a record of it. " +
			"It is made page by page; a receipt that was made before is made anew.",
		Access: rest.Roles(functions.RoleOwner, functions.RoleSubmitter, functions.RoleAuditor), Status: http.StatusAccepted,
	}, s.makeReceipt)
	rest.Register(s.Server, rest.Operation{
		ID: "getReceipt", Method: http.MethodGet, Path: path, Tag: "jobs", Summary: "See how far a receipt is", Access: readers,
	}, s.getReceipt)
	rest.Register(s.Server, rest.Operation{
		ID: "downloadReceipt", Method: http.MethodGet, Path: path + "/file", Tag: "jobs", Summary: "Download a receipt",
		About: "`ostraka receipt verify FILE --key KEY` verifies it without a server.", Access: readers,
		Answers: rest.BytesAnswer(rest.NDJSON, "JSON lines: the receipt, and then, if they are wanted, its shards."),
	}, s.downloadReceipt)
}

func (s *server) makeReceipt(ctx context.Context, c *rest.Call, in *rest.JobPath) (*receiptOutput, error) {
	project, job, err := in.IDs()
	if err != nil {
		return nil, err
	}
	r, err := s.service.MakeReceipt(ctx, c.Principal, project, job)
	if err != nil {
		return nil, err
	}
	return &receiptOutput{Body: r}, nil
}

func (s *server) getReceipt(ctx context.Context, _ *rest.Call, in *rest.JobPath) (*receiptOutput, error) {
	project, job, err := in.IDs()
	if err != nil {
		return nil, err
	}
	r, err := s.service.GetReceipt(ctx, project, job)
	if err != nil {
		return nil, err
	}
	return &receiptOutput{Body: r}, nil
}

func (s *server) downloadReceipt(ctx context.Context, c *rest.Call, in *DownloadReceiptInput) (*rest.StreamOutput, error) {
	project, job, err := in.IDs()
	if err != nil {
		return nil, err
	}
	return rest.Streamed(ctx, s.Server, c, "sending a receipt", s.service.ReceiptBytes(ctx, project, job, in.Shards), rest.WriteBytes)
}
