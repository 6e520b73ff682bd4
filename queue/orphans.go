package queue

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/insight"
	"github.com/ostraka/ostraka/functions/stepargs"
)

const (
	// seenEvery is how often a server says that it is alive, and looks for the orphans of those that are not.
	seenEvery = 2 * time.Second
	// deadAfter is five missed signs of life. A server that was only slow loses nothing: its steps may run twice, and every step may.
	deadAfter = 10 * time.Second
)

//go:embed see_server.sql
var seeServerSQL string

//go:embed adopt_orphans.sql
var adoptOrphansSQL string

//go:embed adopt_own.sql
var adoptOwnSQL string

//go:embed adopt_lost.sql
var adoptLostSQL string

//go:embed hasten.sql
var hastenSQL string

// executing are the River jobs that this process is working on.
type executing struct {
	mu  sync.Mutex
	ids map[int64]bool
}

// begin notes a job until done is called.
func (e *executing) begin(id int64) (done func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ids[id] = true
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.ids, id)
	}
}

func (e *executing) list() []int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.AppendSeq([]int64{}, maps.Keys(e.ids)) // never nil: Postgres would compare with null
}

// watchOrphans keeps this server's sign of life fresh and gives steps back that were running on servers which died. River itself
// would do that after an hour: it cannot tell a dead server from a long step.
func (q *Queue) watchOrphans(ctx context.Context, server string, working *executing) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(seenEvery)
		defer tick.Stop()
		for {
			q.adoptOrphans(ctx, server, working)
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// takeOver announces the server before it works on anything, and gives the steps back that an earlier process of the same ID left.
func (q *Queue) takeOver(ctx context.Context, server string) error {
	if _, err := q.pool.Exec(ctx, seeServerSQL, server); err != nil {
		return fmt.Errorf("announcing server %s: %w", server, err)
	}
	tag, err := q.pool.Exec(ctx, adoptOwnSQL, server)
	if err != nil {
		return fmt.Errorf("taking over what server %s left: %w", server, err)
	}
	q.logAdopted(tag.RowsAffected())
	return nil
}

func (q *Queue) adoptOrphans(ctx context.Context, server string, working *executing) {
	if _, err := q.pool.Exec(ctx, seeServerSQL, server); err != nil {
		if ctx.Err() == nil {
			q.log.Warn("the server could not say that it is alive", "error", err)
		}
		return
	}
	tag, err := q.pool.Exec(ctx, adoptOrphansSQL, deadAfter)
	if err != nil {
		if ctx.Err() == nil {
			q.log.Warn("looking for steps of dead servers failed", "error", err)
		}
		return
	}
	q.logAdopted(tag.RowsAffected())
	q.adoptLost(ctx, server, working)
	q.hasten(ctx)
}

// hasten makes steps due that a server with a clock far ahead has put off. Postgres' clock is the only one by which steps run.
func (q *Queue) hasten(ctx context.Context) {
	tag, err := q.pool.Exec(ctx, hastenSQL, firstPause, longestPause, 2*functions.LongestSnooze, stepargs.EraseArgs{}.Kind(), 2*insight.EraseOnceMore)
	if err != nil {
		if ctx.Err() == nil {
			q.log.Warn("looking for steps that were put off for too long failed", "error", err)
		}
		return
	}
	if n := tag.RowsAffected(); n > 0 {
		q.log.Info("hastened steps that a server whose clock is ahead has put off", "steps", n)
	}
}

// adoptLost gives steps back that Postgres believes to run here and that do not. That happens when Postgres dies after it has handed a
// step out and before its answer has arrived. A step that has just ended may be given back, too; it finds its work done.
func (q *Queue) adoptLost(ctx context.Context, server string, working *executing) {
	tag, err := q.pool.Exec(ctx, adoptLostSQL, server, deadAfter, working.list())
	if err != nil {
		if ctx.Err() == nil {
			q.log.Warn("looking for lost steps failed", "error", err)
		}
		return
	}
	if n := tag.RowsAffected(); n > 0 {
		q.log.Info("gave steps back that were handed to this server and never arrived", "steps", n)
	}
}

func (q *Queue) logAdopted(n int64) {
	if n > 0 {
		q.log.Info("gave steps back that were running on servers which died", "steps", n)
	}
}
