package agent

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Why an agent has no work. The codes are stable: `ostraka agent status`, the log and the server show them.
const (
	IdleStarting    = "starting"             // it has not come so far as to ask for work
	IdleNoWork      = "no_work"              // the server has nothing for it
	IdlePending     = "waiting_for_approval" // an operator or a token must approve it
	IdleEULA        = "eula"                 // the agreement must be accepted first
	IdleHours       = "outside_hours"        // its owner's schedule
	IdleBattery     = "on_battery"           // its owner lets it work with mains only, or with a fuller battery
	IdleBusy        = "machine_busy"         // other programs need the processors
	IdleDisk        = "disk_full"            // less of the disk is free than its owner wants to keep
	IdleAway        = "server_away"          // the server cannot be used
	IdlePaused      = "paused"               // its owner has paused it
	IdleKilled      = "killed"               // an operator's killswitch is on
	IdleDrained     = "drained"              // an operator has it take no more work
	IdleQuarantined = "quarantined"          // an operator does not trust it now
	IdleRevoked     = "revoked"              // it was revoked
	IdleIsolation   = "isolation_too_low"    // its sandbox is weaker than its owner wants
	IdleRefused     = "work_refused"         // what there is it refuses by its owner's preferences
	IdleStopping    = "stopping"             // it was told to stop
)

// idle is why the agent has no work; the zero value means that it works.
type idle struct {
	Code string
	Text string
}

// refusalMemory is how long a refused lease explains that there is no work: as long as a server may keep it back.
const refusalMemory = 15 * time.Minute

// noWorkSaid is how long there must have been no work before the log says so: between two leases there is a moment of it.
const noWorkSaid = 10 * time.Second

// standing is why the agent has no work, from all sides.
type standing struct {
	log *slog.Logger

	mu      sync.Mutex
	asked   bool // for work, at least once
	leaving bool // told to stop
	order   idle // of the server or its operator
	held    idle // what of the work a switch holds, though not all of it
	refused idle
	until   time.Time // when refused is old
	kept    []Refusal // the newest last
	now     idle      // what holds, as it was found last
	since   time.Time
	said    idle // in the log
}

// ordered tells what the server wants; the zero value when it lets the agent work. held is what explains that there is no work, as long
// as there is none.
func (s *standing) ordered(why, held idle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order, s.held = why, held
}

func (s *standing) asksForWork() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = true
}

func (s *standing) leaves() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaving = true
}

// refuses remembers that work was refused: as a reason why there may be none, and for the owner.
func (s *standing) refuses(r Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = idle{IdleRefused, fmt.Sprintf("no work is left that this machine accepts; the last that was refused was %s: %s", r.Function, r.Text)}
	s.until = r.At.Add(refusalMemory)
	s.kept = slices.DeleteFunc(s.kept, r.same)
	if len(s.kept) == MaxRefusals {
		s.kept = s.kept[1:]
	}
	s.kept = append(s.kept, r)
}

// refusals are those that are kept, the newest first.
func (s *standing) refusals() []Refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	newest := slices.Clone(s.kept)
	slices.Reverse(newest)
	return newest
}

// sides are what else decides whether the agent works.
type sides struct {
	working  int           // leases that most likely still count
	away     time.Duration // since when the server cannot be used; 0: it can
	awayWhy  string
	owner    idle // what the owner's preferences say
	finishes bool // though they do, all that was lent is executed
}

// find says why the agent has no work, and since when. Reasons that a person must remove come before those that pass by themselves.
func (s *standing) find(at time.Time, from sides) (why idle, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	why = s.weigh(at, from)
	if why.Code != s.now.Code || s.since.IsZero() {
		s.since = at
	}
	s.now = why
	s.say(at)
	return why, s.since
}

func (s *standing) weigh(at time.Time, from sides) idle {
	switch {
	case s.leaving:
		return idle{IdleStopping, "the agent was told to stop"}
	case s.order.Code != "":
		return s.order
	case from.working > 0 && from.owner.Code != "" && from.finishes:
		return idle{Text: "it finishes all that it was lent; then it stops working: " + from.owner.Text}
	case from.working > 0 && from.owner.Code != "":
		return idle{Text: "it finishes the shards that it is executing; then it stops working: " + from.owner.Text}
	case from.working > 0:
		return idle{}
	case from.away > 0:
		return idle{IdleAway, fmt.Sprintf("the server cannot be used since %s: %s", at.Add(-from.away).Format("15:04:05"), from.awayWhy)}
	case from.owner.Code != "":
		return from.owner
	case !s.asked:
		return idle{IdleStarting, "the agent starts"}
	case s.held.Code != "":
		return s.held
	case at.Before(s.until):
		return s.refused
	default:
		return idle{IdleNoWork, "the server has no work for this agent"}
	}
}

// say puts changes into the log, but not the moments without work between two leases.
func (s *standing) say(at time.Time) {
	passing := s.now.Code == "" || s.now.Code == IdleStarting || s.now.Code == IdleStopping
	switch {
	case s.now.Code == s.said.Code, s.now.Code == IdleNoWork && at.Sub(s.since) < noWorkSaid:
	case passing && s.said.Code != "" && s.said.Code != IdleStarting:
		s.log.Info("idle no more", "was", s.said.Code, "now", textOr(s.now.Code, "working"))
		s.said = s.now
	case passing:
		s.said = s.now
	default:
		s.log.Info("idle", "code", s.now.Code, "why", s.now.Text)
		s.said = s.now
	}
}

func textOr(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
