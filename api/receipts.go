package api

import (
	"context"
	"iter"
	"net/http"

	"github.com/google/uuid"

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
	JobPath
	Shards bool `query:"shards" doc:"With a line for each accepted shard: which output, and who gave exactly these bytes."`
}

func (s *server) receiptOperations() {
	const path = jobsPath + "/{job}/receipt"
	readers := roles(functions.RoleOwner, functions.RoleSubmitter, functions.RoleViewer, functions.RoleAuditor)
	register(s, operation{
		id: "makeReceipt", method: http.MethodPost, path: path, tag: "jobs", summary: "Ask for the receipt of a job that has ended",
		about: "A file that says what was executed, under which policy, what each shard gave and what the answer is, and that proves that the project's log has a record of it. " +
			"It is made page by page; a receipt that was made before is made anew.",
		access: roles(functions.RoleOwner, functions.RoleSubmitter, functions.RoleAuditor), status: http.StatusAccepted,
	}, s.makeReceipt)
	register(s, operation{
		id: "getReceipt", method: http.MethodGet, path: path, tag: "jobs", summary: "See how far a receipt is", access: readers,
	}, s.getReceipt)
	register(s, operation{
		id: "downloadReceipt", method: http.MethodGet, path: path + "/file", tag: "jobs", summary: "Download a receipt",
		about: "`ostraka receipt verify FILE --key KEY` verifies it without a server.", access: readers,
		answers: bytesAnswer(ndjson, "JSON lines: the receipt, and then, if they are wanted, its shards."),
	}, s.downloadReceipt)
}

func (s *server) makeReceipt(ctx context.Context, c *call, in *JobPath) (*receiptOutput, error) {
	project, job, err := in.ids()
	if err != nil {
		return nil, err
	}
	r, err := s.service.MakeReceipt(ctx, c.principal, project, job)
	if err != nil {
		return nil, err
	}
	return &receiptOutput{Body: r}, nil
}

func (s *server) getReceipt(ctx context.Context, _ *call, in *JobPath) (*receiptOutput, error) {
	project, job, err := in.ids()
	if err != nil {
		return nil, err
	}
	r, err := s.service.GetReceipt(ctx, project, job)
	if err != nil {
		return nil, err
	}
	return &receiptOutput{Body: r}, nil
}

func (s *server) downloadReceipt(ctx context.Context, c *call, in *DownloadReceiptInput) (*streamOutput, error) {
	project, job, err := in.ids()
	if err != nil {
		return nil, err
	}
	return streamed(ctx, s, c, "sending a receipt", s.service.ReceiptBytes(ctx, project, job, in.Shards), writeBytes)
}
