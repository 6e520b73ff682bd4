// Package planner decides which follow-up jobs a finished job leads to.
//
// A rule has two expressions in CEL: when, which says whether the rule applies,
// and the partition of the follow-up job. Both see the finished job and its
// aggregate:
//
//	job.id, job.function, job.version, job.state   string
//	job.depth, job.attempts                        int
//	job.shards.total, .accepted, .failed           int
//	aggregate.count                                int
//	aggregate.value                                what the aggregator returned
//
// In aggregate.value a JSON number is an int when it is written as an integer
// and fits 64 bits, a decimal string when it is a larger integer (so that no
// digit is lost), and a double otherwise. A partition is a CEL map of the form
// of partition.Spec, whose range bounds are strings:
//
//	{"kind": "items", "values": aggregate.value.sample}
//	{"kind": "range", "from": aggregate.value.last, "to": "36893488147419103232", "size": "1000"}
//
// The package is pure: it evaluates and decides, and creates nothing.
package planner

import (
	"encoding/json"

	"github.com/ostraka/ostraka/functions/partition"
)

// Rule says which follow-up job a finished job leads to.
type Rule struct {
	ID   string // a UUID
	Name string
	// OnFunction restricts the rule to jobs of one function; "" means any.
	OnFunction string
	// When is a CEL expression of type bool.
	When string
	Then Then
	// MaxDepth bounds the chain of follow-ups: a job that a person submits has
	// depth 0. 0 means DefaultMaxDepth.
	MaxDepth int
	// MaxJobs bounds the follow-ups that this rule makes under one root job,
	// the job at depth 0. 0 means DefaultMaxJobs.
	MaxJobs int
	Enabled bool
}

// Then describes the follow-up job.
type Then struct {
	Function string
	Version  string // "" means the newest when the job is created
	// Partition is a CEL expression that gives a partition.Spec as a map.
	Partition  string
	Quorum     int    // 0 means what the function says
	Aggregator string // "" means what the function says
}

// Finished is a job that has come to its end.
type Finished struct {
	Job       Job
	Aggregate Aggregate
}

// Job is what a rule sees of a finished job.
type Job struct {
	ID       string
	RootID   string // the job at depth 0 that this one descends from; itself at depth 0
	Function string
	Version  string
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
// planning the same job again leads to the same keys.
type Key struct {
	Rule   string
	Parent string
}

// String is the form to store under a unique constraint.
func (k Key) String() string { return "followup:" + k.Rule + ":" + k.Parent }

// FollowUp is a job to create.
type FollowUp struct {
	Key        Key
	RuleName   string
	RootID     string
	Depth      int
	Function   string
	Version    string
	Partition  partition.Spec
	Quorum     int
	Aggregator string
}

// SkipReason names why a rule led to nothing.
type SkipReason string

// The reasons.
const (
	SkipDisabled      SkipReason = "disabled"       // the rule is switched off
	SkipOtherFunction SkipReason = "other_function" // the rule is for another function
	SkipPlanned       SkipReason = "already_planned"
	SkipDepthLimit    SkipReason = "depth_limit"
	SkipCountLimit    SkipReason = "count_limit"
	SkipWhenFalse     SkipReason = "when_false"
	SkipError         SkipReason = "error" // an expression failed, or its result is no partition
)

// Skip is a rule that led to no follow-up, and why.
type Skip struct {
	Rule     string // its ID
	RuleName string
	Reason   SkipReason
	Detail   string // for people: what happened and what to do
}
