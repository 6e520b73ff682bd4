package rig

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/client"
)

const (
	// startLimit bounds how long a server may take to be ready: it migrates and compiles nothing, so that this is generous.
	startLimit = time.Minute
	// pace is how often a condition is looked at that nothing tells of.
	pace = 20 * time.Millisecond
)

// Server is a server process of the installation; it may be killed and started again on its address.
type Server struct {
	*Process

	Address     string
	URL         string
	DatabaseURL string

	rig      *Rig
	args     []string
	env      []string
	operator string // key
	web      http.Client
}

// Serve starts a server on the database, and waits until it answers.
func (r *Rig) Serve(ctx context.Context, database string, flags ...string) (*Server, error) {
	return r.ServeWith(ctx, database, nil, flags...)
}

// ServeWith is Serve with more variables in the server's environment.
func (r *Rig) ServeWith(ctx context.Context, database string, env []string, flags ...string) (*Server, error) {
	address, err := FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{rig: r, env: env, Address: address, URL: "http://" + address, DatabaseURL: database}
	s.args = append([]string{"server", "--listen", address, "--blob-dir", filepath.Join(r.Dir, "objects"), "--cache-dir", filepath.Join(r.Dir, "cache")}, flags...)
	return s, s.Restart(ctx)
}

// Restart starts the server, which does not run.
func (s *Server) Restart(ctx context.Context) (err error) {
	if s.Process, err = s.rig.Start(append([]string{"OSTRAKA_DATABASE_URL=" + s.DatabaseURL, "HOME=" + s.rig.Dir}, s.env...), s.args...); err != nil {
		return err
	}
	ended := func() bool {
		select {
		case <-s.Done():
			return true
		default:
			return false
		}
	}
	alive := false
	Until(ctx, startLimit, func() bool {
		alive = s.Alive(ctx)
		return alive || ended()
	})
	if !alive {
		return fmt.Errorf("the server does not answer; it says: %s", s.Said())
	}
	return nil
}

// Alive says whether the server answers.
func (s *Server) Alive(ctx context.Context) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/livez", nil)
	if err != nil {
		return false
	}
	res, err := s.web.Do(r)
	return err == nil && res.Body.Close() == nil && res.StatusCode == http.StatusOK
}

// Number asks the server's database for one.
func (s *Server) Number(ctx context.Context, sql string, args ...any) (n int64, err error) {
	conn, err := pgx.Connect(ctx, s.DatabaseURL)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	err = conn.QueryRow(ctx, sql, args...).Scan(&n)
	return n, err
}

// Operator is a client with an operator's key.
func (s *Server) Operator(ctx context.Context) (*client.ClientWithResponses, error) {
	if s.operator == "" {
		key, err := s.rig.Run(ctx, []string{"OSTRAKA_DATABASE_URL=" + s.DatabaseURL}, "operator-key", "create", "rig")
		if err != nil {
			return nil, err
		}
		s.operator = key
	}
	return Connect(s.URL, s.operator)
}

// Connect is a client with a key.
func Connect(url, key string) (*client.ClientWithResponses, error) {
	return client.NewClientWithResponses(url, client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	}))
}

// Until waits until the condition holds, and says whether it did within the limit.
func Until(ctx context.Context, limit time.Duration, holds func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}
