package dispatch

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/wasm"
)

const (
	// drawParts divides the time that an owner waits for others: for one such part a shard waits for the owners drawn for it, before it
	// is for twice as many. With the default that is half a second: an owner that waits for work takes it sooner.
	drawParts = 10
	// idleFresh is for how long a server relies upon what it has read about the owners that have nothing to do: their polls read it five times
	// a second together and not once each.
	idleFresh = 200 * time.Millisecond
	// forgetEvery is how often at most a server that is full looks for what it may forget.
	forgetEvery = time.Second
	// maxUndrawn is how many shards at most a server remembers that wait for the owners drawn for them. If there are more, those of the
	// project with the most are open to all.
	maxUndrawn = 1 << 18
	// minDrawn is about how many shards it is drawn at least at a time, and drawnFor from how many times as many as one asks for: of twice as
	// many as come to it hardly ever too few are for it. At most it is drawnFrom.
	minDrawn, drawnFor = 256, 2
)

// idleOwners are the owners with agents that may work for a job and have nothing to do, and the secret with which it is drawn among them.
type idleOwners struct {
	Secret []byte
	Owners []string
	at     time.Time
}

// waitingShard is one that was drawn for others than those who asked for it.
type waitingShard struct {
	stage       drawStage // in another it waits again
	since, last time.Time
}

// waitingJob are the shards of a job that wait.
type waitingJob struct {
	project uuid.UUID
	shards  map[int64]waitingShard
}

// drawStage is how many attempts a shard wants and has.
type drawStage struct{ wanted, attempts int64 }

// undrawn is what a server remembers about draws. What it forgets is drawn again.
type undrawn struct {
	mu     sync.Mutex
	denied map[uuid.UUID]bool       // agents that the last try found something for, had it not been drawn for others
	idle   map[uuid.UUID]idleOwners // by job
	jobs   map[uuid.UUID]waitingJob
	kept   map[uuid.UUID]int // shards, by project
	shards int               // in all jobs
	forgot time.Time         // when it last looked for entries that are no longer asked for
}

func newUndrawn() *undrawn {
	return &undrawn{denied: map[uuid.UUID]bool{}, idle: map[uuid.UUID]idleOwners{}, jobs: map[uuid.UUID]waitingJob{}, kept: map[uuid.UUID]int{}}
}

// owners are those that are remembered, if they were read lately.
func (u *undrawn) owners(job uuid.UUID, now time.Time) (idleOwners, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	found, known := u.idle[job]
	return found, known && now.Sub(found.at) < idleFresh
}

func (u *undrawn) remember(job uuid.UUID, read idleOwners) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for other, known := range u.idle {
		if read.at.Sub(known.at) >= idleFresh {
			delete(u.idle, other)
		}
	}
	u.idle[job] = read
}

// changed has the owners read again: one of them has enough of the job.
func (u *undrawn) changed(job uuid.UUID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.idle, job)
}

// deny notes that a waiting agent got no lease since all shards were drawn for others.
func (u *undrawn) deny(agent uuid.UUID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.denied[agent] = true
}

// wasDenied says whether that was noted since it was asked last.
func (u *undrawn) wasDenied(agent uuid.UUID) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	was := u.denied[agent]
	delete(u.denied, agent)
	return was
}

// drawnAgain tells an agent that waits when to try again by itself, if all that there was for it was drawn for others: it may be for it as well
// then, of which nothing else tells it. Nil: it is called.
func (s *Service) drawnAgain(agent uuid.UUID) <-chan time.Time {
	if !s.undrawn.wasDenied(agent) {
		return nil
	}
	return time.After(s.drawEvery())
}

// drawEvery is how long a shard waits before it is for twice as many.
func (s *Service) drawEvery() time.Duration { return max(1, s.shareWait/drawParts) }

// waited is for how long a shard has waited for others than those who ask for it, this time included. known is false where there are too many
// of the project to remember.
func (u *undrawn) waited(project, job uuid.UUID, n int64, stage drawStage, now time.Time) (_ time.Duration, known bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	w, found := u.jobs[job].shards[n]
	if !found && u.shards >= maxUndrawn {
		if now.Sub(u.forgot) >= forgetEvery {
			u.forget(now)
		}
		if u.shards >= maxUndrawn && !u.makeRoom(project) {
			return 0, false
		}
	}
	if !found {
		u.shards++
		u.kept[project]++
	}
	if !found || w.stage != stage || now.Sub(w.last) > handsSeen {
		w = waitingShard{stage: stage, since: now}
	}
	w.last = now
	if u.jobs[job].shards == nil {
		u.jobs[job] = waitingJob{project: project, shards: map[int64]waitingShard{}}
	}
	u.jobs[job].shards[n] = w
	return now.Sub(w.since), true
}

// forget drops the shards that were not asked for lately. The caller holds the lock.
func (u *undrawn) forget(now time.Time) {
	u.forgot = now
	for job, waiting := range u.jobs {
		for n, w := range waiting.shards {
			if now.Sub(w.last) > handsSeen {
				delete(waiting.shards, n)
				u.dropped(waiting.project, 1)
			}
		}
		if len(waiting.shards) == 0 {
			delete(u.jobs, job)
		}
	}
}

func (u *undrawn) dropped(project uuid.UUID, shards int) {
	u.shards -= shards
	if u.kept[project] -= shards; u.kept[project] == 0 {
		delete(u.kept, project)
	}
}

