package dispatch

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/runtime/inputfile"
)

// LeaseFile opens a file that a shard of the agent's lease reads. A lease gives access to nothing else of the project.
func (s *Service) LeaseFile(ctx context.Context, agent, lease uuid.UUID, shard int64, digest string) (io.ReadCloser, int64, error) {
	holder, err := s.leaseHolder(ctx, agent, lease)
	if err != nil {
		return nil, 0, err
	}
	type leased struct {
		Input     []byte
		Partition partition.Spec
		State     string
	}
	var row leased
	err = s.env.Project(ctx, holder.ProjectID, func(tx *store.Tx) error {
		var found bool
		row, found, err = store.One[leased](ctx, tx, sql.LeasedShard, lease, agent, shard)
		if err == nil && !found {
			return functions.NotFound("file", digest)
		}
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	if row.State != "open" {
		return nil, 0, functions.ErrLeaseEnded
	}
	if !row.Partition.Files() { // what an input of another kind looks like is its owner's affair
		return nil, 0, functions.NotFound("file", digest)
	}
	files, err := inputfile.Parse(row.Input)
	if err != nil {
		return nil, 0, err
	}
	if !slices.ContainsFunc(files, func(f inputfile.File) bool { return f.Digest == digest }) {
		return nil, 0, functions.NotFound("file", digest)
	}
	r, size, err := s.registry.OpenObject(ctx, holder.ProjectID, digest)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, 0, &functions.Error{
			Kind: functions.KindNotFound, Code: "input_lost", Message: "the object store does not have a file that the shard reads", Err: err,
			Hint: "give the lease back; the project's owner stores the file again, or cancels the job",
		}
	}
	return r, size, err
}
