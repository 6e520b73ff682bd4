//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"github.com/ostraka/ostraka/api"
	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/runtime/eula"
)

const (
	// requestGrace is how long requests may continue after the server was told to stop. Long polls and streams are ended at once.
	requestGrace = 5 * time.Second
)

// serverConfig says what a server process is made of.
type serverConfig struct {
	DatabaseURL  string
	Listener     net.Listener
	Objects      objectConfig
	CacheDir     string        // for compiled modules
	Queues       []string      // River queues that this process works on; nil: all, empty: none
	LeaseTTL     time.Duration // 0: the domain's default
	FollowupsOff bool
	ArchiveDays  int           // after which ended jobs become archives where their project says nothing; 0: never
	AuditDays    int           // for which records of audit logs keep their content where their project says nothing; 0: until somebody prunes them
	PackAfter    time.Duration // for which attempts of ended jobs stay rows; 0: the domain's default
	EULA         eula.Document // what agents must have accepted; zero: the text in this program
	Recheck      recheckConfig
	Model        modelConfig
	Webhooks     webhookConfig
	TokensOnly   bool      // no agent without an enrolment token
	LogKey       audit.Key // signs the audit logs' heads; zero: the database keeps one
	OIDC         *api.OIDC // nil: people sign in with keys
	Doors        doorConfig
	Quotas       map[functions.QuotaName]int64 // limits of projects without values of their own
	Log          *slog.Logger
}

func (c serverConfig) worksQueues() bool { return c.Queues == nil || len(c.Queues) > 0 }

// server is a running server process: its HTTP side and its queue.
type server struct {
	service *engine.Service
	config  serverConfig
	http    *http.Server
	parts   *parts
	failed  chan error // gets what ended the HTTP side before its time
}

// gcPercent lets the heap of a server grow to five times what is live before it is collected, unless GOGC says something else: a server
// holds little and allocates much, so that this saves a tenth of its processor time for some tens of megabytes.
const gcPercent = 400

// startServer migrates the database, starts the workers and serves HTTP on the listener.
func startServer(ctx context.Context, config serverConfig) (*server, error) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	limitMemory()
	stopping, endRequests := context.WithCancel(context.WithoutCancel(ctx))
	parts, err := openParts(ctx, stopping, config)
	if err != nil {
		endRequests()
		config.Listener.Close()
		return nil, err
	}
	secret, err := config.Doors.tlsConfig()
	if err != nil {
		endRequests()
		config.Listener.Close()
		return nil, errors.Join(err, parts.close(context.WithoutCancel(ctx)))
	}
	s := &server{service: parts.service, config: config, parts: parts, failed: make(chan error, 2)}
	s.http = api.NewHTTPServer(parts.handler, config.Log)
	if parts.ops != nil {
		if err := s.serveOps(ctx, config); err != nil {
			endRequests()
			config.Listener.Close()
			return nil, errors.Join(err, parts.close(context.WithoutCancel(ctx)))
		}
	}
	s.http.RegisterOnShutdown(endRequests)
	s.http.TLSConfig = secret
	go func() {
		if err := s.serve(config.Doors.guard(config.Listener)); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("serving HTTP: %w", err)
		}
	}()
	return s, nil
}

// serveOps serves /metrics and /ops on a listener of their own, which ends with the parts.
func (s *server) serveOps(ctx context.Context, config serverConfig) error {
	l, err := listen(ctx, config.Doors.opsListen)
	if err != nil {
		return err
	}
	ops := api.NewHTTPServer(s.parts.ops, config.Log)
	s.parts.onClose(func(context.Context) error { return ops.Close() })
	go func() {
		if err := ops.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("serving the metrics: %w", err)
		}
	}()
	config.Log.Info("serving /metrics and /ops", "url", serverURL(l))
	return nil
}

func (s *server) serve(l net.Listener) error {
	if s.http.TLSConfig != nil {
		return s.http.ServeTLS(l, "", "")
	}
	return s.http.Serve(l)
}

// stop ends requests first and then the workers, whose jobs go back to the queue.
func (s *server) stop(ctx context.Context) error {
	polite, cancel := context.WithTimeout(ctx, requestGrace)
	defer cancel()
	if err := s.http.Shutdown(polite); err != nil {
		_ = s.http.Close() // they had their time
	}
	return s.parts.close(ctx)
}

// listen opens the address, and says what to do when somebody else has it.
func listen(ctx context.Context, address string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, &exitError{
			code: exitFailed, err: fmt.Errorf("listening on %s: %w", address, err),
			hint: "choose another address with --listen; port 0 takes any that is free",
		}
	}
	return l, nil
}

func serverURL(l net.Listener) string { return "http://" + l.Addr().String() }

// ownURL is where the server serves.
func (c serverConfig) ownURL() string { return c.Doors.scheme() + "://" + c.Listener.Addr().String() }
