// Package classing puts the answers to a shard into classes of answers that a validator takes for one. It is pure but for the validator, which
// it is given: it reads no database, and what it has found the room trust keeps.
package classing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/wasm"
)

const (
	// MaxCompared is the largest output that a validator reads, in bytes: two of them, and the input, share a line of the contract.
	MaxCompared = (wasm.DefaultLine - maxComparedInput - 4<<10) / 2
	// maxComparedInput is the largest input that is shown to a validator, in bytes; of a shard with a larger one it sees null.
	maxComparedInput = 64 << 10
	// maxBatchBytes is how many bytes of outputs are given to a validator at once.
	maxBatchBytes = 16 << 20
)

// Classing is one shard whose answers are put into classes.
type Classing struct {
	Shard   int64
	Input   json.RawMessage
	Classes []*ComparedAnswer // the answers that founded one, the oldest first
	Known   int               // how many answers had a class when it began
	Queue   []*ComparedAnswer // without a class, in the order in which they are compared
	Decided []DecidedAnswer
	Failure *ComparisonFailure
}

// ComparedAnswer is one of the different answers to a shard.
type ComparedAnswer struct {
	Agent   uuid.UUID // that gave it first
	Outcome string
	Output  []byte
	Wall    int64
	judged  []wasm.Judgement // of this round
}

// DecidedAnswer is what a comparison came to.
type DecidedAnswer struct {
	Outcome        string
	Representative []byte // nil: the answer does not count
	Matches        int
	Reason         string
}

// ComparisonFailure is why the answers to a shard could not be compared.
type ComparisonFailure struct {
	Text  string
	Ours  bool // not held against the module
	Final bool // no further try makes sense
}

// Answers are all different answers, those that founded a class first.
func (c *Classing) Answers() []*ComparedAnswer {
	return append(append([]*ComparedAnswer{}, c.Classes...), c.Queue...)
}

// Answer is the one with that outcome; nil: there is none.
func (c *Classing) Answer(outcome string) *ComparedAnswer {
	for _, a := range c.Answers() {
		if a.Outcome == outcome {
			return a
		}
	}
	return nil
}

// GiveUp says that no validator can compare the answers.
func (c *Classing) GiveUp(why string) {
	c.Failure = &ComparisonFailure{Text: why, Final: true}
}

// Judge is a validator, or what stands for one in a test.
type Judge func(ctx context.Context, units []wasm.Unit) ([]wasm.Judgement, error)

// CompareAll puts the answers to shards into classes. Each answer is compared with those that founded a class, in rounds, so that the
// answers to many shards go to the module together. An answer that is equal to several founders belongs to the oldest of their classes:
// tolerances are not transitive, and this order gives the same whenever it is repeated. A module that fails at many shards is asked about each
// alone, so that one of them does not hold up the others. An error is not of the module and is tried again.
func CompareAll(ctx context.Context, ask Judge, alone bool, shards []*Classing) error {
	for {
		var units []wasm.Unit
		var of []*Classing
		for _, c := range shards {
			for _, u := range c.next(alone) {
				units, of = append(units, u), append(of, c)
			}
		}
		if len(units) == 0 {
			return nil
		}
		for from := 0; from < len(units); {
			to := batchEnd(units, from)
			// What is asked about one answer stays together.
			for to < len(units) && of[to] == of[to-1] && of[to-1] != of[from] {
				to--
			}
			if err := judgeBatch(ctx, ask, units[from:to], of[from:to]); err != nil {
				return err
			}
			from = to
		}
		for _, c := range shards {
			c.settle(alone)
		}
	}
}

// batchEnd is where a batch ends that begins at from: at the contract's number of items, or at so many bytes, but for one item.
func batchEnd(units []wasm.Unit, from int) int {
	size := 0
	for i := from; i < len(units); i++ {
		for _, r := range units[i].Results {
			size += len(r.Result)
		}
		if i > from && (i-from == wasm.MaxBatch || size > maxBatchBytes) {
			return i
		}
	}
	return len(units)
}

