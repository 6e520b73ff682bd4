//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ostraka/ostraka/api"
	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/migrations"
	"github.com/ostraka/ostraka/queue"
	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/web"
)

// opsPrefix is where River's admin interface is.
const opsPrefix = "/ops/river"

// databaseWait is how long a server that starts waits for its database: in most places both are started together.
const databaseWait = time.Minute

// parts are what a server process is made of, wired together.
type parts struct {
	service *engine.Service
	handler http.Handler
	ops     http.Handler // of a listener of its own; nil: there is none
	// closes undo what was opened, the last first.
	closes []func(context.Context) error
}

// openParts migrates the database, connects everything and starts the workers. ctx bounds the opening only; stopping ends when
// requests that wait are to end.
func openParts(ctx, stopping context.Context, config serverConfig) (_ *parts, err error) {
	p := &parts{} // not a result: "return nil, err" would take it from the deferred close
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close(context.WithoutCancel(ctx)))
		}
	}()
	db, err := p.openDatabase(ctx, config)
	if err != nil {
		return nil, err
	}
	objects, err := config.Objects.open(ctx)
	if err != nil {
		return nil, err
	}
	p.onClose(func(context.Context) error { return objects.Close() })
	modules, err := p.openModules(config)
	if err != nil {
		return nil, err
	}
	rechecker, err := p.openRechecker(ctx, config)
	if err != nil {
		return nil, err
	}
	asked, err := config.Model.open()
	if err != nil {
		return nil, err
	}
	if asked.Client != nil {
		p.onClose(func(context.Context) error { asked.Client.Close(); return nil })
	}
	work, err := queue.New(db.Pool, config.Log)
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	metrics, err := rest.NewMetrics(registry)
	if err != nil {
		return nil, err
	}
	if err := registry.Register(poolCollector{db.Pool}); err != nil {
		return nil, fmt.Errorf("registering the figures of the connections to the database: %w", err)
	}
	rules, err := guardian.CompiledDefaults()
	if err != nil {
		return nil, fmt.Errorf("reading the guardian's built-in rules: %w", err)
	}
	notices := base.NewNotices()
	p.service = engine.New(engine.Options{
		Store: db, Blobs: objects, Modules: modules, Queue: work, Notices: notices, Log: config.Log,
		LeaseTTL: config.LeaseTTL, FollowupsOff: config.FollowupsOff, ArchiveDays: config.ArchiveDays, AuditDays: config.AuditDays, PackAfter: config.PackAfter, EULA: config.EULA, TokensOnly: config.TokensOnly, Names: config.Doors.names, Observe: metrics, Rechecker: rechecker, RecheckSlots: config.Recheck.Concurrent, RecheckSeconds: config.Recheck.Seconds,
		Heuristics: functions.DefaultHeuristics(), Model: asked, LogKey: config.LogKey, Quotas: config.quotas(), GuardianRules: rules, Shortcuts: true, Webhooks: config.Webhooks.client(),
	})
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	ops, err := work.UI(background, opsPrefix)
	if err != nil {
		stop()
		return nil, err
	}
	limits := config.limits()
	limits.Loads = db.Loads
	options := api.Options{
		Service: p.service, Log: config.Log, Version: version, OpsHandler: ops, Portal: web.Files(), OIDC: config.OIDC, Metrics: metrics, Stopping: stopping, Limits: limits, SecureCookies: config.Doors.behindProxy,
	}
	if config.Doors.opsListen != "" {
		p.handler, p.ops, err = api.NewApart(options)
	} else {
		p.handler, err = api.New(options)
	}
	if err != nil {
		stop()
		return nil, err
	}
	p.run(stop, func() { notices.Run(background, db.Pool, config.Log) })
	if config.worksQueues() {
		p.run(stop, func() { p.work(background, work, config) })
	}
	return p, nil
}

func (p *parts) onClose(fn func(context.Context) error) { p.closes = append(p.closes, fn) }

// close ends everything, the last first, and reports all that went wrong.
func (p *parts) close(ctx context.Context) error {
	var all error
	for i := len(p.closes) - 1; i >= 0; i-- {
		all = errors.Join(all, p.closes[i](ctx))
	}
	p.closes = nil
	return all
}

// run runs fn until stop was called and it has returned.
func (p *parts) run(stop func(), fn func()) {
	var done sync.WaitGroup
	done.Go(fn)
	p.onClose(func(context.Context) error {
		stop()
		done.Wait()
		return nil
	})
}

// openDatabase connects, waiting for a database that is still starting, and migrates.
func (p *parts) openDatabase(ctx context.Context, config serverConfig) (*store.Store, error) {
	db, err := store.Connect(ctx, config.DatabaseURL)
	if err != nil {
		return nil, err
	}
	p.onClose(func(context.Context) error {
		db.Close()
		return nil
	})
	if err := waitForDatabase(ctx, db); err != nil {
		return nil, err
	}
	if err := migrations.Up(ctx, db.Pool, config.Log); err != nil {
		return nil, tooNew(fmt.Errorf("migrating the database: %w", err))
	}
	return db, nil
}

func waitForDatabase(ctx context.Context, db *store.Store) error {
	ctx, cancel := context.WithTimeout(ctx, databaseWait)
	defer cancel()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		err := db.Pool.Ping(ctx)
		if err == nil {
			return nil
		}
		if !store.Unavailable(err) {
			return fmt.Errorf("connecting to the database: %w", err)
		}
		select {
		case <-ctx.Done():
			return &exitError{code: exitUnreachable, err: fmt.Errorf("the database does not answer: %w", err), hint: "check --database-url, and that the database runs"}
		case <-tick.C:
		}
	}
}

// openModules makes the pool of runners. Compiled modules are native code, so their cache is private to this process' user.
func (p *parts) openModules(config serverConfig) (*wasm.Pool, error) {
	pool, err := wasm.NewPool(wasm.Options{CacheDir: config.CacheDir, Log: config.Log})
	if err != nil {
		return nil, fmt.Errorf("preparing the module runners: %w", err)
	}
	p.onClose(func(context.Context) error {
		pool.Close()
		return nil
	})
	return pool, nil
}

// work works the queues until the context ends. A queue that cannot be worked for now (the database restarts) is tried again: the
// server's HTTP side is of use all the same.
func (p *parts) work(ctx context.Context, q *queue.Queue, config serverConfig) {
	id := uuid.NewString()
	for ctx.Err() == nil {
		err := q.Work(ctx, p.service, queue.Options{ServerID: id, Queues: config.Queues})
		if err == nil || ctx.Err() != nil {
			return
		}
		config.Log.Error("working the queues failed; trying again", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}
