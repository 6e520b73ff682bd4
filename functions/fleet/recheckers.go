package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/recheck"
)

const (
	// recheckerEvery is how often a server that rechecks says that it does, and whether it can.
	recheckerEvery = 10 * time.Second
	// recheckerHealth bounds the question whether it can.
	recheckerHealth = 5 * time.Second
)

// Rechecks says whether this server executes shards.
func (s *Service) Rechecks() bool { return s.rechecker != nil }

// Turns are the slots in which this server executes shards.
func (s *Service) Turns() *recheck.Turns { return s.turns }

// AnnounceRechecks says again and again that this server executes shards, and what keeps it from it, until the context ends. Policies with
// a bound count on it. A server that ends says so: it may be back in a moment, and is counted on for RecheckerGone as one that is away.
func (s *Service) AnnounceRechecks(ctx context.Context, server string) {
	if s.rechecker == nil {
		return
	}
	defer s.endRechecker(context.WithoutCancel(ctx), server)
	tick := time.NewTicker(recheckerEvery)
	defer tick.Stop()
	before := ""
	for {
		trouble, err := s.SeeRechecker(ctx, server)
		switch {
		case err != nil && ctx.Err() == nil:
			s.env.Log.Warn("the server could not say that it rechecks", "error", err)
		case err == nil && trouble != before && trouble != "":
			s.env.Log.Warn("this server cannot execute shards itself at present", "reason", trouble)
		case err == nil && trouble != before:
			s.env.Log.Info("this server can execute shards itself again")
		}
		if err == nil {
			before = trouble
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// recheckerEnded is the trouble of a server that has ended in good order.
const recheckerEnded = "no server that executes shards is running"

// endRechecker notes that a server has ended in good order, where readyz and job explain find it at once.
func (s *Service) endRechecker(ctx context.Context, server string) {
	ctx, cancel := context.WithTimeout(ctx, recheckerHealth)
	defer cancel()
	if _, err := store.Exec(ctx, s.env.Store.Pool, sql.EndRechecker, server, recheckerEnded); err != nil {
		s.env.Log.Warn("the server could not say that it rechecks no more", "error", err)
	}
}

// SeeRechecker asks the sandbox what keeps it from working now, if anything, and notes it.
func (s *Service) SeeRechecker(ctx context.Context, server string) (trouble string, err error) {
	asking, cancel := context.WithTimeout(ctx, recheckerHealth)
	defer cancel()
	if err := s.rechecker.Health(asking); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		trouble = err.Error()
	}
	volumes, err := json.Marshal(RecheckVolumes(s.rechecker))
	if err != nil {
		return "", fmt.Errorf("encoding the volumes of server %s: %w", server, err)
	}
	d := s.rechecker.Describe()
	if _, err := store.Exec(ctx, s.env.Store.Pool, sql.SeeRechecker, server, string(d.Level), d.Image, d.Interpreter, trouble, functions.RecheckerGone, volumes); err != nil {
		return "", fmt.Errorf("noting that server %s rechecks: %w", server, err)
	}
	return trouble, nil
}

// RecheckTrouble is what keeps all servers from executing shards; empty: some can, or none is meant to.
type RecheckTrouble struct {
	Servers int64
	Able    int64
	Trouble string
	Since   *time.Time
	Waiting bool // some batch is to be executed
}

// Text says what keeps rechecks from being made; empty: nothing.
func (t RecheckTrouble) Text() string {
	switch {
	case t.Servers == 0 && t.Waiting:
		return "some wait, and no server executes shards: " + functions.StartRechecker
	case t.Servers == 0 || t.Able > 0 || t.Since == nil:
		return ""
	}
	return fmt.Sprintf("%s since %s", t.Trouble, t.Since.UTC().Format("15:04 on 2 January (UTC)"))
}

// ReadRecheckTrouble reads it as the server's role.
func ReadRecheckTrouble(ctx context.Context, db store.DB) (t RecheckTrouble, err error) {
	t, _, err = store.One[RecheckTrouble](ctx, db, sql.RecheckTrouble, functions.RecheckerGone)
	return t, err
}

// ServerMeans are what servers can do for the results of a job, and the secret by which they draw.
type ServerMeans struct {
	Secret   []byte // of the job
	Rechecks bool   // some server can execute its shards, or could until RecheckerGone ago: it has the volumes that the function wants
}

// ReadServerMeans reads them as the server's role, since the secret stands where the project's role cannot read it.
func ReadServerMeans(ctx context.Context, tx *store.Tx, project, job uuid.UUID) (ServerMeans, error) {
	type row struct {
		Volumes   []byte
		Committed bool
	}
	of, _, err := store.One[row](ctx, tx, sql.TermsOfJob, job)
	if err != nil {
		return ServerMeans{}, err
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return ServerMeans{}, err
	}
	means, found, err := store.One[ServerMeans](ctx, server, sql.AuditTerms, project, functions.RecheckerGone, of.Volumes)
	if err != nil || !found {
		return means, base.OrNotFound(err, "project", project)
	}
	if of.Committed {
		means.Secret = verify.JobSecret(means.Secret, job.String())
	}
	return means, tx.AsProject(ctx)
}

// CanRecheck says whether some server can execute shards of a job, for a policy that may ask it to.
func CanRecheck(ctx context.Context, tx *store.Tx, project, job uuid.UUID, policy verify.Policy) (bool, error) {
	if !policy.Audited() {
		return false, nil
	}
	means, err := ReadServerMeans(ctx, tx, project, job)
	return means.Rechecks, err
}
