package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/testenv"
	"github.com/ostraka/ostraka/testenv/lockorder"
)

// deaths is how many cuts there are for each that takes the connection with it. To Postgres both are the same, a transaction that is
// rolled back; but a new connection has everything to learn again, and costs more than what is tested.
const deaths = 8

// faults cuts the server off from Postgres at statements that the test chooses, as the death of the process would, and holds
// statements up, as a slow machine would.
type faults struct {
	mu   sync.Mutex
	left int // statements until the cut; 0: none
	cut  bool
	cuts int      // so far
	dies bool     // every cut takes the connection with it
	dead []uint32 // the connections that were cut off, by their process in Postgres
	hold string   // the text of the query to hold up; empty: none
	held chan struct{}
	free chan struct{}
	seen map[string]int // how often each query was run

	locks     lockorder.Watch
	committed commits
}

// count is how often a query was run so far.
func (f *faults) count(q store.Query) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen[q.SQL]
}

// total is how many queries were run so far.
func (f *faults) total() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, times := range f.seen {
		n += times
	}
	return n
}

func (f *faults) see(sql string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen == nil {
		f.seen = map[string]int{}
	}
	f.seen[sql]++
}

// holdUp has the next run of a query wait. held is closed when it does; release lets it go on.
func (w *world) holdUp(q store.Query) (held <-chan struct{}, release func()) {
	f := w.faults
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hold, f.held, f.free = q.SQL, make(chan struct{}), make(chan struct{})
	free := f.free
	release = sync.OnceFunc(func() { close(free) })
	w.t.Cleanup(release) // should the test fail before
	return f.held, release
}

func (f *faults) wait(sql string) {
	f.mu.Lock()
	if f.hold == "" || f.hold != sql {
		f.mu.Unlock()
		return
	}
	f.hold = ""
	close(f.held)
	free := f.free
	f.mu.Unlock()
	<-free
}

// arm has the n-th statement from now on cut off, counted from 1.
func (f *faults) arm(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left, f.cut = n, false
}

// disarm says whether a statement was cut off since arm. Postgres has given up by then what was locked: a connection that died, or whose commit
// was cut off, which pgx closes, holds its locks until Postgres has noticed. What comes next and skips what is locked would find nothing to do, and
// end as if all were done.
func (w *world) disarm() bool {
	w.t.Helper()
	f := w.faults
	f.mu.Lock()
	f.left = 0
	cut, dead := f.cut, f.dead
	f.dead = nil
	f.mu.Unlock()
	if len(dead) > 0 {
		testenv.Eventually(w.t, func() bool {
			return w.controlCount("select count(*) from pg_stat_activity where pid = any ($1) and pid <> pg_backend_pid() and state <> 'idle'", dead) == 0
		}, "Postgres has noticed that a transaction was cut off")
	}
	return cut
}

