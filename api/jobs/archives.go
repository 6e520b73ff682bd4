package jobs

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/archive"
)

// Archives is what the API asks of the domain about jobs in the object store.
type Archives interface {
	// ArchiveJob has an ended job become an archive; asking twice is harmless.
	ArchiveJob(ctx context.Context, by functions.Principal, project, job uuid.UUID) (functions.JobArchive, error)
	GetArchive(ctx context.Context, project, job uuid.UUID) (functions.JobArchive, error)
	ListArchives(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]functions.JobArchive, error) // those of the newest jobs first
	// ImportArchive puts the job of an archive into a project; asking twice is harmless.
	ImportArchive(ctx context.Context, by functions.Principal, project uuid.UUID, in archive.Import) (functions.JobArchive, error)
}

type archiveOutput struct {
	Body functions.JobArchive
}

// ImportInput is an archive to be imported.
type ImportInput struct {
	rest.InProject
	Body struct {
		Document string `json:"document" pattern:"^[0-9a-f]{64}$" doc:"Digest of the document of the archive, stored as an object of this project."`
		Shards   string `json:"shards" pattern:"^[0-9a-f]{64}$" doc:"Digest of its shards: an object of a line of JSON for each, with the columns of the Parquet file as fields."`
		Receipt  string `json:"receipt,omitempty" pattern:"^[0-9a-f]{64}$" doc:"Digest of its whole receipt, as downloadReceipt gives it, stored as an object: what agents have signed is read from it. Left out: they have signed nothing of it."`
		Key      string `json:"key,omitempty" maxLength:"500" doc:"The key of the log that made the receipt of the archive, as you know it; left out: the one in the receipt."`
	}
}

func (s *server) archiveOperations() {
	const path = rest.JobsPath + "/{job}/archive"
	rest.Register(s.Server, rest.Operation{
		ID: "archiveJob", Method: http.MethodPost, Path: path, Tag: "jobs", Summary: "Have a job that has ended become an archive",
		About: "Its shards, with their attempts, are written into a Parquet file and what else is known of it into a JSON document, both objects of the project; then the rows " +
			"of the shards leave the database, page by page. Results, answer and receipt are read as before. What needs the rows, such as a shard or an aggregation, answers 409 `job_archived` from then on.",
		Access: rest.Roles(functions.RoleOwner), Status: http.StatusAccepted,
	}, s.archiveJob)
	rest.Register(s.Server, rest.Operation{
		ID: "getArchive", Method: http.MethodGet, Path: path, Tag: "jobs", Summary: "See how far the archive of a job is, and where", Access: rest.Readers(),
	}, s.getArchive)
	rest.Register(s.Server, rest.Operation{
		ID: "listArchives", Method: http.MethodGet, Path: "/v1/projects/{project}/archives", Tag: "jobs", Summary: "List archives, those of the newest jobs first", Access: rest.Readers(),
	}, s.listArchives)
	rest.Register(s.Server, rest.Operation{
		ID: "importArchive", Method: http.MethodPost, Path: "/v1/projects/{project}/archives", Tag: "jobs", Summary: "Put the job of an archive into this project",
		About: "The job stands in this project as an archived one, under the ID that it had: results, answer and receipt are read as where it ran. Counts, digests and the receipt are checked before. " +
			"The project must have the version of the function, by its digest, and the objects that results refer to. The same archive again answers with what is there.",
		Access: rest.Roles(functions.RoleOwner), Status: http.StatusOK, Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.importArchive)
}

func (s *server) importArchive(ctx context.Context, c *rest.Call, in *ImportInput) (*archiveOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	a, err := s.service.ImportArchive(ctx, c.Principal, project, archive.Import{Document: in.Body.Document, Shards: in.Body.Shards, Receipt: in.Body.Receipt, Key: in.Body.Key})
	if err != nil {
		return nil, err
	}
	return &archiveOutput{Body: a}, nil
}

func (s *server) archiveJob(ctx context.Context, c *rest.Call, in *rest.JobPath) (*archiveOutput, error) {
	project, job, err := in.IDs()
	if err != nil {
		return nil, err
	}
	a, err := s.service.ArchiveJob(ctx, c.Principal, project, job)
	if err != nil {
		return nil, err
	}
	return &archiveOutput{Body: a}, nil
}

func (s *server) getArchive(ctx context.Context, _ *rest.Call, in *rest.JobPath) (*archiveOutput, error) {
	project, job, err := in.IDs()
	if err != nil {
		return nil, err
	}
	a, err := s.service.GetArchive(ctx, project, job)
	if err != nil {
		return nil, err
	}
	return &archiveOutput{Body: a}, nil
}

func (s *server) listArchives(ctx context.Context, c *rest.Call, in *rest.ListInProject) (*rest.Listed[functions.JobArchive], error) {
	project, page, err := in.Read(rest.CursorOfID)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListArchives(ctx, project, page)
	if err != nil {
		return nil, err
	}
	return rest.AnswerList(c, page, items, rest.CursorOfID, func(a functions.JobArchive) string { return a.Job.String() }), nil
}
