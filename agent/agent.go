package agent

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/agent/codereader"
	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/agent/ledger"
	"github.com/ostraka/ostraka/agent/resting"
	"github.com/ostraka/ostraka/agent/spool"
	"github.com/ostraka/ostraka/agent/trust"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/monitor"
	"github.com/ostraka/ostraka/runtime/tree"
	"github.com/ostraka/ostraka/runtime/volume"
)

// stopGrace is how long the agent may take to send finished results and to return its leases after it was told to stop: five seconds
// after that it must be gone.
const stopGrace = 4 * time.Second

var (
	// errStopped is why a context of the agent's ended when nothing is wrong.
	errStopped = errors.New("the agent stops")
	// errNotActive is the server's word for an agent that gets no leases now: it waits for approval, is drained or quarantined.
	errNotActive = codeError("agent_not_active")
	// errDenied and errApprovalNeeded are its guardian's words for what it refuses to be lent now: rules change, and people say yes.
	errDenied         = codeError("denied_by_guardian")
	errApprovalNeeded = codeError("approval_needed")
	// errRevoked is its word for one whose key is refused forever.
	errRevoked = codeError("agent_revoked")
	// errDuplicate is its word for one whose key another process uses as well.
	errDuplicate = codeError("duplicate_instance")
)

// codeError is a problem of the server's to compare errors with.
func codeError(code string) error { return answer.Code(code) }

// final says whether the server refuses this agent for good, so that there is no use in continuing.
func final(err error) bool { return errors.Is(err, errRevoked) || errors.Is(err, errDuplicate) }

// outOfPlace says whether it is final for this process: one that another keeps from speaking waits for its turn, where it had none yet.
func (a *agent) outOfPlace(err error) bool {
	return final(err) && (!errors.Is(err, errDuplicate) || a.server.admitted.Load())
}

// agent is one running agent.
type agent struct {
	options Options
	log     *slog.Logger
	dir     *dataDir
	key     ed25519.PrivateKey
	token   trust.Token
	trust   *trust.Store
	server  *remote
	id      uuid.UUID         // as the server knows it
	walls   isolation.Sandbox // of functions in Python, as it is
	trees   *tree.Cache       // unpacked runtimes
	sandbox isolation.Sandbox // walls, unless the agent cheats
	modules isolation.Sandbox // of functions in WebAssembly
	unload  func() error      // what modules has
	bundles *bundleCache
	reader  codeReader
	inputs  *inputCache
	volumes *volume.Book
	outage  outage
	started time.Time
	keeper  *keeper
	room    *room
	spool   *spool.Spool
	ledger  *ledger.Ledger
	stands  standing
	// news gets a token when the server should hear of the agent before the next heartbeat is due.
	news chan struct{}

	enrolling sync.Mutex
	leases    leaseBook
	orders    *orderBook
	boxes     *boxBook
	warm      resting.Boxes
	sparing   sync.Mutex // one worker opens spare sandboxes at a time
	monitor   *monitor.Monitor
	witnesses *witnessing
	done      atomic.Int64 // shards executed since the start
	warned    atomic.Int64 // when a duplicate was found, in microseconds, that the log tells of already
}

// Run works until the context ends, the server says to stop, or it wants nothing to do with this agent. When the context ends it
// takes no more work, sends what is done, returns the rest and comes back within five seconds.
func Run(ctx context.Context, o Options) error {
	a, err := newAgent(o)
	if err != nil {
		return fmt.Errorf("starting the agent: %w", err)
	}
	defer a.close()
	err = a.run(ctx)
	if ctx.Err() != nil || errors.Is(err, errStopped) {
		a.log.Info("stopped", "shards_done", a.done.Load())
		return nil
	}
	return err
}

// run asks about the agreement before anything is unpacked, tried out or told; where one was accepted before, a new version may wait
// until the agent has arrived.
func (a *agent) run(ctx context.Context) error {
	kept, err := ReadAcceptance(a.dir.path)
	if err != nil {
		return err
	}
	if kept.Digest == "" {
		if err := a.agree(ctx); err != nil {
			return err
		}
	}
	if err := a.equip(ctx); err != nil {
		return fmt.Errorf("starting the agent: %w", err)
	}
	if a.options.Cheat != nil {
		a.log.Warn("THIS AGENT CHEATS, for demonstrations and tests", "how", a.options.Cheat.Does)
	}
	if os.Geteuid() == 0 && a.sandbox.Level() == bundle.Process {
		a.log.Warn("THE AGENT RUNS AS ROOT WITHOUT A SANDBOX: functions run as root too and can read and change everything on this machine; run the agent as a user of its own, or get a stronger level (ostraka agent doctor), or set min_isolation so that nothing runs")
	}
	a.tell(&reporting{}, idle{IdleStarting, "the agent starts and has not come so far as to ask for work; its log says what it waits for"}, a.started)
	if err := a.arrive(ctx); err != nil {
		return err
	}
	places, _ := a.keeper.allowed()
	a.log.Info("connected", "server", a.options.URL, "agent", a.id, "workers", places, "isolation", a.sandbox.Level())
	return a.work(ctx)
}

// arrive is what comes before work.
func (a *agent) arrive(ctx context.Context) error {
	if err := a.agree(ctx); err != nil {
		return err
	}
	if err := a.join(ctx); err != nil {
		return err
	}
	return a.meetProjects(ctx)
}

