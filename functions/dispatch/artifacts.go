package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// ShardArtifacts are the files that an accepted shard left under $OSTRAKA_OUTPUT. Their bytes are objects of the project.
type ShardArtifacts struct {
	Shard int64            `json:"shard"`
	Files []functions.File `json:"files"`
}

func checkArtifactLimits(limits bundle.Limits, r functions.Result) error {
	var size int64
	for _, f := range r.Files {
		if size += f.Size; f.Size > limits.ArtifactBytes || size > limits.ArtifactBytes {
			return functions.ErrBadResult.With("shard %d: its artifacts have more than the function's limit of %d bytes: report it as artifact_limit", r.Shard, limits.ArtifactBytes)
		}
	}
	if int64(len(r.Files)) > limits.Files {
		return functions.ErrBadResult.With("shard %d: it has %d artifacts, the function's limit is %d: report it as artifact_limit", r.Shard, len(r.Files), limits.Files)
	}
	return nil
}

// checkArtifacts makes sure that the artifacts of a result are stored. Their bytes had the digests that name them when they were.
func (s *Service) checkArtifacts(ctx context.Context, project uuid.UUID, r functions.Result) error {
	for _, f := range r.Files {
		size, err := s.env.Blobs.Stat(ctx, project, f.Digest)
		switch {
		case errors.Is(err, blob.ErrNotFound):
			return functions.ErrBadResult.With("shard %d: the file %.60q is not stored; store it under the lease's outputs first", r.Shard, f.Path)
		case err != nil:
			return fmt.Errorf("looking for the artifact %.60q of shard %d: %w", f.Path, r.Shard, err)
		case size != f.Size:
			return functions.ErrBadResult.With("shard %d: the file %.60q has %d bytes, not %d", r.Shard, f.Path, size, f.Size)
		}
	}
	return nil
}

// ListArtifacts lists the shards that were accepted with artifacts; the cursor is the last shard.
func (s *Service) ListArtifacts(ctx context.Context, project, job uuid.UUID, page functions.ListPage) (list []ShardArtifacts, err error) {
	after, err := registry.AfterNumber(page)
	if err != nil {
		return nil, err
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if err := base.NotDeleted(ctx, tx, job); err != nil {
			return err
		}
		if list, err = store.Many[ShardArtifacts](ctx, tx, sql.ListArtifacts, job, after, base.PageLimit(page)); err != nil {
			return err
		}
		return base.NotArchived(ctx, tx, job)
	})
	for _, shard := range list {
		slices.SortFunc(shard.Files, func(a, b functions.File) int { return strings.Compare(a.Path, b.Path) })
	}
	return list, err
}
