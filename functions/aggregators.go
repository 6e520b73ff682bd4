package functions

import (
	"context"
	"io"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/runtime/inputdir"
	"github.com/ostraka/ostraka/runtime/inputfile"
	"github.com/ostraka/ostraka/wasm"
)

// aggregation is the module of an aggregation, ready to fold.
func (s *Service) aggregation(project, job uuid.UUID, ref AggregatorRef) wasm.Aggregation {
	return wasm.Aggregation{Use: wasm.Use{Pool: s.modules, Project: project.String(), Job: job.String(), Module: s.pinnedModule(project, ref.Digest), Params: ref.Params}}
}

// openInput opens the files that shards read for the server's own executions.
func (s *Service) openInput(project uuid.UUID) inputdir.Open {
	return func(ctx context.Context, f inputfile.File) (io.ReadCloser, error) {
		r, _, err := s.blobs.Open(ctx, project, f.Digest)
		return r, err
	}
}
