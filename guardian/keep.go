package guardian

import (
	"fmt"
	"slices"
	"time"
)

// Planned is how an operation would happen, as far as conditions are about it. Zero fields are not known, or not asked about.
type Planned struct {
	Isolation    string
	Limits       Limits
	Verification *Verification
	Owner        string // of the agent that would have it
	Shards       int64
	Now          time.Time
}

// Broken says which conditions a plan does not keep to, each in a sentence; none when it keeps to all of those that it says anything
// about.
func (c Conditions) Broken(p Planned) (list []string) {
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if c.Isolation != "" && p.Isolation != "" && (slices.Index(levels, p.Isolation) < slices.Index(levels, c.Isolation)) {
		say("it would run at isolation %s, and %s is asked for at least", p.Isolation, c.Isolation)
	}
	for _, l := range []struct {
		name       string
		have, most int64
	}{
		{"seconds of processor time", p.Limits.CPUSeconds, c.CPUSeconds},
		{"seconds on the clock", p.Limits.WallSeconds, c.WallSeconds},
		{"bytes of memory", p.Limits.MemoryBytes, c.MemoryBytes},
		{"processes", p.Limits.Pids, c.Pids},
		{"shards", p.Shards, c.Shards},
	} {
		if l.most > 0 && l.have > l.most {
			say("it wants %d %s, and at most %d are allowed", l.have, l.name, l.most)
		}
	}
	if c.Owners != nil && p.Owner != "" && !slices.Contains(c.Owners, p.Owner) {
		say("agents of %s may not have it", p.Owner)
	}
	if !c.ValidUntil.IsZero() && !p.Now.IsZero() && !p.Now.Before(c.ValidUntil) {
		say("it was allowed until %s", c.ValidUntil.UTC().Format("2006-01-02 15:04 MST"))
	}
	if p.Verification != nil {
		list = append(list, c.loose(*p.Verification)...)
	}
	return list
}

// loose says where results would be checked less than is asked for. Where the server executes every shard nothing is looser.
func (c Conditions) loose(v Verification) (list []string) {
	if v.RecheckAll {
		return nil
	}
	if c.RecheckAll {
		list = append(list, "the server must execute every shard as well")
	}
	if c.Quorum > 0 && v.Quorum < c.Quorum {
		list = append(list, fmt.Sprintf("its quorum is %d, and %d is asked for at least", v.Quorum, c.Quorum))
	}
	if c.TargetError > 0 && (v.TargetError == 0 || v.TargetError > c.TargetError) {
		list = append(list, fmt.Sprintf("its target error is %v, and %v is asked for at most", v.TargetError, c.TargetError))
	}
	return list
}
