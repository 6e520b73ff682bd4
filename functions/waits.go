package functions

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
	// looksShared is how many things that are waited for are looked at in lookAgainRarely, or in lookAgain where they move.
	looksShared = 50
	// lookLimit bounds a look at what somebody waits for.
	lookLimit = 15 * time.Second
	// lookGap is the pause between two looks at the same thing, however much happens to it.
	lookGap = 20 * time.Millisecond
)

// watchedThing is something of a project that is waited for; the nil project: of the installation.
type watchedThing struct{ project, id uuid.UUID }

// waits are what all share that wait in this process.
type waits struct {
	notices *Notices
	room    waiting.Room
}

// newWaits makes them.
func newWaits(notices *Notices) *waits {
	return &waits{notices: notices, room: waiting.NewRoom(waitersAtOnce)}
}

// newLooks makes the looks at things that a channel tells of, soon where they move and nothing is heard of that.
func newLooks[V any](w *waits, channel string, soon time.Duration, look func(ctx context.Context, project, id uuid.UUID) (V, error)) *waiting.Looks[watchedThing, V] {
	return waiting.NewLooks(waiting.LooksOptions[watchedThing, V]{
		Look:   func(ctx context.Context, t watchedThing, _ V) (V, error) { return look(ctx, t.project, t.id) },
		Listen: func(t watchedThing) (<-chan struct{}, func()) { return w.notices.subscribe(topics(channel, t.id)...) },
		Paces:  func() waiting.Paces { return w.paces(soon) }, Gap: lookGap, Limit: lookLimit, Room: w.room,
	})
}

// newLines makes the lines of those who wait for something of a project that a channel tells of.
func newLines(w *waits, channel string, log *slog.Logger, free func(ctx context.Context, project uuid.UUID) (int, error)) *waiting.Lines[uuid.UUID] {
	return waiting.NewLines(waiting.LinesOptions[uuid.UUID]{
		Free: free, Listen: func(project uuid.UUID) (<-chan struct{}, func()) {
			return w.notices.subscribe(topics(channel, project)...)
		},
		Paces: func() waiting.Paces { return w.paces(lookAgain) }, Deaf: w.notices.deaf, AtOnce: store.EachProject(), Limit: lookLimit, Room: w.room, Log: log,
	})
}

// paces are how often to look, soon where something moves that is not heard of.
func (w *waits) paces(soon time.Duration) waiting.Paces {
	if w.notices.deaf() {
		return waiting.Paces{Soon: lookAgain, Rare: lookAgain, Share: looksShared}
	}
	return waiting.Paces{Soon: soon, Rare: lookAgainRarely, Share: looksShared}
}

// forNudges calls try at each nudge until it says that it is done, an error comes, or the time is up. Not all of those who wait may try at
// a time. While nothing is heard it tries now and then.
func (w *waits) forNudges(ctx context.Context, nudges <-chan struct{}, wait time.Duration, try func() (done bool, err error)) error {
	end := time.NewTimer(wait)
	defer end.Stop()
	tick := time.NewTicker(lookAgainRarely)
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
		if done, err := w.try(ctx, try); done || err != nil {
			return err
		}
	}
}

// try tries where there is room for it.
func (w *waits) try(ctx context.Context, try func() (bool, error)) (bool, error) {
	if err := w.room.Enter(ctx); err != nil {
		return false, err
	}
	defer w.room.Leave()
	return try()
}
