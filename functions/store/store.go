// Package store holds the SQL of the domain, one query a file, and runs it: in the control schema as the server, or in a project's
// schema as the project's own role, so that even a wrong query cannot read another project.
package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ostraka/ostraka/migrations"
	"github.com/ostraka/ostraka/runtime/recheck"
)

// MaxConns is the size of a server's connection pool.
const MaxConns = 24

// ErrNoProject is returned for a project that has no schema.
var ErrNoProject = errors.New("there is no such project")

// tries is how often a transaction that Postgres chose to break (deadlock, serialization) is run.
const tries = 4

// Store is a pool of connections.
type Store struct {
	Pool *pgxpool.Pool

	// Loads are what projects hold of this server: transactions here, and what else the server's parts note.
	Loads *recheck.Loads

	turns *recheck.Turns // of projects' transactions
}

// Connect opens a pool. The search path of its connections is empty, so that a query which forgets its schema fails.
func Connect(ctx context.Context, url string) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The error of a URL that does not parse quotes it, password included.
		return nil, errors.New("the database URL cannot be parsed: write postgres://user:password@host:port/database")
	}
	config.MaxConns = MaxConns
	config.ConnConfig.RuntimeParams["search_path"] = ""
	config.ConnConfig.RuntimeParams["application_name"] = "ostraka"
	// A transaction of a server that hangs must not hold its locks forever; nothing here is idle in one for this long.
	config.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = "60000"
	// Every query here has an index to go by, row by row. A plan that was made while a table was small, and kept, would go on reading
	// all of it: measured as 14 ms instead of 0.3 ms for the attempts of a lease, until the next analyze.
	for _, way := range []string{"enable_seqscan", "enable_hashjoin", "enable_mergejoin"} {
		config.ConnConfig.RuntimeParams[way] = "off"
	}
	config.ConnConfig.RuntimeParams["jit"] = "off"
	config.MaxConnIdleTime = time.Minute
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("opening the connection pool: %w", err)
	}
	return New(pool), nil
}

// leastEach is how many transactions a project may have under way at a time on the smallest machine.
const leastEach = 4

// EachProject is how many transactions a project may have under way at a time: two for each processor, and half of the connections at most.
// More of them would not be quicker, and would take the processors from others.
func EachProject() int { return min(max(leastEach, 2*runtime.NumCPU()), MaxConns/2) }

// shared is how many transactions the projects that take more than others have under way together while those are at work: as many as
// there are processors keep the processors of a database on this machine busy.
func shared() int { return runtime.NumCPU() }

// New makes a store of a pool. One project may have EachProject transactions under way at a time, and one more is left to others. What the
// server does for itself is not counted.
func New(pool *pgxpool.Pool) *Store {
	loads := recheck.NewLoads(nil)
	return &Store{Pool: pool, Loads: loads, turns: recheck.NewSharedTurns(EachProject(), shared(), loads)}
}

// Close closes the pool.
func (s *Store) Close() { s.Pool.Close() }

// Control runs fn in one transaction on the control schema.
func (s *Store) Control(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return s.run(ctx, "begin; set local search_path = "+migrations.ControlSchema, fn)
}

// Tx is a transaction that begins as a project's role.
type Tx struct {
	pgx.Tx
	project uuid.UUID
	schema  string
	server  bool
}

// Project is the project whose transaction it is.
func (t *Tx) Project() uuid.UUID { return t.project }

// Project runs fn in one transaction as the project's role, with its schema alone on the search path.
func (s *Store) Project(ctx context.Context, project uuid.UUID, fn func(tx *Tx) error) error {
	return s.project(ctx, project, "", fn)
}

// Repeatable is Project for what the other side simply asks for again when it is lost: its commit does not wait for the disk. It is not
// for the steps of the queue: a server that outlives Postgres tells it afterwards, from memory, that a step is done.
func (s *Store) Repeatable(ctx context.Context, project uuid.UUID, fn func(tx *Tx) error) error {
	return s.project(ctx, project, "; set local synchronous_commit = off", fn)
}

func (s *Store) project(ctx context.Context, project uuid.UUID, settings string, fn func(tx *Tx) error) error {
	name := migrations.ProjectSchema(project)
	begin := "begin; set local role " + name + "; set local search_path = " + name + settings
	if err := s.turns.Take(ctx, project, false); err != nil {
		return err
	}
	defer s.turns.Give(project, false)
	return s.run(ctx, begin, func(tx pgx.Tx) error { return fn(&Tx{Tx: tx, project: project, schema: name}) })
}

// Of makes of a transaction on the control schema one that can take a project's role and leave it again.
func Of(control pgx.Tx, project uuid.UUID) *Tx {
	return &Tx{Tx: control, project: project, schema: migrations.ProjectSchema(project), server: true}
}

// Server says whether what is asked now is asked by the server and not by the project.
func (t *Tx) Server() bool { return t.server }

// AsServer leaves the project's role for the rest of the transaction: what follows works on the control schema and River's. A step
// does its project's work first.
func (t *Tx) AsServer(ctx context.Context) (pgx.Tx, error) {
	if !t.server {
		if _, err := t.Exec(ctx, "set local role none; set local search_path = "+migrations.ControlSchema); err != nil {
			return nil, fmt.Errorf("leaving the project's role: %w", err)
		}
		t.server = true
	}
	return t.Tx, nil
}

// AsProject takes the project's role again, for the few steps that must ask the server first.
func (t *Tx) AsProject(ctx context.Context) error {
	if _, err := t.Exec(ctx, "set local role "+t.schema+"; set local search_path = "+t.schema); err != nil {
		return fmt.Errorf("taking the project's role: %w", err)
	}
	t.server = false
	return nil
}

// SetServer has what follows be asked by the server, or by the project.
func (t *Tx) SetServer(ctx context.Context, server bool) error {
	switch {
	case server == t.server:
		return nil
	case server:
		_, err := t.AsServer(ctx)
		return err
	default:
		return t.AsProject(ctx)
	}
}

func (s *Store) run(ctx context.Context, begin string, fn func(tx pgx.Tx) error) error {
	var err error
	for range tries {
		err = pgx.BeginTxFunc(ctx, s.Pool, pgx.TxOptions{BeginQuery: begin}, fn)
		if !retryable(err) {
			break
		}
	}
	return noProject(err)
}

// retryable says whether Postgres gave this transaction up for another one's sake.
func retryable(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

// noProject recognises that a project's role does not exist.
func noProject(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "22023" && pg.Routine == "call_string_check_hook" {
		return ErrNoProject
	}
	return err
}

// BadText says whether Postgres refused a text for a character that it cannot hold.
func BadText(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "22021" || pg.Code == "22P05")
}

// Unavailable says whether an error means that the database is away, starting or going down: the same call may work later.
func Unavailable(err error) bool {
	var connect *pgconn.ConnectError
	var pg *pgconn.PgError
	switch {
	case err == nil:
		return false
	case errors.As(err, &connect):
		return true
	case errors.As(err, &pg):
		return pg.Code[:2] == "57" || pg.Code[:2] == "53" || pg.Code[:2] == "08"
	default:
		return pgconn.SafeToRetry(err) || errors.Is(err, pgx.ErrTxClosed) || isNetwork(err)
	}
}
