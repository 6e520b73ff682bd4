package dispatch

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestAServerRemembersWhatWaits: a shard waits from when it was first asked for in vain, anew where it wants or has other attempts, or was not
// asked for in a while; and of more than a server remembers all are for whoever asks.
func TestAServerRemembersWhatWaits(t *testing.T) {
	t.Parallel()
	u, project, job, other := newUndrawn(), uuid.New(), uuid.New(), uuid.New()
	begin := time.Now()
	stage := drawStage{wanted: 2}
	at := func(after time.Duration, job uuid.UUID, n int64, stage drawStage) (time.Duration, bool) {
		return u.waited(project, job, n, stage, begin.Add(after))
	}
	for _, step := range []struct {
		after time.Duration
		stage drawStage
		want  time.Duration
	}{
		{0, stage, 0},
		{time.Second, stage, time.Second},
		{3 * time.Second, drawStage{wanted: 1, attempts: 1}, 0},
		{4 * time.Second, drawStage{wanted: 1, attempts: 1}, time.Second},
		{4*time.Second + handsSeen, drawStage{wanted: 1, attempts: 1}, time.Second + handsSeen},
		{5*time.Second + 2*handsSeen, drawStage{wanted: 1, attempts: 1}, 0},
	} {
		waited, known := at(step.after, job, 7, step.stage)
		require.True(t, known)
		require.Equal(t, step.want, waited, "after %s", step.after)
	}

	const later = time.Hour
	for n := range int64(maxUndrawn - 1) {
		_, known := at(later, other, n, stage)
		require.True(t, known)
	}
	_, known := at(later, other, maxUndrawn, stage)
	require.True(t, known, "nobody has asked for the first one in a while")
	_, known = at(later+time.Second, other, maxUndrawn+1, stage)
	require.False(t, known, "one more than it remembers")
	waited, known := at(later+time.Second, other, 3, stage)
	require.True(t, known)
	require.Equal(t, time.Second, waited)
	_, known = at(later+2*time.Second+handsSeen, other, maxUndrawn+1, stage)
	require.True(t, known, "the others were not asked for in a while")
}

// TestOneProjectDoesNotEndTheDrawForOthers: a project that has filled the server's memory loses it to one that has less.
func TestOneProjectDoesNotEndTheDrawForOthers(t *testing.T) {
	t.Parallel()
	u, hog, other, small, large, victim := newUndrawn(), uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New()
	now, stage := time.Now(), drawStage{wanted: 2}
	for n := range int64(maxUndrawn) {
		job := large
		if n%4 == 0 {
			job = small
		}
		_, known := u.waited(hog, job, n, stage, now)
		require.True(t, known)
	}
	_, known := u.waited(hog, small, maxUndrawn, stage, now)
	require.False(t, known, "its own shards are for whoever asks")
	_, known = u.waited(other, victim, 1, stage, now)
	require.True(t, known)
	waited, known := u.waited(other, victim, 1, stage, now.Add(time.Second))
	require.True(t, known)
	require.Equal(t, time.Second, waited)
	require.Equal(t, maxUndrawn/4+1, u.shards, "the largest job of the project that had the most was forgotten")
	require.Equal(t, map[uuid.UUID]int{hog: maxUndrawn / 4, other: 1}, u.kept)
	u.forget(now.Add(time.Second + 2*handsSeen))
	require.Empty(t, u.jobs)
	require.Empty(t, u.kept)
	require.Zero(t, u.shards)
}

func TestAServerReadsNowAndThenWhoIsThere(t *testing.T) {
	t.Parallel()
	u, job, other := newUndrawn(), uuid.New(), uuid.New()
	now := time.Now()
	_, fresh := u.owners(job, now)
	require.False(t, fresh)
	u.remember(job, idleOwners{Owners: []string{"ada"}, at: now})
	idle, fresh := u.owners(job, now.Add(idleFresh-1))
	require.True(t, fresh)
	require.Equal(t, []string{"ada"}, idle.Owners)
	_, fresh = u.owners(job, now.Add(idleFresh))
	require.False(t, fresh)
	u.remember(other, idleOwners{at: now.Add(idleFresh)})
	require.Len(t, u.idle, 1, "what is stale is dropped")
	u.changed(other)
	require.Empty(t, u.idle, "an owner has enough of the job")

	agent := uuid.New()
	u.deny(agent)
	require.True(t, u.wasDenied(agent))
	require.False(t, u.wasDenied(agent), "it tries once more")
}
