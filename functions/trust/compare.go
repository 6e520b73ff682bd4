package trust

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/wasm"
)

const (
	// MaxCompareFailures is how often a validator may fail at the answers to a shard before a person decides: modules are deterministic,
	// and what the machine had to do with it (time, most of all) passes within a few pauses of the queue.
	MaxCompareFailures = 5
	// compareChunk is how many shards are compared at a time: their outputs, of 64 KiB each where they are inline, are in memory together.
	compareChunk = 64
)

// toCompare is a submission whose answers are to be compared.
type toCompare struct {
	submissionRow
	Partition partition.Spec
}

// Compare puts the answers to the shards of a submission into classes, and has the submission weighed. No transaction is open while the
// module works. What a validator fails at is tried again, and is never a verdict.
func (s *Service) Compare(ctx context.Context, args stepargs.CompareArgs) error {
	sub, shards, err := s.readAnswers(ctx, args)
	if err != nil {
		return fmt.Errorf("reading what is to be compared of submission %s: %w", args.Submission, err)
	}
	var failed []error
	for chunk := range slices.Chunk(shards, compareChunk) {
		if err := s.compareShards(ctx, args.Project, sub, chunk); err != nil {
			return fmt.Errorf("comparing the answers of submission %s: %w", args.Submission, err)
		}
		again, err := s.keepClasses(ctx, args.Project, sub, chunk)
		if err != nil {
			return fmt.Errorf("keeping the classes of submission %s: %w", args.Submission, err)
		}
		failed = append(failed, again...)
	}
	if len(failed) > 0 {
		return fmt.Errorf("comparing the answers of submission %s: %w", args.Submission, errors.Join(failed...))
	}
	return s.env.Control(ctx, func(tx pgx.Tx) error {
		return s.env.Queue.Enqueue(ctx, tx, stepargs.VerifyArgs(args))
	})
}

// compareFirst has the answers compared before the submission is weighed.
func (s *Service) compareFirst(ctx context.Context, args stepargs.VerifyArgs) error {
	return s.env.Control(ctx, func(tx pgx.Tx) error {
		return s.env.Queue.Enqueue(ctx, tx, stepargs.CompareArgs(args))
	})
}

// readAnswers reads which answers have no class yet.
func (s *Service) readAnswers(ctx context.Context, args stepargs.CompareArgs) (sub toCompare, shards []*classing, err error) {
	err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		var found bool
		if sub, found, err = store.One[toCompare](ctx, tx, sql.SubmissionToCompare, args.Submission); err != nil || !found || sub.Validator == nil {
			return err
		}
		attempts, err := store.Many[attemptRow](ctx, tx, sql.WeighableAttempts, sub.JobID, sub.Shards, args.Submission)
		if err != nil {
			return err
		}
		classes, err := loadClasses(ctx, tx, sub.submissionRow)
		if err != nil {
			return err
		}
		shards = classes.uncompared(attempts)
		return nil
	})
	return sub, shards, err
}

// compareShards compares the answers to some shards. A shard at which the module fails says so in its failure.
func (s *Service) compareShards(ctx context.Context, project uuid.UUID, sub toCompare, shards []*classing) error {
	if err := s.fetchAnswers(ctx, project, sub, shards); err != nil {
		return err
	}
	return s.judgeComparisons(ctx, project, sub, shards)
}

// judgeComparisons has the job's validator decide.
func (s *Service) judgeComparisons(ctx context.Context, project uuid.UUID, sub toCompare, shards []*classing) error {
	validation := s.registry.Validation(project, sub.JobID, *sub.Validator)
	return compareAll(ctx, func(ctx context.Context, units []wasm.Unit) ([]wasm.Judgement, error) {
		list, _, err := validation.Judge(ctx, wasm.Each(units))
		return list, err
	}, sub.Validator.Certificate, shards)
}

type comparedRow struct {
	Shard        int64
	Outcome      []byte
	Output       []byte
	OutputDigest string
	OutputBytes  int64
	WallMicros   int64 `db:"wall_us"`
	Input        []byte
}

