package dispatch

import (
	"context"
	"errors"
	"io"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// leasedFunction returns the function version that a lease of the agent is for.
func (s *Service) leasedFunction(ctx context.Context, agent, lease uuid.UUID) (holder leaseHolder, v functions.FunctionVersion, err error) {
	if holder, err = s.leaseHolder(ctx, agent, lease); err != nil {
		return holder, v, err
	}
	err = s.env.Project(ctx, holder.ProjectID, func(tx *store.Tx) error {
		row, found, err := store.One[registry.FunctionRow](ctx, tx, store.FunctionOfJob, holder.JobID)
		if err != nil || !found {
			return base.OrLeaseOfDeleted(err)
		}
		v = row.FunctionVersion()
		return nil
	})
	return holder, v, err
}

// LeaseBundle opens the bundle of the function that a lease is for.
func (s *Service) LeaseBundle(ctx context.Context, agent, lease uuid.UUID) (io.ReadCloser, int64, error) {
	holder, digest, err := s.leasedFunction(ctx, agent, lease)
	if err != nil {
		return nil, 0, err
	}
	return s.registry.OpenChecked(ctx, holder.ProjectID, digest.Digest, bundle.MaxArchiveBytes)
}

// LeaseRuntime opens an object of the runtime that the function of the agent's lease runs in: its manifest or one of its pieces.
func (s *Service) LeaseRuntime(ctx context.Context, agent, lease uuid.UUID, digest string) (io.ReadCloser, int64, error) {
	holder, function, err := s.leasedFunction(ctx, agent, lease)
	if err != nil {
		return nil, 0, err
	}
	if holder.Ended {
		return nil, 0, functions.ErrLeaseEnded
	}
	return s.registry.OpenRuntimeObject(ctx, holder.ProjectID, &function.Manifest, digest)
}

// PutOutput stores an output that is too large to travel with its result, or an artifact, under a lease that is open. All of a lease's are
// bounded by what its shards may leave.
func (s *Service) PutOutput(ctx context.Context, agent, lease uuid.UUID, digest string, r io.Reader) (o functions.Object, err error) {
	holder, function, err := s.leasedFunction(ctx, agent, lease)
	if err != nil {
		return o, err
	}
	if err := registry.CheckDigest(digest); err != nil {
		return o, err
	}
	limits := function.Manifest.Limits
	objects, bytes := uploadRoom(limits)
	left, err := s.beginUpload(ctx, holder, agent, lease, objects, bytes)
	if err != nil {
		return o, err
	}
	o.Digest = digest
	if _, o.Size, err = s.env.Blobs.PutAdmitted(ctx, holder.ProjectID, digest, r, min(max(limits.OutputBytes, limits.ArtifactBytes), left), s.keepOutput(ctx, holder.ProjectID)); err != nil {
		return o, errors.Join(registry.ObjectError(err, digest), s.giveUploadBack(ctx, holder, agent, lease))
	}
	return o, s.env.Project(ctx, holder.ProjectID, func(tx *store.Tx) error {
		kept, err := store.Exec(ctx, tx, sql.EndUpload, lease, agent, o.Size, bytes)
		if err == nil && kept == 0 {
			err = tooManyUploads(objects, bytes)
		}
		return err
	})
}

// leaseHolder is what the server knows about a lease before it looks into the project.
type leaseHolder struct {
	ProjectID  uuid.UUID
	JobID      uuid.UUID
	PublicKey  []byte
	AgentState fleet.AgentState
	Script     bool // the function is one: its stdout is its result
	Ended      bool
}

// HoldsLease says whether the agent has, or had, the lease and may report about it.
func (s *Service) HoldsLease(ctx context.Context, agent, lease uuid.UUID) error {
	_, err := s.leaseHolder(ctx, agent, lease)
	return err
}

func (s *Service) leaseHolder(ctx context.Context, agent, lease uuid.UUID) (leaseHolder, error) {
	holder, found, err := store.One[leaseHolder](ctx, s.env.Store.Pool, sql.LeaseHolder, lease, agent)
	if err != nil || !found {
		return holder, base.Translate(base.OrNotFound(err, "lease", lease), uuid.Nil)
	}
	switch {
	case holder.AgentState == fleet.AgentRevoked:
		return holder, functions.ErrAgentRevoked
	case !holder.AgentState.MayFinish():
		return holder, functions.ErrLeaseRevoked.With("the lease was revoked: the agent is %s", holder.AgentState)
	default:
		return holder, nil
	}
}