// next are the questions about the next answer: is it equal to this founder, and to that one? The first answer needs none.
func (c *Classing) next(alone bool) (units []wasm.Unit) {
	if c.Failure != nil || len(c.Queue) == 0 {
		return nil
	}
	if !alone && len(c.Classes) == 0 {
		c.found("")
		if len(c.Queue) == 0 {
			return nil
		}
	}
	input := c.Input
	if len(input) > maxComparedInput || len(input) == 0 {
		input = json.RawMessage("null")
	}
	head := c.Queue[0]
	head.judged = nil
	if alone {
		return []wasm.Unit{{ID: base.FormatNumber(c.Shard), Input: input, Results: []wasm.UnitResult{head.result("r1", 1)}}}
	}
	for i, founder := range c.Classes {
		units = append(units, wasm.Unit{
			ID: fmt.Sprintf("%d.%d", c.Shard, i), Input: input,
			Results: []wasm.UnitResult{founder.result("r1", 1), head.result("r2", 2)},
		})
	}
	return units
}

func (a *ComparedAnswer) result(id string, attempt int) wasm.UnitResult {
	return wasm.UnitResult{ID: id, Worker: a.Agent.String(), MS: a.Wall / 1000, Attempt: attempt, Result: a.Output}
}

// judgeBatch asks the module and hands out what it says.
func judgeBatch(ctx context.Context, ask Judge, units []wasm.Unit, of []*Classing) error {
	list, err := ask(ctx, units)
	if err == nil {
		for i, j := range list {
			head := of[i].Queue[0]
			head.judged = append(head.judged, j)
		}
		return nil
	}
	var module *wasm.Error
	if !errors.As(err, &module) || ctx.Err() != nil {
		return err
	}
	if of[0] != of[len(of)-1] && module.Class != wasm.ClassHost {
		for from := 0; from < len(of); {
			to := from + 1
			for to < len(of) && of[to] == of[from] {
				to++
			}
			if err := judgeBatch(ctx, ask, units[from:to], of[from:to]); err != nil {
				return err
			}
			from = to
		}
		return nil
	}
	for _, c := range of {
		c.Failure = &ComparisonFailure{Text: err.Error(), Ours: module.Class == wasm.ClassHost}
	}
	return nil
}

// settle gives the answer that was judged its class.
func (c *Classing) settle(alone bool) {
	if c.Failure != nil || len(c.Queue) == 0 || len(c.Queue[0].judged) == 0 {
		return
	}
	head := c.Queue[0]
	reason := head.judged[0].Reason
	if alone {
		if !takesAll(head.judged[0]) {
			c.join(nil, 0, reason)
			return
		}
		if len(c.Classes) == 0 {
			c.found(reason)
			return
		}
		c.join([]byte(c.Classes[0].Outcome), 1, reason)
		return
	}
	var first []byte
	matches := 0
	for i, j := range head.judged {
		if takesAll(j) {
			if matches++; matches == 1 {
				first, reason = []byte(c.Classes[i].Outcome), j.Reason
			}
		}
	}
	if first == nil {
		c.found(reason)
		return
	}
	c.join(first, matches, reason)
}

// takesAll says whether a validator takes all results of a unit for one answer. Reject, retry and unsure keep them apart.
func takesAll(j wasm.Judgement) bool {
	if j.Verdict != wasm.VerdictAccept {
		return false
	}
	for _, r := range j.Results {
		if !r.OK {
			return false
		}
	}
	return true
}

// found makes the next answer a class of its own.
func (c *Classing) found(reason string) {
	head := c.Queue[0]
	c.join([]byte(head.Outcome), 1, reason)
	c.Classes = append(c.Classes, head)
}

func (c *Classing) join(representative []byte, matches int, reason string) {
	head := c.Queue[0]
	c.Queue = c.Queue[1:]
	c.Decided = append(c.Decided, DecidedAnswer{head.Outcome, representative, matches, reason})
}

// OneClass says whether all answers that were compared count and are of one class.
func (c *Classing) OneClass() bool {
	for _, d := range c.Decided {
		if d.Representative == nil || string(d.Representative) != string(c.Decided[0].Representative) {
			return false
		}
	}
	return len(c.Decided) > 0
}