// statement cuts off the statement that is to be: none of it reaches Postgres. Its connection dies, or is left as it is, as by deaths.
func (f *faults) statement(ctx context.Context, conn *pgx.Conn) context.Context {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left == 0 {
		return ctx
	}
	if f.left--; f.left > 0 {
		return ctx
	}
	f.cut = true
	f.cuts++
	f.dead = append(f.dead, conn.PgConn().PID())
	if f.dies || f.cuts%deaths == 1 {
		_ = conn.PgConn().Conn().Close()
		return ctx
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

func (f *faults) TraceQueryStart(ctx context.Context, conn *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	f.see(q.SQL)
	f.locks.Statement(conn, q.SQL)
	f.committed.begin(conn, q.SQL)
	f.wait(q.SQL)
	return f.statement(ctx, conn)
}

func (f *faults) TraceQueryEnd(_ context.Context, conn *pgx.Conn, q pgx.TraceQueryEndData) {
	f.committed.end(conn, q.Err)
}

func (f *faults) TraceCopyFromStart(ctx context.Context, conn *pgx.Conn, _ pgx.TraceCopyFromStartData) context.Context {
	f.committed.begin(conn, "copy")
	return f.statement(ctx, conn)
}

func (f *faults) TraceCopyFromEnd(_ context.Context, conn *pgx.Conn, q pgx.TraceCopyFromEndData) {
	f.committed.end(conn, q.Err)
}

// TraceAcquireStart and TraceAcquireEnd are there because the pool asks for them.
func (f *faults) TraceAcquireStart(ctx context.Context, _ *pgxpool.Pool, _ pgxpool.TraceAcquireStartData) context.Context {
	return ctx
}

func (f *faults) TraceAcquireEnd(context.Context, *pgxpool.Pool, pgxpool.TraceAcquireEndData) {}

// waiting is a step in River's table.
type waiting struct {
	ID   int64
	Kind string
	Args json.RawMessage
}

// steps lists the steps that wait, oldest first.
func (w *world) steps() []waiting {
	w.t.Helper()
	rows, err := w.store.Pool.Query(w.t.Context(), "select id, kind, args from river.river_job where state = 'available' order by id")
	require.NoError(w.t, err)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[waiting])
	require.NoError(w.t, err)
	return list
}

func (w *world) done(s waiting) {
	_, err := w.store.Pool.Exec(w.t.Context(), "update river.river_job set state = 'completed', finalized_at = now() where id = $1", s.ID)
	require.NoError(w.t, err)
}

// drain runs the steps that wait, and those that follow from them, each by run.
func (w *world) drain(run func(s waiting)) {
	w.t.Helper()
	for {
		list := w.steps()
		if len(list) == 0 {
			return
		}
		for _, s := range list {
			run(s)
			w.done(s)
		}
	}
}

// once runs a step, which must succeed.
func (w *world) once(s waiting) {
	w.t.Helper()
	require.NoError(w.t, w.step(s), "%s %s", s.Kind, s.Args)
}

// settleAll runs all that waits.
func (w *world) settleAll() { w.t.Helper(); w.drain(w.once) }

// step runs a step as the queue's worker does, until it no longer leaves a turn to others.
func (w *world) step(s waiting) error {
	for {
		err := w.turn(s)
		var later *functions.Snooze
		if !errors.As(err, &later) || later.For > 0 && s.Kind != (stepargs.SplitArgs{}).Kind() { // Postgres may not know yet that a split was cut off
			return err
		}
	}
}

// turn runs a step once.
func (w *world) turn(s waiting) error {
	ctx := w.t.Context()
	switch s.Kind {
	case stepargs.AdvanceRunArgs{}.Kind():
		return run(ctx, s, w.Advance)
	case stepargs.BulkArgs{}.Kind():
		return run(ctx, s, w.RunBulk)
	case stepargs.FireScheduleArgs{}.Kind():
		return run(ctx, s, w.Fire)
	case stepargs.SpreadWebhooksArgs{}.Kind():
		return run(ctx, s, w.SpreadWebhooks)
	case stepargs.DeliverWebhookArgs{}.Kind():
		return run(ctx, s, w.DeliverWebhook)
	case stepargs.SplitArgs{}.Kind():
		return run(ctx, s, w.Split)
	case stepargs.VerifyArgs{}.Kind():
		return run(ctx, s, w.Verify)
	case stepargs.CompareArgs{}.Kind():
		return run(ctx, s, w.Compare)
	case stepargs.ScoreCodeArgs{}.Kind():
		return run(ctx, s, w.ScoreCode)
	case stepargs.ScoreResultsArgs{}.Kind():
		return run(ctx, s, w.ScoreResults)
	case stepargs.AggregateArgs{}.Kind():
		return run(ctx, s, w.Aggregate)
	case stepargs.MergeArgs{}.Kind():
		return run(ctx, s, w.Merge)
	case stepargs.PreviewArgs{}.Kind():
		return run(ctx, s, w.Preview)
	case stepargs.RefoldArgs{}.Kind():
		return run(ctx, s, w.Refold)
	case stepargs.FinishArgs{}.Kind():
		return run(ctx, s, w.Finish)
	case stepargs.ClaimsArgs{}.Kind():
		return run(ctx, s, w.WeighClaims)
	case stepargs.JudgeControlsArgs{}.Kind():
		return run(ctx, s, w.JudgeControls)
	case stepargs.FollowUpArgs{}.Kind():
		return run(ctx, s, w.FollowUp)
	case stepargs.CancelArgs{}.Kind():
		return run(ctx, s, w.Cancel)
	case stepargs.ReceiptArgs{}.Kind():
		return run(ctx, s, w.Receipt)
	case stepargs.ArchiveArgs{}.Kind():
		return run(ctx, s, w.Archive)
	case stepargs.EraseArgs{}.Kind():
		return run(ctx, s, w.Erase)
	case stepargs.RevokeArgs{}.Kind():
		return run(ctx, s, w.Revoke)
	case stepargs.RecheckArgs{}.Kind():
		return run(ctx, s, w.Recheck)
	case stepargs.CloseWindowArgs{}.Kind():
		return run(ctx, s, w.CloseWindow)
	case stepargs.TailArgs{}.Kind():
		return run(ctx, s, w.Tail)
	case stepargs.FinaliseArgs{}.Kind():
		return run(ctx, s, w.Finalise)
	case stepargs.ComparePlatformsArgs{}.Kind():
		return run(ctx, s, w.ComparePlatforms)
	case stepargs.ExcuseUnsteadyArgs{}.Kind():
		return run(ctx, s, w.ExcuseUnsteady)
	case stepargs.TaintArgs{}.Kind():
		return run(ctx, s, w.Taint)
	default:
		return fmt.Errorf("there is no step %q", s.Kind)
	}
}

func run[A any](ctx context.Context, s waiting, step func(context.Context, A) error) error {
	var args A
	if err := json.Unmarshal(s.Args, &args); err != nil {
		return err
	}
	return step(ctx, args)
}
