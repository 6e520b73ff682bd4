// Package planner decides which follow-up jobs a finished job leads to.
//
// A rule has two expressions in CEL: when, which says whether the rule applies,
// and the partition of the follow-up job. Both see the finished job and its
// aggregate:
//
//	job.id, job.function, job.state         string
//	job.version, job.depth, job.attempts    int
//	job.shards.total, .accepted, .failed    int
//	aggregate.count                         int
//	aggregate.value                         what the aggregator returned
//	metrics.…                               see Metrics
//
// In aggregate.value a JSON number is an int when it is written as an integer
// and fits 64 bits, a decimal string when it is a larger integer (so that no
// digit is lost), and a double otherwise. A partition is a CEL map of the form
// of partition.Spec, whose range bounds are strings:
//
//	{"kind": "items", "values": aggregate.value.sample}
//	{"kind": "range", "from": string(aggregate.value.last), "to": "36893488147419103232", "size": "1000"}
//
// The language is CEL's standard library and macros, without extensions.
//
// The package is pure: it evaluates and decides, and creates nothing.
package planner

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ostraka/ostraka/functions/partition"
)

// Rule says which follow-up job a finished job leads to. Its JSON form is what
// people write and what is stored; the ID is kept beside it.
type Rule struct {
	ID   string `json:"-"` // a UUID
	Name string `json:"name" pattern:"^[a-z][a-z0-9-]{0,62}$" doc:"Lower-case letters, digits and hyphens, starting with a letter."`
	// OnFunction restricts the rule to jobs of one function; "" means any.
	OnFunction string `json:"on_function,omitempty" doc:"Only jobs of this function; any when left out."`
	// When is a CEL expression of type bool.
	When string `json:"when" doc:"CEL expression of type bool over job and aggregate."`
	Then Then   `json:"then"`
	// MaxDepth bounds the chain of follow-ups: a job that a person submits has
	// depth 0. 0 means DefaultMaxDepth.
	MaxDepth int `json:"max_depth,omitempty" minimum:"0" maximum:"64" doc:"How deep a chain of follow-ups may become: 1 when left out, 8 at most, and 64 with a planner."`
	// MaxJobs bounds the follow-ups that this rule makes under one root job,
	// the job at depth 0. 0 means DefaultMaxJobs.
	MaxJobs int  `json:"max_jobs,omitempty" minimum:"0" maximum:"64" doc:"How many follow-ups the rule makes under one root job: 1 when left out, 16 at most, and 64 with a planner."`
	Enabled bool `json:"enabled"`
}

// Then describes the follow-up job.
type Then struct {
	Function string `json:"function"`
	Version  int    `json:"version,omitempty" minimum:"0" doc:"The newest when left out."` // 0 means the newest
	// Partition is a CEL expression that gives a partition.Spec as a map.
	Partition string `json:"partition,omitempty" doc:"CEL expression that gives a partition as a map, for example {\"kind\": \"items\", \"values\": aggregate.value.sample}. A rule has either it or a planner."`
	// Planner is a module that decides instead of Partition.
	Planner    string          `json:"planner,omitempty" maxLength:"80" doc:"A module of the kind planner, as name or name@version, that says which jobs follow, or that none do. The newest version when none is named."`
	Params     json.RawMessage `json:"params,omitempty" doc:"The planner's parameters, an object."`
	Quorum     int             `json:"quorum,omitempty" minimum:"0" maximum:"16" doc:"What the function says when left out."`
	Aggregator string          `json:"aggregator,omitempty" doc:"What the function says when left out."`
}

// Finished is a job that has come to its end.
type Finished struct {
	Job       Job
	Aggregate Aggregate
	Metrics   Metrics
}

// Job is what a rule sees of a finished job.
type Job struct {
	ID       string
	RootID   string // the job at depth 0 that this one descends from; itself at depth 0
	Function string
	Version  int
	State    string
	Depth    int
	Shards   Shards
	Attempts int64
}

// Shards counts a job's shards.
type Shards struct {
	Total    int64
	Accepted int64
	Failed   int64
}

// Aggregate is the job's final aggregate.
type Aggregate struct {
	Value json.RawMessage // nothing or null when the job has none
	Count int64           // accepted results that went into it
}

// Key identifies a follow-up: a rule makes at most one for each parent job, so
// planning the same job again leads to the same keys. A planner makes several.
type Key struct {
	Rule   string
	Parent string
	Number string // which job of a planner's answer, from 0; "" without a planner
}

// String is the form to store under a unique constraint.
func (k Key) String() string {
	text := "followup:" + k.Rule + ":" + k.Parent
	if k.Number != "" {
		text += ":" + k.Number
	}
	return text
}

// ParsePlanner reads the name of a planner with its version; 0 is the newest.
func ParsePlanner(text string) (name string, version int, err error) {
	name, number, versioned := strings.Cut(text, "@")
	if !plannerName.MatchString(name) {
		return "", 0, fmt.Errorf("%.80q is no name of a module", name)
	}
	if !versioned {
		return name, 0, nil
	}
	if version, err = strconv.Atoi(number); err != nil || version < 1 || strconv.Itoa(version) != number {
		return "", 0, fmt.Errorf("%.80q is no version: versions are counted from 1", number)
	}
	return name, version, nil
}

var plannerName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)

// FollowUp is a job to create.
type FollowUp struct {
	Key        Key
	RuleName   string
	RootID     string
	Depth      int
	Function   string
	Version    int // 0 means the newest
	Partition  partition.Spec
	Items      []byte // JSON lines instead of the partition
	Quorum     int
	Aggregator string
}

// Ask is a rule that applies and whose planner says what follows.
type Ask struct {
	Rule Rule
	Key  Key // without a number
}

// SkipReason names why a rule made no job.
type SkipReason string

// The reasons.
const (
	SkipDisabled      SkipReason = "disabled"       // the rule is switched off
	SkipOtherFunction SkipReason = "other_function" // the rule is for another function
	SkipPlanned       SkipReason = "already_planned"
	SkipDepthLimit    SkipReason = "depth_limit"
	SkipCountLimit    SkipReason = "count_limit"
	SkipWhenFalse     SkipReason = "when_false"
	SkipBudget        SkipReason = "budget" // of a planner: shards, executions or processor time are used up
	SkipError         SkipReason = "error"  // an expression failed, or its result is no partition
)

// Skip is a rule that led to no follow-up, and why.
type Skip struct {
	Rule     string // its ID
	RuleName string
	Reason   SkipReason
	Detail   string // for people: what happened and what to do
}