// fetchAnswers reads the outputs of the answers, and the inputs of their shards.
func (s *Service) fetchAnswers(ctx context.Context, project uuid.UUID, sub toCompare, shards []*classing) error {
	var numbers []int64
	var outcomes [][]byte
	index := map[int64]*classing{}
	for _, c := range shards {
		index[c.shard] = c
		for _, a := range c.answers() {
			numbers, outcomes = append(numbers, c.shard), append(outcomes, []byte(a.outcome))
		}
	}
	var rows []comparedRow
	err := s.env.Project(ctx, project, func(tx *store.Tx) (err error) {
		rows, err = store.Many[comparedRow](ctx, tx, sql.AnswersToCompare, sub.JobID, numbers, outcomes)
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range rows {
		c := index[r.Shard]
		c.input = jobs.ShardInput(sub.Partition, r.Shard, r.Input)
		a := c.answer(string(r.Outcome))
		if a.wall = r.WallMicros; r.Output != nil {
			a.output = r.Output
			continue
		}
		if r.OutputBytes > maxCompared {
			c.giveUp(fmt.Sprintf("the output of agent %s has %d bytes, and a validator reads at most %d", a.agent, r.OutputBytes, maxCompared))
			continue
		}
		if a.output, err = s.env.Blobs.Get(ctx, project, r.OutputDigest, r.OutputBytes); err != nil {
			return fmt.Errorf("reading an output of shard %d: %w", r.Shard, err)
		}
	}
	return nil
}

// keepClasses stores what the comparison of some shards came to, and tells of those at which the module failed. It returns what is to
// be tried again.
func (s *Service) keepClasses(ctx context.Context, project uuid.UUID, sub toCompare, shards []*classing) (again []error, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		again = nil
		var marks []flag.Mark
		numbers := make([]int64, len(shards))
		for i, c := range shards {
			numbers[i] = c.shard
		}
		// Another submission may have had the same shards compared meanwhile. What it found stands, and the rest is compared with that.
		if _, err := store.Many[ShardRow](ctx, tx, store.LockShards, sub.JobID, numbers); err != nil {
			return err
		}
		now, err := loadClasses(ctx, tx, submissionRow{JobID: sub.JobID, Shards: numbers, Validator: sub.Validator})
		if err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.DropCompareFailures, sub.JobID, comparedWell(shards)); err != nil {
			return err
		}
		for _, c := range shards {
			if now.count[c.shard] != c.known {
				continue
			}
			for _, d := range c.decided {
				if _, err := store.Exec(ctx, tx, sql.AddAnswerClass, sub.JobID, c.shard, []byte(d.outcome), d.representative, d.matches, d.reason); err != nil {
					return err
				}
			}
			if c.failure == nil {
				continue
			}
			count := 1
			if c.failure.ours {
				count = 0 // it is not held against the module
			}
			givenUp, _, err := store.Value[bool](ctx, tx, sql.AddComparisonFailure, sub.JobID, c.shard, count, c.failure.text, c.failure.final, MaxCompareFailures)
			if err != nil {
				return err
			}
			decision := "tried again"
			if givenUp {
				decision = "a person decides"
			} else {
				again = append(again, fmt.Errorf("shard %d: %s", c.shard, c.failure.text))
			}
			marks = append(marks, flag.Mark{
				Kind: flag.FlagValidator, Rule: sub.Validator.Module, Job: sub.JobID, Shard: &c.shard, Decision: decision, Event: base.EventComparisonFailed,
				Detail: map[string]any{"shard": c.shard, "validator": sub.Validator.Module, "error": c.failure.text, "decision": decision},
			})
		}
		return flag.Raise(ctx, tx, marks...)
	})
	return again, err
}

func comparedWell(shards []*classing) (numbers []int64) {
	for _, c := range shards {
		if c.failure == nil {
			numbers = append(numbers, c.shard)
		}
	}
	return numbers
}

// Answer is what was made of a shard, by an agent or by the server, to be compared with another one.
type Answer struct {
	Agent      uuid.UUID // nil: the server
	Status     verify.Status
	Outcome    []byte // the digest that votes
	Output     []byte // canonical JSON; only where the status is ok
	WallMicros int64
}

