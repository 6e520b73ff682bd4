package functions

import (
	"context"
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
	// mostLendable is how far shards are counted that could be lent.
	mostLendable = 64
)

// watchedThing is something of a project that is waited for; the nil project: of the installation.
type watchedThing struct{ project, id uuid.UUID }

// waits are those who wait in this process.
type waits struct {
	notices  *Notices
	room     waiting.Room
	jobs     *waiting.Looks[watchedThing, Job]
	switches *waiting.Looks[watchedThing, KillStatus]
	agents   *waiting.Lines[uuid.UUID] // for work, by project
}

func newWaits(s *Service) *waits {
	w := &waits{notices: s.notices, room: waiting.NewRoom(waitersAtOnce)}
	listen := func(channel string) waiting.Listen[watchedThing] {
		return func(t watchedThing) (<-chan struct{}, func()) { return w.notices.subscribe(topics(channel, t.id)...) }
	}
	w.jobs = waiting.NewLooks(waiting.LooksOptions[watchedThing, Job]{
		Look:   func(ctx context.Context, t watchedThing, _ Job) (Job, error) { return s.GetJob(ctx, t.project, t.id) },
		Listen: listen(channelJobs), Paces: func() waiting.Paces { return w.paces(lookAgainRarely) }, Gap: lookGap, Limit: lookLimit, Room: w.room,
	})
	w.switches = waiting.NewLooks(waiting.LooksOptions[watchedThing, KillStatus]{
		Look: func(ctx context.Context, t watchedThing, _ KillStatus) (KillStatus, error) {
			return s.KillStatus(ctx, t.project, t.id)
		},
		Listen: listen(channelAgents), Paces: func() waiting.Paces { return w.paces(lookAgain) }, Gap: lookGap, Limit: lookLimit, Room: w.room,
	})
	w.agents = waiting.NewLines(waiting.LinesOptions[uuid.UUID]{
		Free: s.lendable, Listen: func(project uuid.UUID) (<-chan struct{}, func()) {
			return w.notices.subscribe(topics(channelWork, project)...)
		},
		Paces: func() waiting.Paces { return w.paces(lookAgain) }, Deaf: w.notices.deaf, AtOnce: store.EachProject(), Limit: lookLimit, Room: w.room, Log: s.log,
	})
	return w
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

// lendable is how many shards of the project could be lent, counted up to mostLendable.
func (s *Service) lendable(ctx context.Context, project uuid.UUID) (n int, err error) {
	err = s.lend(ctx, project, func(tx *store.Tx) error {
		n, _, err = store.Value[int](ctx, tx, store.LendableShards, mostLendable)
		return err
	})
	return n, err
}
