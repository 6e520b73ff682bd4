package devdb

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// maintenanceDatabase exists in every cluster.
	maintenanceDatabase = "postgres"
	// unreachableAfter is how long a server that calls itself ready may fail to
	// answer before the start is given up. Recovery, which may take long, comes
	// before a server calls itself ready.
	unreachableAfter = 10 * time.Second
	// pidFileStatusLine is the line, from 0, of postmaster.pid with the status.
	pidFileStatusLine = 7
)

var (
	//go:embed sql/database_exists.sql
	databaseExists string
	//go:embed sql/create_database.sql
	createDatabase string
)

// awaitReady waits until the server takes connections, and makes our database
// if this is its first time.
func (s *Server) awaitReady(ctx context.Context, p *process) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-p.done:
			cancel(p.death())
		case <-ctx.Done():
		}
	}()
	conn, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return ensureDatabase(ctx, conn)
}

// death explains why the server ended while it was still wanted.
func (p *process) death() error {
	p.log.drain(logDrainLimit)
	return fmt.Errorf("the server ended while starting (%s); its last words: %s", p.cmd.ProcessState, p.log.lastWords())
}

// connect asks until the server lets us in. A server that is starting or
// recovering refuses; one that will never let us in says so.
func (s *Server) connect(ctx context.Context) (*pgx.Conn, error) {
	cfg, err := pgx.ParseConfig(s.URL())
	if err != nil {
		return nil, fmt.Errorf("reading our own database URL: %w", err)
	}
	cfg.Database = maintenanceDatabase
	var readySince time.Time
	for {
		conn, err := pgx.ConnectConfig(ctx, cfg)
		if err == nil {
			return conn, nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return nil, fmt.Errorf("waiting for the server to answer: %w", cause)
		}
		if readySince.IsZero() && s.saysReady() {
			readySince = time.Now()
		}
		unreachable := !readySince.IsZero() && time.Since(readySince) > unreachableAfter
		if refused(err) || unreachable {
			return nil, fmt.Errorf("connecting to the server: %w", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pollEvery):
		}
	}
}

// saysReady reads the server's own opinion, the status line of its pid file.
func (s *Server) saysReady() bool {
	root, err := os.OpenRoot(s.layout.data())
	if err != nil {
		return false
	}
	defer root.Close()
	b, err := root.ReadFile(pidFiles[0])
	lines := strings.Split(string(b), "\n")
	return err == nil && len(lines) > pidFileStatusLine && strings.TrimSpace(lines[pidFileStatusLine]) == "ready"
}

// refused tells an authentication failure (class 28), which waiting does not
// mend, from a server that is not ready.
func refused(err error) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && strings.HasPrefix(pgErr.Code, "28")
}

func ensureDatabase(ctx context.Context, conn *pgx.Conn) error {
	var exists bool
	if err := conn.QueryRow(ctx, databaseExists, Database).Scan(&exists); err != nil {
		return fmt.Errorf("looking for the database %s: %w", Database, err)
	}
	if exists {
		return nil
	}
	if _, err := conn.Exec(ctx, createDatabase); err != nil {
		return fmt.Errorf("creating the database %s: %w", Database, err)
	}
	return nil
}
