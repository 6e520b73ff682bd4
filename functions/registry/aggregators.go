package registry

import (
	"context"
	"io"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/runtime/inputdir"
	"github.com/ostraka/ostraka/runtime/inputfile"
	"github.com/ostraka/ostraka/wasm"
)

// Aggregation is the module of an aggregation, ready to fold.
func (s *Service) Aggregation(project, job uuid.UUID, ref functions.AggregatorRef) wasm.Aggregation {
	return wasm.Aggregation{Use: wasm.Use{Pool: s.modules, Project: project.String(), Job: job.String(), Module: s.PinnedModule(project, ref.Digest), Params: ref.Params}}
}

// OpenInput opens the files that shards read for the server's own executions.
func (s *Service) OpenInput(project uuid.UUID) inputdir.Open {
	return func(ctx context.Context, f inputfile.File) (io.ReadCloser, error) {
		r, _, err := s.env.Blobs.Open(ctx, project, f.Digest)
		return r, err
	}
}
