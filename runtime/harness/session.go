//go:build linux

package harness

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/ostraka/ostraka/runtime/canonical"
)

// Session is one interpreter with the function imported, used for the shards of
// one lease, one after the other.
type Session struct {
	cfg Config

	mu      sync.Mutex // one shard at a time
	z       *zygote    // nil when the interpreter has died; Run starts another
	loaded  *Loaded    // waits to become z; nil when there is none
	failure *verdict   // the import failed, which every shard reports
	facts   facts
	closed  bool

	outside *outside
}

// Start starts an interpreter and imports the function. An import that fails is
// no error here: every shard reports it.
func Start(ctx context.Context, cfg Config) (*Session, error) {
	s := &Session{cfg: cfg, outside: newOutside()}
	if err := s.start(ctx); err != nil {
		return nil, fmt.Errorf("starting a session: %w", err)
	}
	return s, nil
}

func (s *Session) start(ctx context.Context) error {
	if err := s.cfg.prepare(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ensure(ctx)
}

// Close ends the interpreter and everything that the function left behind. It
// waits for a Run that is under way; cancel its context to hurry.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.discard()
}

func (s *Session) discard() error {
	if s.z == nil {
		return nil
	}
	z := s.z
	s.z = nil
	s.outside.pid.Store(0)
	return z.stop()
}

// ensure makes sure of an interpreter that has imported the function, or of a
// failure to report.
func (s *Session) ensure(ctx context.Context) error {
	if s.closed {
		return errClosed
	}
	if s.z != nil || s.failure != nil {
		return nil
	}
	z, err := s.interpreter()
	if err != nil {
		return err
	}
	s.z = z
	s.outside.pid.Store(int64(z.cmd.Process.Pid))
	before, err := account(&s.cfg) // while nothing of the function runs: an import may be refused a process before we hear that it began
	if err != nil {
		return errors.Join(err, s.discard())
	}
	if err := s.begin(ctx); err != nil {
		return errors.Join(err, s.discard())
	}
	failure, err := s.awaitImport(ctx, before)
	if failure != nil || err != nil {
		s.failure = failure
		return errors.Join(err, s.discard())
	}
	return nil
}

// Ready makes sure of an interpreter, as Run does. A caller that prepares something
// inside a sandbox for the next shard calls it first: it starts another one
// where the last has died.
func (s *Session) Ready(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ensure(ctx); err != nil {
		return fmt.Errorf("making the interpreter ready: %w", err)
	}
	return nil
}

// Restart ends the interpreter and everything that it started; the next shard
// gets a new one.
func (s *Session) Restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.discard()
}

// interpreter takes the one that waits for this session, or starts one.
func (s *Session) interpreter() (*zygote, error) {
	if l := s.loaded; l != nil {
		s.loaded = nil
		if l.fits(&s.cfg) {
			s.facts = l.facts
			return l.z, nil
		}
		if err := l.Close(); err != nil {
			return nil, err
		}
	}
	s.facts = facts{}
	return startZygote(&s.cfg)
}

// begin gives the interpreter its configuration and waits until it has a template.
func (s *Session) begin(ctx context.Context) error {
	if err := s.z.configure(&s.cfg); err != nil {
		return err
	}
	if s.facts == (facts{}) {
		m, err := s.z.await(ctx, opLoaded)
		if err != nil {
			return err
		}
		s.facts = m.facts
	}
	m, err := s.z.await(ctx, opReady)
	if err != nil {
		return err
	}
	return s.z.find(m.Template, s.cfg.PIDNamespace)
}

