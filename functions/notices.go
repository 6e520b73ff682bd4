package functions

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ostraka/ostraka/functions/store"
)

// The channels of Postgres notifications (see also channelAgents). The payload of work is a project, that of jobs a job. A notification is only a nudge:
// whoever waits also looks by itself once in a while, so that a lost one costs time and nothing else.
const (
	channelWork = "ostraka_work"
	channelJobs = "ostraka_jobs"
)

// channels are all that a server listens to.
func channels() []string { return []string{channelWork, channelJobs, channelAgents} }

// lookAgain is how often somebody who waits looks without having been nudged.
const lookAgain = time.Second

// lookAgainRarely is lookAgain for what every agent waits for all the time and what hardly ever changes.
const lookAgainRarely = 10 * time.Second

// Notices hands Postgres notifications to those who wait in this process.
type Notices struct {
	mu      sync.Mutex
	waiting map[string]map[chan struct{}]struct{} // by channel and payload
}

// NewNotices makes a hub; Run feeds it.
func NewNotices() *Notices {
	return &Notices{waiting: map[string]map[chan struct{}]struct{}{}}
}

// Run listens on a connection of its own until the context ends, and connects again when the connection breaks.
func (n *Notices) Run(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) {
	for ctx.Err() == nil {
		err := n.listen(ctx, pool)
		if ctx.Err() != nil {
			return
		}
		log.Warn("listening for notifications failed; trying again", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(lookAgain):
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
	n.wakeAll() // what came before was missed
	for {
		notice, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		n.wake(notice.Channel + " " + notice.Payload)
	}
}

func (n *Notices) wake(topic string) {
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
		n.wake(topic)
	}
}

// topics are what notifications of a channel with these payloads are about.
func topics(channel string, payloads ...uuid.UUID) []string {
	list := make([]string, len(payloads))
	for i, p := range payloads {
		list[i] = channel + " " + p.String()
	}
	return list
}

// subscribe returns a channel that gets a token at every notification about one of the topics.
func (n *Notices) subscribe(topics ...string) (<-chan struct{}, func()) {
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

// waitFor calls try until it says that it is done, an error comes, or the time is up. Between two tries it waits for a nudge.
func waitFor(ctx context.Context, nudges <-chan struct{}, wait time.Duration, try func() (done bool, err error)) error {
	return waitLooking(ctx, nudges, wait, lookAgain, try)
}

// waitForNudge is waitFor for what hardly ever changes.
func waitForNudge(ctx context.Context, nudges <-chan struct{}, wait time.Duration, try func() (done bool, err error)) error {
	return waitLooking(ctx, nudges, wait, lookAgainRarely, try)
}

func waitLooking(ctx context.Context, nudges <-chan struct{}, wait, again time.Duration, try func() (done bool, err error)) error {
	end := time.NewTimer(wait)
	defer end.Stop()
	tick := time.NewTicker(again)
	defer tick.Stop()
	for {
		if done, err := try(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end.C:
			return nil
		case <-nudges:
		case <-tick.C:
		}
	}
}

// Watch delivers a token whenever the job may have changed, and at least once a second, until stop is called or the context ends.
func (s *Service) Watch(ctx context.Context, _, job uuid.UUID) (<-chan struct{}, func()) {
	nudges, unsubscribe := s.notices.subscribe(topics(channelJobs, job)...)
	ctx, cancel := context.WithCancel(ctx)
	changed := make(chan struct{}, 1)
	go func() {
		defer unsubscribe()
		tick := time.NewTicker(lookAgain)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-nudges:
			case <-tick.C:
			}
			select {
			case changed <- struct{}{}:
			default:
			}
		}
	}()
	return changed, cancel
}

// notify nudges those who wait, once the transaction commits.
func notify(ctx context.Context, tx store.DB, channel string, payload uuid.UUID) error {
	if _, err := tx.Exec(ctx, "select pg_notify($1, $2)", channel, payload.String()); err != nil {
		return fmt.Errorf("notifying %s: %w", channel, err)
	}
	return nil
}
