package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/agent/resting"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/runtime/tree"
	"github.com/ostraka/ostraka/runtime/volume"
)

// onTree is a sandbox that can run functions on another interpreter than its own: in a runtime that they bring along.
type onTree interface {
	On(t python.Tree) (isolation.Sandbox, error)
}

// bringsRuntimes says whether functions may bring their own interpreter at a level: at those between, the interpreter itself keeps what a
// function starts within its limits.
func bringsRuntimes(level bundle.Isolation) bool {
	return level == bundle.Linux || level == bundle.Process
}

// runtimes is the platform for which the agent executes functions in runtimes; empty where it executes none.
func (a *agent) runtimes() string {
	_, able := a.walls.(onTree)
	if !able || !bringsRuntimes(a.walls.Level()) || a.keeper.current().RuntimesDenied {
		return ""
	}
	return tree.Runs()
}

// openIn opens a sandbox for a function where it runs: in what the agent has, or in the runtime that it brings along.
func (a *agent) openIn(ctx context.Context, held *heldLease, b *bundle.Bundle, volumes []*volume.Folder) (isolation.Session, error) {
	settings := harness.Settings{Job: held.Job.String(), Volumes: volumes}
	digest := b.Manifest.RuntimeDigest()
	if digest == "" {
		return a.sandboxFor(&b.Manifest).Open(ctx, b, settings)
	}
	able, is := a.walls.(onTree)
	if !is {
		return nil, refused(refusedRuntime, "this agent's sandbox runs no functions that bring a runtime along")
	}
	t, release, err := a.trees.Get(ctx, digest, a.fetchRuntime(held.ID))
	if errors.Is(err, tree.ErrNoRoom) && a.warm.DropAll() { // they hold on to theirs
		t, release, err = a.trees.Get(ctx, digest, a.fetchRuntime(held.ID))
	}
	if errors.Is(err, tree.ErrNoRoom) {
		return nil, refused(refusedCaps, err.Error())
	}
	if err != nil {
		return nil, err
	}
	sandbox, err := able.On(t)
	if err == nil {
		var session isolation.Session
		if session, err = cheating(a.options, sandbox).Open(ctx, b, settings); err == nil {
			return &treeSession{session, release}, nil
		}
	}
	release()
	return nil, err
}

// fetchRuntime reads objects of the runtime of a lease. Each is read whole before it is given on, and asked for again where it breaks off.
func (a *agent) fetchRuntime(lease uuid.UUID) tree.Fetch {
	return func(ctx context.Context, digest string) (io.ReadCloser, error) {
		var data []byte
		broken := 0
		err := a.persist(ctx, "fetching a runtime", func(ctx context.Context) error {
			body, err := a.server.runtimeObject(ctx, lease, digest)
			if err != nil {
				return err
			}
			defer body.Close()
			data, err = io.ReadAll(io.LimitReader(body, tree.MaxManifestBytes+1))
			if brokeOff(err) && ctx.Err() == nil {
				if broken++; broken == maxBrokenBundles {
					return refused(refusedBundle, fmt.Sprintf("the function's runtime broke off %d times on its way: the server's copy may be damaged", broken))
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		return io.NopCloser(bytes.NewReader(data)), nil
	}
}

// runtimeObject reads the manifest or a piece of a lease's runtime.
func (r *remote) runtimeObject(ctx context.Context, lease uuid.UUID, digest string) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, transferLimit)
	body, err := answer.Stream(r.client.GetLeaseRuntime(ctx, lease, digest))
	if err != nil {
		cancel()
		return nil, err
	}
	return &cancelBody{body, cancel}, nil
}

// treeSession holds a runtime for as long as a sandbox runs in it.
type treeSession struct {
	isolation.Session
	release func()
}

// Rest implements resting.Session where the sandbox does. The tree is kept.
func (s *treeSession) Rest() bool {
	session, able := s.Session.(resting.Session)
	return able && session.Rest()
}

// Wake implements resting.Session.
func (s *treeSession) Wake(job string) error {
	session, able := s.Session.(resting.Session)
	if !able {
		return errors.New("waking a sandbox that cannot rest")
	}
	return session.Wake(job)
}

// Close implements Session.
func (s *treeSession) Close() error {
	defer s.release()
	return s.Session.Close()
}
