package trust

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/classing"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
)

// errCompareFirst rolls the weighing of a submission back: some of its answers are to be compared before.
var errCompareFirst = errors.New("the answers are to be compared first")

// ReasonIncomparable is why a shard is in review whose answers the validator could not compare.
const ReasonIncomparable verify.ReasonCode = "incomparable"

// classes are what a job's validator has said about the answers to some shards. Nil: the job has no validator.
type classes struct {
	certificate bool
	known       map[answerKey]classRow
	givenUp     map[int64]string // shards at which the validator has failed too often, and how
	founders    map[int64][]*classing.ComparedAnswer
	count       map[int64]int // of answers that have a class
}

type answerKey struct {
	shard   int64
	outcome string
}

type classRow struct {
	Shard          int64
	Outcome        []byte
	Representative []byte // nil: the answer does not count
	AgentID        *uuid.UUID
}

// loadClasses reads the classes of a submission's shards.
func loadClasses(ctx context.Context, tx *store.Tx, sub SubmissionRow) (*classes, error) {
	if sub.Validator == nil {
		return nil, nil
	}
	c := &classes{certificate: sub.Validator.Certificate, known: map[answerKey]classRow{}, givenUp: map[int64]string{}, founders: map[int64][]*classing.ComparedAnswer{}, count: map[int64]int{}}
	rows, err := store.Many[classRow](ctx, tx, sql.ListAnswerClasses, sub.JobID, sub.Shards)
	if err != nil {
		return nil, err
	}
	for _, r := range rows { // in the order in which they were compared
		c.known[answerKey{r.Shard, string(r.Outcome)}] = r
		c.count[r.Shard]++
		if bytes.Equal(r.Outcome, r.Representative) {
			founder := &classing.ComparedAnswer{Outcome: string(r.Outcome)}
			if r.AgentID != nil {
				founder.Agent = *r.AgentID
			}
			c.founders[r.Shard] = append(c.founders[r.Shard], founder)
		}
	}
	type failure struct {
		Shard int64
		Error string
	}
	failures, err := store.Many[failure](ctx, tx, sql.ListGivenUp, sub.JobID, sub.Shards)
	for _, f := range failures {
		c.givenUp[f.Shard] = f.Error
	}
	return c, err
}

// uncompared are the shards with answers that have no class and need one: of a shard whose answers are all equal there is nothing to
// compare, unless each answer is judged alone. attempts are in the order of shards and agents, so that the agent which has joined first
// founds the first class.
func (c *classes) uncompared(attempts []attemptRow) (list []*classing.Classing) {
	var last *classing.Classing
	add := func() {
		if last != nil && len(last.Queue) > 0 && (c.certificate || len(last.Queue)+len(last.Classes) > 1) {
			list = append(list, last)
		}
	}
	for _, a := range attempts {
		if a.Status != verify.OK {
			continue
		}
		if _, givenUp := c.givenUp[a.Shard]; givenUp {
			continue
		}
		if last == nil || last.Shard != a.Shard {
			add()
			last = &classing.Classing{Shard: a.Shard, Classes: c.founders[a.Shard], Known: c.count[a.Shard]}
		}
		if _, known := c.known[answerKey{a.Shard, string(a.Outcome)}]; !known && last.Answer(string(a.Outcome)) == nil {
			last.Queue = append(last.Queue, &classing.ComparedAnswer{Agent: a.AgentID, Outcome: string(a.Outcome)})
		}
	}
	add()
	return list
}

// apply makes the answers of one class the same. errCompareFirst says that some have none yet.
func (c *classes) apply(attempts []attemptRow) error {
	if c == nil {
		return nil
	}
	missing := len(c.uncompared(attempts)) > 0
	for i := range attempts {
		c.replace(&attempts[i])
	}
	if missing {
		return errCompareFirst
	}
	return nil
}

// replace puts the representative of an answer's class in its place.
func (c *classes) replace(a *attemptRow) {
	if c == nil || a.Status != verify.OK {
		return
	}
	if row, known := c.known[answerKey{a.Shard, string(a.Outcome)}]; known {
		a.Founder = bytes.Equal(row.Representative, a.Outcome)
		a.Outcome = row.Representative
	}
}

// canonicalAgent is the agent whose output counts: the one that founded the class, if it agrees, since every other answer was compared with
// that one. Without a validator all outputs of a class are equal, and it is any.
func canonicalAgent(v verify.Verdict, attempts []attemptRow) uuid.UUID {
	for _, a := range attempts {
		if !a.Founder {
			continue
		}
		for _, vote := range v.Agree {
			if vote.Agent == a.AgentID.String() {
				return a.AgentID
			}
		}
	}
	return uuid.MustParse(v.Agree[0].Agent)
}

// review sends shards to a person whose answers the validator has failed to compare, unless enough of them are equal byte by byte.
func (c *classes) review(changes []jobs.ShardChange) {
	if c == nil {
		return
	}
	for i := range changes {
		why, givenUp := c.givenUp[changes[i].Number]
		if !givenUp || changes[i].Was != functions.ShardOpen || changes[i].State != functions.ShardOpen {
			continue
		}
		changes[i].State, changes[i].Wanted, changes[i].Verdict = functions.ShardReview, 0, verify.Review
		changes[i].Reasons = append(changes[i].Reasons, verify.Reason{Code: ReasonIncomparable, Text: fmt.Sprintf("the validator cannot compare the answers: %s", why)})
	}
}
