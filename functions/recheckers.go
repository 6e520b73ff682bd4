package functions

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

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
			s.log.Warn("the server could not say that it rechecks", "error", err)
		case err == nil && trouble != before && trouble != "":
			s.log.Warn("this server cannot execute shards itself at present", "reason", trouble)
		case err == nil && trouble != before:
			s.log.Info("this server can execute shards itself again")
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
	if _, err := store.Exec(ctx, s.store.Pool, store.EndRechecker, server, recheckerEnded); err != nil {
		s.log.Warn("the server could not say that it rechecks no more", "error", err)
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
	d := s.rechecker.Describe()
	if _, err := store.Exec(ctx, s.store.Pool, store.SeeRechecker, server, string(d.Level), d.Image, d.Interpreter, trouble, RecheckerGone); err != nil {
		return "", fmt.Errorf("noting that server %s rechecks: %w", server, err)
	}
	return trouble, nil
}

// recheckTrouble is what keeps all servers from executing shards; empty: some can, or none is meant to.
type recheckTrouble struct {
	Servers int64
	Able    int64
	Trouble string
	Since   *time.Time
	Waiting bool // some batch is to be executed
}

// text says what keeps rechecks from being made; empty: nothing.
func (t recheckTrouble) text() string {
	switch {
	case t.Servers == 0 && t.Waiting:
		return "some wait, and no server executes shards: " + startRechecker
	case t.Servers == 0 || t.Able > 0 || t.Since == nil:
		return ""
	}
	return fmt.Sprintf("%s since %s", t.Trouble, t.Since.UTC().Format("15:04 on 2 January (UTC)"))
}

// readRecheckTrouble reads it as the server's role.
func readRecheckTrouble(ctx context.Context, db store.DB) (t recheckTrouble, err error) {
	t, _, err = store.One[recheckTrouble](ctx, db, store.RecheckTrouble, RecheckerGone)
	return t, err
}

// serverMeans are what servers can do for the results of a project, and the secret by which they draw.
type serverMeans struct {
	Secret   []byte
	Rechecks bool // some server can execute shards, or could until RecheckerGone ago
}

// readServerMeans reads them as the server's role, since the secret stands where the project's role cannot read it.
func readServerMeans(ctx context.Context, tx *store.Tx, project uuid.UUID) (serverMeans, error) {
	server, err := tx.AsServer(ctx)
	if err != nil {
		return serverMeans{}, err
	}
	means, found, err := store.One[serverMeans](ctx, server, store.AuditTerms, project, RecheckerGone)
	if err != nil || !found {
		return means, orNotFound(err, "project", project)
	}
	return means, tx.AsProject(ctx)
}

// canRecheck says whether some server can execute shards, for a policy that may ask it to.
func canRecheck(ctx context.Context, tx *store.Tx, project uuid.UUID, policy verify.Policy) (bool, error) {
	if !policy.Audited() {
		return false, nil
	}
	means, err := readServerMeans(ctx, tx, project)
	return means.Rechecks, err
}