// awaitImport waits for the template to import the function. before is what the counters were when it began.
func (s *Session) awaitImport(ctx context.Context, before Account) (*verdict, error) {
	timer := time.NewTimer(s.cfg.wall())
	defer timer.Stop()
	watch := time.NewTicker(watchEvery)
	defer watch.Stop()
	s.outside.forget()
	why := ending{limits: s.cfg.Manifest.Limits, stdoutLimit: s.cfg.Manifest.Limits.StdoutBytes}
	for why.stop == stopNone {
		select {
		case m, ok := <-s.z.messages:
			after, err := account(&s.cfg)
			if err != nil {
				return nil, err
			}
			why.refused, why.oomKills = after.PidsRefused-before.PidsRefused, after.OOMKills-before.OOMKills
			return importVerdict(m, ok, &why), nil
		case <-timer.C:
			v := failed(StatusTimeout, ExceptionImport, "importing the function takes longer than %d s: raise limits.wall_seconds, or do less on import", why.limits.WallSeconds)
			return &v, nil
		case <-s.z.verbose:
			why.stop, why.stdout = stopLog, s.z.stdout.written()
		case <-watch.C:
			why.stop = s.z.inspect(why.limits)
			if now, err := account(&s.cfg); err == nil && now.OOMKills > before.OOMKills {
				why.stop = stopMemory
			}
		case why.reason = <-s.outside.orders:
			why.stop = stopOrder
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	v, _ := why.stopped()
	return &v, nil
}

// importVerdict says what the end of the import means; nil means success.
func importVerdict(m message, ok bool, e *ending) *verdict {
	var v verdict
	switch {
	case ok && m.Op == "imported" && m.Exception == nil:
		return nil
	case ok && m.Op == "imported":
		v = verdict{status: e.raised(m.Exception.Limit), exception: m.Exception.safe()}
	case ok && m.Op == "lost" && e.refused > 0:
		// Of a fork bomb every copy speaks for the template, which ends it.
		e.stop = stopPids
		v, _ = e.stopped()
	case ok && m.Op == "lost" && m.Signal != 0 && e.oomKills > 0:
		e.stop = stopMemory
		v, _ = e.stopped()
	case ok && m.Op == "lost" && m.Signal != 0:
		v = failed(StatusKilled, ExceptionImport, "importing the function ended the process%s", by(syscall.Signal(m.Signal)))
	case ok && m.Op == "lost":
		v = failed(StatusError, ExceptionImport, "importing the function left with exit code %d: do not call os._exit on import", m.code())
	default:
		v = failed(StatusKilled, ExceptionHarness, "the interpreter was killed while it imported the function")
	}
	return &v
}

// Run runs the function on one shard. Whatever user code does becomes a Result;
// an error means that the shard was not run to an end: the context ended, the
// input is not acceptable (ErrInput), or the machine failed.
func (s *Session) Run(ctx context.Context, shard Shard) (Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := canonical.Valid(shard.Input, MaxInputBytes); err != nil {
		return Result{}, fmt.Errorf("running shard %d: %w: %w", shard.Index, ErrInput, err)
	}
	if err := s.ensure(ctx); err != nil {
		return Result{}, fmt.Errorf("running shard %d: %w", shard.Index, err)
	}
	r, err := s.run(ctx, shard)
	if err != nil {
		return Result{}, fmt.Errorf("running shard %d: %w", shard.Index, err)
	}
	r.label(&s.cfg, &s.facts, &shard)
	return r, nil
}

func (s *Session) run(ctx context.Context, shard Shard) (Result, error) {
	if s.failure != nil {
		return s.failedImport(), nil
	}
	f, err := launch(s.z, shard, &s.cfg)
	if err != nil {
		return Result{}, errors.Join(err, s.discard())
	}
	s.outside.forget()
	s.outside.running.Store(f)
	outcome := f.wait(ctx, s.outside.orders)
	s.outside.running.Store(nil)
	if outcome.lost || outcome.last {
		if err := s.discard(); err != nil {
			f.abandon()
			return Result{}, err
		}
	}
	r, held, err := f.collect(outcome)
	if held {
		err = errors.Join(err, s.discard())
	}
	return r, err
}

// failedImport is the Result of every shard when the import has failed.
func (s *Session) failedImport() Result {
	now := stamp(time.Now())
	empty := newTail(0).digest()
	return Result{
		Status: s.failure.status, Exception: s.failure.exception, ExitCode: -1,
		StdoutDigest: empty, StartedAt: now, EndedAt: now, Files: []File{},
	}
}
