package base

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ostraka/ostraka/functions/store"
)

// The channels of Postgres notifications (see also ChannelAgents). The payload of work is a project, that of jobs a job. A notification is only a nudge:
// what is waited for is also looked at once in a while, so that a lost one costs time and nothing else.
const (
	ChannelWork = "ostraka_work"
	ChannelJobs = "ostraka_jobs"
)

// channels are all that a server listens to.
func channels() []string { return []string{ChannelWork, ChannelJobs, ChannelAgents} }

const (
	// LookAgain is how often something that somebody waits for is looked at while nothing can be heard of it, or while it moves.
	LookAgain = time.Second
	// LookAgainRarely is LookAgain while the listener is connected and nothing moves.
	LookAgainRarely = 10 * time.Second
	// stillThere is how long the listener hears nothing before it makes sure that its connection is still one, and thereLimit how long the
	// answer may take.
	stillThere, thereLimit = 10 * time.Second, 5 * time.Second
)

// Notices hands Postgres notifications to those who wait in this process.
type Notices struct {
	mu      sync.Mutex
	waiting map[string]map[chan struct{}]struct{} // by channel and payload
	hears   atomic.Bool
}

// NewNotices makes a hub; Run feeds it.
func NewNotices() *Notices {
	return &Notices{waiting: map[string]map[chan struct{}]struct{}{}}
}

// Run listens on a connection of its own until the context ends, and connects again when the connection breaks.
func (n *Notices) Run(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) {
	for ctx.Err() == nil {
		err := n.listen(ctx, pool)
		n.hears.Store(false)
		if ctx.Err() != nil {
			return
		}
		n.wakeAll() // they look by themselves from now on
		log.Warn("listening for notifications failed; trying again", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(LookAgain):
		}
	}
}

func (n *Notices) listen(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := pgx.ConnectConfig(ctx, pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "listen "+strings.Join(channels(), "; listen ")); err != nil {
		return err
	}
	n.hears.Store(true)
	n.wakeAll() // what came before was missed
	for {
		notice, err := n.next(ctx, conn)
		if err != nil {
			return err
		}
		if notice != nil {
			n.Wake(notice.Channel + " " + notice.Payload)
		}
	}
}

// next waits for a notification for a while; nil: none came, and the connection is still there. Waiting requests rely on that.
func (n *Notices) next(ctx context.Context, conn *pgx.Conn) (*pgconn.Notification, error) {
	limited, cancel := context.WithTimeout(ctx, stillThere)
	defer cancel()
	notice, err := conn.WaitForNotification(limited)
	if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) || conn.IsClosed() {
		return notice, err
	}
	limited, cancel = context.WithTimeout(ctx, thereLimit)
	defer cancel()
	return nil, conn.Ping(limited)
}

// deaf says that nothing is heard of at the moment.
func (n *Notices) deaf() bool { return !n.hears.Load() }

// Wake nudges those in this process who wait for a topic.
func (n *Notices) Wake(topic string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.waiting[topic] {
		select {
		case c <- struct{}{}:
		default: // it has a nudge already
		}
	}
}

func (n *Notices) wakeAll() {
	n.mu.Lock()
	topics := slices.Collect(maps.Keys(n.waiting))
	n.mu.Unlock()
	for _, topic := range topics {
		n.Wake(topic)
	}
}

// Topics are what notifications of a channel with these payloads are about.
func Topics(channel string, payloads ...uuid.UUID) []string {
	list := make([]string, len(payloads))
	for i, p := range payloads {
		list[i] = channel + " " + p.String()
	}
	return list
}

// Subscribe returns a channel that gets a token at every notification about one of the topics.
func (n *Notices) Subscribe(topics ...string) (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, topic := range topics {
		if n.waiting[topic] == nil {
			n.waiting[topic] = map[chan struct{}]struct{}{}
		}
		n.waiting[topic][c] = struct{}{}
	}
	return c, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		for _, topic := range topics {
			delete(n.waiting[topic], c)
			if len(n.waiting[topic]) == 0 {
				delete(n.waiting, topic)
			}
		}
	}
}

// Watch delivers a token whenever a channel has told of something, and once a second while nothing can be heard of it, until stop is called.
func (n *Notices) Watch(ctx context.Context, channel string, id uuid.UUID) (changed <-chan struct{}, stop func()) {
	nudges, unsubscribe := n.Subscribe(Topics(channel, id)...)
	ctx, cancel := context.WithCancel(ctx)
	told := make(chan struct{}, 1)
	go func() {
		defer unsubscribe()
		tick := time.NewTicker(LookAgain)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-nudges:
			case <-tick.C:
				if !n.deaf() {
					continue
				}
			}
			select {
			case told <- struct{}{}:
			default:
			}
		}
	}()
	return told, cancel
}

// Notify nudges those who wait, once the transaction commits.
func Notify(ctx context.Context, tx store.DB, channel string, payload uuid.UUID) error {
	if _, err := tx.Exec(ctx, "select pg_notify($1, $2)", channel, payload.String()); err != nil {
		return fmt.Errorf("notifying %s: %w", channel, err)
	}
	return nil
}

// ChannelAgents is where agents and those who wait for them are nudged: the payload is an agent, or nil for all, or a switch.
const ChannelAgents = "ostraka_agents"
