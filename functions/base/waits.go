package base

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/waiting"
)

const (
	// waitersAtOnce is how many connections those who wait may take together: two thirds are left to requests that do not wait.
	waitersAtOnce = store.MaxConns / 3
	// looksShared is how many things that are waited for are looked at in LookAgainRarely, or in LookAgain where they move.
	looksShared = 50
	// lookLimit bounds a look at what somebody waits for.
	lookLimit = 15 * time.Second
	// lookGap is the pause between two looks at the same thing, however much happens to it.
	lookGap = 20 * time.Millisecond
)

// WatchedThing is something of a project that is waited for; the nil project: of the installation.
type WatchedThing struct{ Project, ID uuid.UUID }

// Waits are what all share that wait in this process.
type Waits struct {
	notices *Notices
	room    waiting.Room
}

// NewWaits makes them.
func NewWaits(notices *Notices) *Waits {
	return &Waits{notices: notices, room: waiting.NewRoom(waitersAtOnce)}
}

// NewLooks makes the looks at things that a channel tells of, soon where they move and nothing is heard of that.
func NewLooks[V any](w *Waits, channel string, soon time.Duration, look func(ctx context.Context, project, id uuid.UUID) (V, error)) *waiting.Looks[WatchedThing, V] {
	return waiting.NewLooks(waiting.LooksOptions[WatchedThing, V]{
		Look:   func(ctx context.Context, t WatchedThing, _ V) (V, error) { return look(ctx, t.Project, t.ID) },
		Listen: func(t WatchedThing) (<-chan struct{}, func()) { return w.notices.Subscribe(Topics(channel, t.ID)...) },
		Paces:  func() waiting.Paces { return w.paces(soon) }, Gap: lookGap, Limit: lookLimit, Room: w.room,
	})
}

// NewLines makes the lines of those who wait for something of a project that a channel tells of.
func NewLines(w *Waits, channel string, log *slog.Logger, free func(ctx context.Context, project uuid.UUID) (int, error)) *waiting.Lines[uuid.UUID] {
	return waiting.NewLines(waiting.LinesOptions[uuid.UUID]{
		Free: free, Listen: func(project uuid.UUID) (<-chan struct{}, func()) {
			return w.notices.Subscribe(Topics(channel, project)...)
		},
		Paces: func() waiting.Paces { return w.paces(LookAgain) }, Deaf: w.notices.deaf, AtOnce: store.EachProject(), Limit: lookLimit, Room: w.room, Log: log,
	})
}

// paces are how often to look, soon where something moves that is not heard of.
func (w *Waits) paces(soon time.Duration) waiting.Paces {
	if w.notices.deaf() {
		return waiting.Paces{Soon: LookAgain, Rare: LookAgain, Share: looksShared}
	}
	return waiting.Paces{Soon: soon, Rare: LookAgainRarely, Share: looksShared}
}

// ForNudges calls try at each nudge until it says that it is done, an error comes, or the time is up. Not all of those who wait may try at
// a time. While nothing is heard it tries now and then.
func (w *Waits) ForNudges(ctx context.Context, nudges <-chan struct{}, wait time.Duration, try func() (done bool, err error)) error {
	end := time.NewTimer(wait)
	defer end.Stop()
	tick := time.NewTicker(LookAgainRarely)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end.C:
			return nil
		case <-nudges:
		case <-tick.C:
			if !w.notices.deaf() {
				continue
			}
		}
		if done, err := w.Try(ctx, try); done || err != nil {
			return err
		}
	}
}

// Try tries where there is room for it.
func (w *Waits) Try(ctx context.Context, try func() (bool, error)) (bool, error) {
	if err := w.room.Enter(ctx); err != nil {
		return false, err
	}
	defer w.room.Leave()
	return try()
}
