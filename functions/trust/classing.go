package trust

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
	// maxCompared is the largest output that a validator reads, in bytes: two of them, and the input, share a line of the contract.
	maxCompared = (wasm.DefaultLine - maxComparedInput - 4<<10) / 2
	// maxComparedInput is the largest input that is shown to a validator, in bytes; of a shard with a larger one it sees null.
	maxComparedInput = 64 << 10
	// maxBatchBytes is how many bytes of outputs are given to a validator at once.
	maxBatchBytes = 16 << 20
)

// classing is one shard whose answers are put into classes.
type classing struct {
	shard   int64
	input   json.RawMessage
	classes []*comparedAnswer // the answers that founded one, the oldest first
	known   int               // how many answers had a class when it began
	queue   []*comparedAnswer // without a class, in the order in which they are compared
	decided []decidedAnswer
	failure *comparisonFailure
}

// comparedAnswer is one of the different answers to a shard.
type comparedAnswer struct {
	agent   uuid.UUID // that gave it first
	outcome string
	output  []byte
	wall    int64
	judged  []wasm.Judgement // of this round
}

// decidedAnswer is what a comparison came to.
type decidedAnswer struct {
	outcome        string
	representative []byte // nil: the answer does not count
	matches        int
	reason         string
}

// comparisonFailure is why the answers to a shard could not be compared.
type comparisonFailure struct {
	text  string
	ours  bool // not held against the module
	final bool // no further try makes sense
}

func (c *classing) answers() []*comparedAnswer {
	return append(append([]*comparedAnswer{}, c.classes...), c.queue...)
}

func (c *classing) answer(outcome string) *comparedAnswer {
	for _, a := range c.answers() {
		if a.outcome == outcome {
			return a
		}
	}
	return nil
}

func (c *classing) giveUp(why string) {
	c.failure = &comparisonFailure{text: why, final: true}
}

// judge is a validator, or what stands for one in a test.
type judge func(ctx context.Context, units []wasm.Unit) ([]wasm.Judgement, error)

// compareAll puts the answers to shards into classes. Each answer is compared with those that founded a class, in rounds, so that the
// answers to many shards go to the module together. An answer that is equal to several founders belongs to the oldest of their classes:
// tolerances are not transitive, and this order gives the same whenever it is repeated. A module that fails at many shards is asked about each
// alone, so that one of them does not hold up the others. An error is not of the module and is tried again.
func compareAll(ctx context.Context, ask judge, alone bool, shards []*classing) error {
	for {
		var units []wasm.Unit
		var of []*classing
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
func (c *classing) next(alone bool) (units []wasm.Unit) {
	if c.failure != nil || len(c.queue) == 0 {
		return nil
	}
	if !alone && len(c.classes) == 0 {
		c.found("")
		if len(c.queue) == 0 {
			return nil
		}
	}
	input := c.input
	if len(input) > maxComparedInput || len(input) == 0 {
		input = json.RawMessage("null")
	}
	head := c.queue[0]
	head.judged = nil
	if alone {
		return []wasm.Unit{{ID: base.FormatNumber(c.shard), Input: input, Results: []wasm.UnitResult{head.result("r1", 1)}}}
	}
	for i, founder := range c.classes {
		units = append(units, wasm.Unit{
			ID: fmt.Sprintf("%d.%d", c.shard, i), Input: input,
			Results: []wasm.UnitResult{founder.result("r1", 1), head.result("r2", 2)},
		})
	}
	return units
}

func (a *comparedAnswer) result(id string, attempt int) wasm.UnitResult {
	return wasm.UnitResult{ID: id, Worker: a.agent.String(), MS: a.wall / 1000, Attempt: attempt, Result: a.output}
}

// judgeBatch asks the module and hands out what it says.
func judgeBatch(ctx context.Context, ask judge, units []wasm.Unit, of []*classing) error {
	list, err := ask(ctx, units)
	if err == nil {
		for i, j := range list {
			head := of[i].queue[0]
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
		c.failure = &comparisonFailure{text: err.Error(), ours: module.Class == wasm.ClassHost}
	}
	return nil
}

// settle gives the answer that was judged its class.
func (c *classing) settle(alone bool) {
	if c.failure != nil || len(c.queue) == 0 || len(c.queue[0].judged) == 0 {
		return
	}
	head := c.queue[0]
	reason := head.judged[0].Reason
	if alone {
		if !takesAll(head.judged[0]) {
			c.join(nil, 0, reason)
			return
		}
		if len(c.classes) == 0 {
			c.found(reason)
			return
		}
		c.join([]byte(c.classes[0].outcome), 1, reason)
		return
	}
	var first []byte
	matches := 0
	for i, j := range head.judged {
		if takesAll(j) {
			if matches++; matches == 1 {
				first, reason = []byte(c.classes[i].outcome), j.Reason
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
func (c *classing) found(reason string) {
	head := c.queue[0]
	c.join([]byte(head.outcome), 1, reason)
	c.classes = append(c.classes, head)
}

func (c *classing) join(representative []byte, matches int, reason string) {
	head := c.queue[0]
	c.queue = c.queue[1:]
	c.decided = append(c.decided, decidedAnswer{head.outcome, representative, matches, reason})
}

// oneClass says whether all answers that were compared count and are of one class.
func (c *classing) oneClass() bool {
	for _, d := range c.decided {
		if d.representative == nil || string(d.representative) != string(c.decided[0].representative) {
			return false
		}
	}
	return len(c.decided) > 0
}
