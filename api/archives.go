package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
)

// Archives is what the API asks of the domain about jobs in the object store.
type Archives interface {
	// ArchiveJob has an ended job become an archive; asking twice is harmless.
	ArchiveJob(ctx context.Context, by functions.Principal, project, job uuid.UUID) (functions.JobArchive, error)
	GetArchive(ctx context.Context, project, job uuid.UUID) (functions.JobArchive, error)
	ListArchives(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]functions.JobArchive, error) // those of the newest jobs first
}

type archiveOutput struct {
	Body functions.JobArchive
}

func (s *server) archiveOperations() {
	const path = jobsPath + "/{job}/archive"
	register(s, operation{
		id: "archiveJob", method: http.MethodPost, path: path, tag: "jobs", summary: "Have a job that has ended become an archive",
		about: "Its shards, with their attempts, are written into a Parquet file and what else is known of it into a JSON document, both objects of the project; then the rows " +
			"of the shards leave the database, page by page. Results, answer and receipt are read as before. What needs the rows, such as a shard or an aggregation, answers 409 `job_archived` from then on.",
		access: roles(functions.RoleOwner), status: http.StatusAccepted,
	}, s.archiveJob)
	register(s, operation{
		id: "getArchive", method: http.MethodGet, path: path, tag: "jobs", summary: "See how far the archive of a job is, and where", access: readers(),
	}, s.getArchive)
	register(s, operation{
		id: "listArchives", method: http.MethodGet, path: "/v1/projects/{project}/archives", tag: "jobs", summary: "List archives, those of the newest jobs first", access: readers(),
	}, s.listArchives)
}

func (s *server) archiveJob(ctx context.Context, c *call, in *JobPath) (*archiveOutput, error) {
	project, job, err := in.ids()
	if err != nil {
		return nil, err
	}
	a, err := s.service.ArchiveJob(ctx, c.principal, project, job)
	if err != nil {
		return nil, err
	}
	return &archiveOutput{Body: a}, nil
}

func (s *server) getArchive(ctx context.Context, _ *call, in *JobPath) (*archiveOutput, error) {
	project, job, err := in.ids()
	if err != nil {
		return nil, err
	}
	a, err := s.service.GetArchive(ctx, project, job)
	if err != nil {
		return nil, err
	}
	return &archiveOutput{Body: a}, nil
}

func (s *server) listArchives(ctx context.Context, c *call, in *ListInProject) (*Listed[functions.JobArchive], error) {
	project, page, err := in.read(cursorOfID)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListArchives(ctx, project, page)
	if err != nil {
		return nil, err
	}
	return listed(c, page, items, cursorOfID, func(a functions.JobArchive) string { return a.Job.String() }), nil
}