// newAgent opens what the agent needs to ask about the agreement: its folder, its key and the way to the server.
func newAgent(o Options) (*agent, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	token, err := trust.ParseToken(o.Token)
	if err != nil {
		return nil, err
	}
	o.Token = token.Secret
	server, err := newRemote(o.URL, o.Version)
	if err != nil {
		return nil, err
	}
	if o.Cheat != nil && o.Cheat.Requests != nil {
		server.client.Client = o.Cheat.Requests(server.client.Client)
	}
	server.watchClock(o.Log, o.Now)
	dir, err := openDataDir(o.DataDir)
	if err != nil {
		return nil, err
	}
	history, err := ledger.Open(historyFile(dir.path))
	if err != nil {
		o.Log.Warn("what the agent has done so far cannot be read, and is counted anew", "error", err)
	}
	key, err := loadKey(dir.keyFile())
	if err != nil {
		dir.close()
		return nil, err
	}
	witnesses, err := newWitnessing(dir.path)
	if err != nil {
		dir.close()
		return nil, err
	}
	return &agent{
		witnesses: witnesses,
		started:   time.Now(), room: newRoom(), news: make(chan struct{}, 1), stands: standing{log: o.Log},
		options: o, log: o.Log, dir: dir, key: key, token: token, trust: trust.Open(dir.path), server: server,
		bundles: &bundleCache{dir: dir.bundles(), max: o.CacheBytes, log: o.Log}, inputs: newInputCache(dir.inputs(), DefaultInputsBytes, o.Log), outage: outage{log: o.Log}, orders: newOrderBook(),
		ledger: history, volumes: volume.NewBook(VolumesDir(dir.path), volume.NewBlocklist(dir.path), o.Log),
	}, nil
}

// equip opens what the agent works with: the sandbox, the owner's preferences, what is left to send, and the monitor.
func (a *agent) equip(ctx context.Context) (err error) {
	if err = a.inputs.clear(); err != nil {
		return err
	}
	if a.walls, err = openSandbox(ctx, a.options, a.dir); err != nil {
		return err
	}
	a.sandbox = cheating(a.options, a.walls)
	if a.trees, err = tree.NewCache(a.dir.runtimes(), tree.DefaultCacheBytes, a.log); err != nil {
		return err
	}
	modules, err := NewWasmSandbox(a.dir.compiled(), a.log)
	if err != nil {
		return err
	}
	a.modules, a.unload = cheating(a.options, modules), modules.Close
	a.keeper = newKeeper(&a.options, a.dir.path, a.sandbox)
	if err := a.keeper.start(ctx); err != nil {
		return err
	}
	if a.spool, err = spool.Open(a.dir.spool(), a.options.SpoolBytes); err != nil {
		return err
	}
	a.monitor = monitor.New(monitor.Options{Handlers: a.options.AlertHandlers, Log: a.log})
	a.boxes = newBoxBook(a.monitor)
	if a.reader = a.options.reader; a.reader == nil {
		a.reader = codereader.Open(a.dir.modules(), a.log)
	}
	return nil
}

func openSandbox(ctx context.Context, o Options, dir *dataDir) (isolation.Sandbox, error) {
	sandbox := o.Sandbox
	if sandbox == nil {
		tree, err := openPython(ctx, o, dir)
		if err != nil {
			return nil, err
		}
		if sandbox, err = isolation.Isolate(ctx, wallsOf(o, dir), tree); err != nil {
			return nil, err
		}
	}
	return sandbox, nil
}

// cheating is a sandbox as it is, unless the agent cheats.
func cheating(o Options, s isolation.Sandbox) isolation.Sandbox {
	if o.Cheat != nil && o.Cheat.Sandbox != nil {
		return o.Cheat.Sandbox(s)
	}
	return s
}

func (a *agent) close() {
	a.server.close()
	if a.reader != nil {
		a.reader.Close()
	}
	if a.unload != nil {
		_ = a.unload() // no process of it lives any more
	}
	if a.spool != nil {
		_ = a.spool.Close() // it was only read from
	}
	a.dir.close()
}

// work runs the workers and the heartbeat. soft ends when no more work is to be taken, hard a little later: what is done is sent
// in between.
func (a *agent) work(ctx context.Context) error {
	soft, stop := context.WithCancelCause(ctx)
	defer stop(errStopped)
	hard, kill := context.WithCancelCause(context.WithoutCancel(ctx))
	defer kill(errStopped)
	context.AfterFunc(soft, func() { time.AfterFunc(stopGrace, func() { kill(errStopped) }) })

	context.AfterFunc(soft, a.stands.leaves)
	var others sync.WaitGroup
	others.Go(func() { a.beat(hard, stop) })
	others.Go(func() { a.watchOver(hard) })
	others.Go(func() { a.monitor.Run(hard) })
	others.Go(func() { a.obey(hard) })
	others.Go(func() { a.confirm(hard) })
	others.Go(func() { a.cool(hard) })
	others.Go(func() { a.witness(hard) })
	others.Go(func() { a.keepVolumes(hard) })
	a.takeUp(soft, hard, stop)
	err := a.crew(soft, hard)
	a.warm.DropAll()
	if err == nil {
		err = context.Cause(soft) // why the workers came to an end
	}
	a.farewell(hard, stop)
	kill(errStopped)
	others.Wait()
	return err
}