// makeRoom forgets the largest job of the project that has the most shards, unless that is this project: the waiting shards of one project
// do not open those of others to all. The caller holds the lock.
func (u *undrawn) makeRoom(project uuid.UUID) bool {
	most := project
	for p, n := range u.kept {
		if n > u.kept[most] {
			most = p
		}
	}
	if most == project {
		return false
	}
	var largest uuid.UUID
	for job, waiting := range u.jobs {
		if waiting.project == most && len(waiting.shards) > len(u.jobs[largest].shards) {
			largest = job
		}
	}
	u.dropped(most, len(u.jobs[largest].shards))
	delete(u.jobs, largest)
	return true
}

// lots say which shards of a job are for an owner.
type lots struct {
	verify.OwnerLots
	project uuid.UUID
	owners  []string // that have nothing to do
	undrawn *undrawn
	each    time.Duration // how long a shard waits before it is for twice as many
	initial int           // attempts that a shard wants at first
	denied  bool          // some shard was drawn for others
}

// window is of how many shards it is drawn where the owner asks for so many: of these about one in as many is for it as owners are there for
// each.
func (l *lots) window(most int) int {
	return min(drawnFrom, max(minDrawn, drawnFor*most*(len(l.owners)+1)/l.initial))
}

// lotsFor are the lots of the agent's owner among all idle owners; nil: all shards are open to all, since there is no other owner,
// or the policy believes anybody.
func (s *Service) lotsFor(ctx context.Context, tx *store.Tx, by openJob, agent uuid.UUID, policy verify.Policy) (*lots, error) {
	if s.shareWait < 0 || policy.None || policy.Initial() == 1 && policy.TargetError == 0 {
		return nil, nil
	}
	idle, fresh := s.undrawn.owners(by.JobID, time.Now())
	if !fresh {
		full, caught, err := s.notFree(ctx, tx, by.JobID)
		if err != nil {
			return nil, err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return nil, err
		}
		if idle, _, err = store.One[idleOwners](ctx, server, sql.IdleOwners, by.ProjectID, by.JobID, handsSeen, full, caught, by.owners, wasm.Meter); err != nil {
			return nil, err
		}
		if err := tx.AsProject(ctx); err != nil {
			return nil, err
		}
		idle.at = time.Now()
		s.undrawn.remember(by.JobID, idle)
	}
	own := by.lender.owner
	if own == "" {
		own = agent.String()
	}
	l := &lots{OwnerLots: verify.NewOwnerLots(idle.Secret, by.JobID.String(), own, idle.Owners), project: by.ProjectID, owners: idle.Owners, undrawn: s.undrawn, each: s.drawEvery(), initial: policy.Initial()}
	if l.Alone(1) {
		return nil, nil
	}
	return l, nil
}

// drawnRow is a shard that may be lent.
type drawnRow struct {
	Number   int64
	Wanted   int64 // attempts
	Attempts int64 // that it has
	There    int64 // of these, of owners that have nothing to do
}

// mine says whether a shard is for the owner, now that it asks for it: for as many owners as attempts are wanted, beside those that are there
// and have made theirs.
func (l *lots) mine(job uuid.UUID, r drawnRow, now time.Time) bool {
	width := r.Wanted + r.There
	if l.Drawn(r.Number, width) {
		return true
	}
	waited, known := l.undrawn.waited(l.project, job, r.Number, drawStage{wanted: r.Wanted, attempts: r.Attempts}, now)
	if known && !l.Drawn(r.Number, verify.DrawWidth(width, waited, l.each)) {
		l.denied = true
		return false
	}
	return true
}

// drawnShards are the shards that are for an owner, of those that may be lent next.
type drawnShards struct {
	to     int64   // up to where it was drawn, not included
	only   []int64 // those that are for it; nil: all
	not    []int64 // those that are for others
	begins *int64  // the first that it was drawn about
}

// none says that there are some, all for others.
func (d drawnShards) none() bool { return d.only != nil && len(d.only) == 0 }

// first is where the next search begins: it must not pass what is for others now.
func (d drawnShards) first(lent int64) int64 {
	if d.begins != nil {
		return *d.begins
	}
	return lent
}

// drawn draws about the shards of a part of the job: about all where several owners must answer each, else about those that are audited.
func (by borrower) drawn(ctx context.Context, tx *store.Tx, from, to int64, asked int) (d drawnShards, err error) {
	d = drawnShards{to: to, not: []int64{}}
	if by.lots == nil {
		return d, nil
	}
	var rows []drawnRow
	most := by.lots.window(asked)
	if by.among > 0 {
		rows, err = store.Many[drawnRow](ctx, tx, sql.ReplicasToLend, by.job, by.agent, from, to, most, by.kin, by.lots.owners, by.lots.initial)
	} else {
		rows, err = store.Many[drawnRow](ctx, tx, sql.AuditsToLend, by.job, from, to, most, by.lots.owners)
	}
	if err != nil || len(rows) == 0 {
		return d, err
	}
	now := time.Now()
	only := []int64{}
	for _, r := range rows {
		if by.lots.mine(by.job, r, now) {
			only = append(only, r.Number)
		} else {
			d.not = append(d.not, r.Number)
		}
	}
	if len(rows) == most {
		d.to = rows[len(rows)-1].Number + 1
	}
	if by.among > 0 {
		d.only, d.begins = only, &rows[0].Number
	}
	return d, nil
}
