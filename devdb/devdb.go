package devdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
)

// User is the database superuser of the cluster, and Database the database
// that URL names.
const (
	User     = "ostraka"
	Database = "ostraka"
)

// ErrStopped is returned by Restart after Stop.
var ErrStopped = errors.New("the embedded Postgres has been stopped")

// Options say where and how the server runs.
type Options struct {
	// Dir holds everything the server keeps; it is made when missing.
	Dir string
	// BinDir names the directory of initdb and postgres. Empty means: search
	// (see FindBinaries).
	BinDir string
	// Log receives what the package has to say. Nil means slog.Default().
	Log *slog.Logger
	// Settings are further server settings; they override this package's own.
	Settings map[string]string
	// Disposable gives up fsync for speed: a killed server still loses nothing,
	// a crash of the machine may lose all. Only for data that nobody will miss,
	// such as a test's.
	Disposable bool
}

// Server is a running Postgres server that lives no longer than this process.
type Server struct {
	opts   Options
	layout layout
	log    *slog.Logger
	bins   Binaries
	acct   account
	socket socketDir

	ops      sync.Mutex // serialises Stop and Restart
	instance *os.File   // nil once stopped
	proc     atomic.Pointer[process]
}

// Start creates the cluster when there is none, recovers what an earlier
// process left behind, starts the server and returns once it answers. The
// context bounds the start only (crash recovery may take long); Stop ends the
// server.
//
// It returns ErrInUse when another process runs a server on the same
// directory, and ErrNotInstalled when the machine has no usable Postgres.
func Start(ctx context.Context, opts Options) (*Server, error) {
	dir, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("finding the database directory %q: %w", opts.Dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the database directory: %w", err)
	}
	s := &Server{opts: opts, layout: layout{dir: dir}, log: opts.Log}
	if s.log == nil {
		s.log = slog.Default()
	}
	if s.instance, err = lockInstance(s.layout); err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		s.release()
		return nil, fmt.Errorf("starting the embedded Postgres in %s: %w", dir, err)
	}
	return s, nil
}

// start does everything that happens under the instance lock.
func (s *Server) start(ctx context.Context) error {
	var err error
	if s.bins, err = FindBinaries(ctx, s.opts.BinDir, s.layout.version()); err != nil {
		return err
	}
	if s.acct, err = chooseAccount(s.layout.data()); err != nil {
		return err
	}
	lock, err := s.clearLeftovers(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := s.initialise(ctx, lock); err != nil {
		return err
	}
	if s.socket, err = newSocketDir(s.layout, s.acct); err != nil {
		return err
	}
	return s.run(ctx, lock)
}

// run starts the server on a prepared cluster and waits until it answers.
func (s *Server) run(ctx context.Context, lock *os.File) error {
	if err := s.removeStalePIDFile(); err != nil {
		return err
	}
	if err := writeAccess(s.layout.data(), s.acct); err != nil {
		return err
	}
	proc, err := s.launch(lock)
	if err != nil {
		return err
	}
	if err := s.awaitReady(ctx, proc); err != nil {
		_ = proc.stop(canceled(), s.log)
		return err
	}
	s.proc.Store(proc)
	s.log.Debug("embedded Postgres is ready", "pid", proc.pid, "version", s.bins.Version, "account", s.acct.name)
	return nil
}

// URL is the connection URL; it holds no secret and stays the same across
// Restart. Only the account that called Start can use it.
func (s *Server) URL() string {
	q := url.Values{"host": {s.socket.path}, "port": {socketPort}, "sslmode": {"disable"}}
	query := strings.ReplaceAll(q.Encode(), "+", "%20") // Postgres clients take a plus for a plus
	u := url.URL{Scheme: "postgres", User: url.User(User), Path: "/" + Database, RawQuery: query}
	return u.String()
}

// PID is the process id of the server that was started last.
func (s *Server) PID() int { return s.proc.Load().pid }

// Done is closed when the server that was started last has ended, whether it
// died or was stopped. After Restart, ask again.
func (s *Server) Done() <-chan struct{} { return s.proc.Load().done }

// Restart starts the server anew after it has died; one that still runs is
// stopped first.
func (s *Server) Restart(ctx context.Context) error {
	s.ops.Lock()
	defer s.ops.Unlock()
	if s.instance == nil {
		return ErrStopped
	}
	if err := s.proc.Load().stop(ctx, s.log); err != nil {
		return fmt.Errorf("restarting the embedded Postgres: %w", err)
	}
	lock, err := s.clearLeftovers(ctx)
	if err != nil {
		return fmt.Errorf("restarting the embedded Postgres: %w", err)
	}
	defer lock.Close()
	if err := s.run(ctx, lock); err != nil {
		return fmt.Errorf("restarting the embedded Postgres: %w", err)
	}
	return nil
}

// Stop ends the server: politely (a fast shutdown) while the context and
// FastShutdownLimit last, then at any price. When it returns nil nothing of the
// server runs any more. Stopping twice is harmless.
func (s *Server) Stop(ctx context.Context) error {
	s.ops.Lock()
	defer s.ops.Unlock()
	if s.instance == nil {
		return nil
	}
	if err := s.proc.Load().stop(ctx, s.log); err != nil {
		return fmt.Errorf("stopping the embedded Postgres: %w", err)
	}
	lock, err := s.clearLeftovers(context.WithoutCancel(ctx))
	if err != nil {
		return fmt.Errorf("stopping the embedded Postgres: %w", err)
	}
	lock.Close()
	s.release()
	return nil
}

// release gives up the directory.
func (s *Server) release() {
	s.socket.remove()
	s.instance.Close()
	s.instance = nil
}

// canceled is a context that leaves no time to be polite.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
