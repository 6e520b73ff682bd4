//go:build linux

package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Messages of an interpreter before it imports a function.
const (
	opLoaded = "loaded" // the program of this package stands; it waits for its configuration
	opReady  = "ready"  // it has a template, which imports the function next
)

// Loaded is an interpreter that waits for a session: this package's program is loaded, and nothing of any function has come near it.
type Loaded struct {
	z     *zygote
	facts facts
	cfg   Config
}

// Load starts an interpreter ahead of its session, and returns when it waits. Of the configuration it needs what an interpreter is
// started with: Interpreter, WorkDir, Settings (but for the job), Prepare and PIDNamespace.
func Load(ctx context.Context, cfg Config) (*Loaded, error) {
	z, err := startZygote(&cfg)
	if err != nil {
		return nil, fmt.Errorf("loading an interpreter: %w", err)
	}
	m, err := z.await(ctx, opLoaded)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("loading an interpreter: %w", err), z.stop())
	}
	return &Loaded{z: z, facts: m.facts, cfg: cfg}, nil
}

// Start starts a session as the function of this name does. The interpreter that waits becomes its first where the session would start it
// just so; otherwise it is ended, and another one started. Whatever comes out, this one is used up.
func (l *Loaded) Start(ctx context.Context, cfg Config) (*Session, error) {
	s := &Session{cfg: cfg, outside: newOutside(), loaded: l}
	if err := s.start(ctx); err != nil {
		err = fmt.Errorf("starting a session: %w", err)
		if s.loaded != nil {
			err = errors.Join(err, l.Close())
		}
		return nil, err
	}
	return s, nil
}

// fits tells whether a session would start its interpreters just like this one: what differs, as another hash seed, cannot be changed in
// one that runs.
func (l *Loaded) fits(cfg *Config) bool {
	ours, theirs := command(&l.cfg, ""), command(cfg, "")
	return l.cfg.Interpreter == cfg.Interpreter && slices.Equal(ours.Args, theirs.Args) && l.cfg.PIDNamespace == cfg.PIDNamespace && ours.Dir == theirs.Dir && slices.Equal(ours.Env, theirs.Env)
}

// Close ends an interpreter that no session was started with.
func (l *Loaded) Close() error { return l.z.stop() }