// equivalent says whether two answers to a shard are one: their outcomes are equal, or the job has a validator that takes them for one
// answer. What is found stands: the answers are of one class from then on. An error is operational and says nothing about the answers.
// It must be called outside any transaction.
func (s *Service) equivalent(ctx context.Context, project, job uuid.UUID, shard int64, a, b Answer) (bool, error) {
	if a.Status != b.Status {
		return false, nil
	}
	if string(a.Outcome) == string(b.Outcome) {
		return true, nil
	}
	if a.Status != verify.OK {
		return false, nil
	}
	sub, c, err := s.pair(ctx, project, job, shard, a, b)
	if err != nil || c == nil {
		return false, err
	}
	err = s.judgeComparisons(ctx, project, sub, []*classing{c})
	if err == nil && c.failure != nil {
		err = errors.New(c.failure.text)
	}
	if err != nil {
		return false, fmt.Errorf("comparing two answers to shard %d of job %s: %w", shard, job, err)
	}
	if !c.oneClass() {
		return false, nil
	}
	return true, s.keepEquivalent(ctx, project, sub, c)
}

// comparedShard is what the answers to a shard are compared with, and by.
type comparedShard struct {
	Validator *functions.ValidatorRef
	Partition partition.Spec
	Input     []byte
}

// pair is two answers to a shard that are to be compared; nil: the job has no validator.
func (s *Service) pair(ctx context.Context, project, job uuid.UUID, shard int64, a, b Answer) (sub toCompare, c *classing, err error) {
	var r comparedShard
	var found bool
	err = s.env.Project(ctx, project, func(tx *store.Tx) (err error) {
		r, found, err = store.One[comparedShard](ctx, tx, sql.ShardToCompare, job, shard)
		return err
	})
	if err != nil || !found || r.Validator == nil {
		return sub, nil, err
	}
	sub = toCompare{submissionRow: submissionRow{JobID: job, Shards: []int64{shard}, Validator: r.Validator}, Partition: r.Partition}
	c = &classing{shard: shard, input: jobs.ShardInput(r.Partition, shard, r.Input)}
	for _, one := range []Answer{a, b} {
		if len(one.Output) > maxCompared {
			return sub, nil, fmt.Errorf("comparing two answers to shard %d of job %s: an output has %d bytes, and a validator reads at most %d", shard, job, len(one.Output), maxCompared)
		}
		c.queue = append(c.queue, &comparedAnswer{agent: one.Agent, outcome: string(one.Outcome), output: one.Output, wall: one.WallMicros})
	}
	return sub, c, nil
}

// keepEquivalent makes two answers one class: that which one of them belongs to already, or a new one.
func (s *Service) keepEquivalent(ctx context.Context, project uuid.UUID, sub toCompare, c *classing) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		if _, err := store.Many[ShardRow](ctx, tx, store.LockShards, sub.JobID, sub.Shards); err != nil {
			return err
		}
		now, err := loadClasses(ctx, tx, sub.submissionRow)
		if err != nil {
			return err
		}
		representative := c.decided[0].representative
		for _, d := range c.decided {
			if row, known := now.known[answerKey{c.shard, d.outcome}]; known {
				representative = row.Representative
			}
		}
		for _, d := range c.decided { // one that is known already stays what it is
			if _, err := store.Exec(ctx, tx, sql.AddAnswerClass, sub.JobID, c.shard, []byte(d.outcome), representative, d.matches, d.reason); err != nil {
				return err
			}
		}
		return nil
	})
}

// FailingComparisons are shards whose answers wait for a validator that fails.
type FailingComparisons struct {
	Shards   int64
	Error    string
	Failures int
}

// Explain says that the validator fails, and at what.
func (f FailingComparisons) Explain(e *functions.Explanation) {
	if f.Shards == 0 {
		return
	}
	e.Reasons = append(e.Reasons, functions.Reason{
		Code: "comparison_failing", Text: fmt.Sprintf("The answers to %d shards wait for the validator, which fails (%d of %d times): %s", f.Shards, f.Failures, MaxCompareFailures, f.Error),
		Hint: "it is tried again with growing pauses, and then a person decides; try the module with its records: ostraka module test --kind validator",
	})
}
