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
	"github.com/ostraka/ostraka/functions/trust/classing"
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

// ToCompare is a submission whose answers are to be compared.
type ToCompare struct {
	SubmissionRow
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
func (s *Service) readAnswers(ctx context.Context, args stepargs.CompareArgs) (sub ToCompare, shards []*classing.Classing, err error) {
	err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		var found bool
		if sub, found, err = store.One[ToCompare](ctx, tx, sql.SubmissionToCompare, args.Submission); err != nil || !found || sub.Validator == nil {
			return err
		}
		attempts, err := store.Many[attemptRow](ctx, tx, sql.WeighableAttempts, sub.JobID, sub.Shards, args.Submission)
		if err != nil {
			return err
		}
		classes, err := loadClasses(ctx, tx, sub.SubmissionRow)
		if err != nil {
			return err
		}
		shards = classes.uncompared(attempts)
		return nil
	})
	return sub, shards, err
}

// compareShards compares the answers to some shards. A shard at which the module fails says so in its failure.
func (s *Service) compareShards(ctx context.Context, project uuid.UUID, sub ToCompare, shards []*classing.Classing) error {
	if err := s.fetchAnswers(ctx, project, sub, shards); err != nil {
		return err
	}
	return s.JudgeComparisons(ctx, project, sub, shards)
}

// JudgeComparisons has the job's validator decide.
func (s *Service) JudgeComparisons(ctx context.Context, project uuid.UUID, sub ToCompare, shards []*classing.Classing) error {
	validation := s.registry.Validation(project, sub.JobID, *sub.Validator)
	return classing.CompareAll(ctx, func(ctx context.Context, units []wasm.Unit) ([]wasm.Judgement, error) {
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
func (s *Service) fetchAnswers(ctx context.Context, project uuid.UUID, sub ToCompare, shards []*classing.Classing) error {
	var numbers []int64
	var outcomes [][]byte
	index := map[int64]*classing.Classing{}
	for _, c := range shards {
		index[c.Shard] = c
		for _, a := range c.Answers() {
			numbers, outcomes = append(numbers, c.Shard), append(outcomes, []byte(a.Outcome))
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
		c.Input = jobs.ShardInput(sub.Partition, r.Shard, r.Input)
		a := c.Answer(string(r.Outcome))
		if a.Wall = r.WallMicros; r.Output != nil {
			a.Output = r.Output
			continue
		}
		if r.OutputBytes > classing.MaxCompared {
			c.GiveUp(fmt.Sprintf("the output of agent %s has %d bytes, and a validator reads at most %d", a.Agent, r.OutputBytes, classing.MaxCompared))
			continue
		}
		if a.Output, err = s.env.Blobs.Get(ctx, project, r.OutputDigest, r.OutputBytes); err != nil {
			return fmt.Errorf("reading an output of shard %d: %w", r.Shard, err)
		}
	}
	return nil
}

// keepClasses stores what the comparison of some shards came to, and tells of those at which the module failed. It returns what is to
// be tried again.
func (s *Service) keepClasses(ctx context.Context, project uuid.UUID, sub ToCompare, shards []*classing.Classing) (again []error, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		again = nil
		var marks []flag.Mark
		numbers := make([]int64, len(shards))
		for i, c := range shards {
			numbers[i] = c.Shard
		}
		// Another submission may have had the same shards compared meanwhile. What it found stands, and the rest is compared with that.
		if _, err := store.Many[ShardRow](ctx, tx, store.LockShards, sub.JobID, numbers); err != nil {
			return err
		}
		now, err := loadClasses(ctx, tx, SubmissionRow{JobID: sub.JobID, Shards: numbers, Validator: sub.Validator})
		if err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.DropCompareFailures, sub.JobID, comparedWell(shards)); err != nil {
			return err
		}
		for _, c := range shards {
			if now.count[c.Shard] != c.Known {
				continue
			}
			for _, d := range c.Decided {
				if _, err := store.Exec(ctx, tx, sql.AddAnswerClass, sub.JobID, c.Shard, []byte(d.Outcome), d.Representative, d.Matches, d.Reason); err != nil {
					return err
				}
			}
			if c.Failure == nil {
				continue
			}
			count := 1
			if c.Failure.Ours {
				count = 0 // it is not held against the module
			}
			givenUp, _, err := store.Value[bool](ctx, tx, sql.AddComparisonFailure, sub.JobID, c.Shard, count, c.Failure.Text, c.Failure.Final, MaxCompareFailures)
			if err != nil {
				return err
			}
			decision := "tried again"
			if givenUp {
				decision = "a person decides"
			} else {
				again = append(again, fmt.Errorf("shard %d: %s", c.Shard, c.Failure.Text))
			}
			marks = append(marks, flag.Mark{
				Kind: flag.FlagValidator, Rule: sub.Validator.Module, Job: sub.JobID, Shard: &c.Shard, Decision: decision, Event: base.EventComparisonFailed,
				Detail: map[string]any{"shard": c.Shard, "validator": sub.Validator.Module, "error": c.Failure.Text, "decision": decision},
			})
		}
		return flag.Raise(ctx, tx, marks...)
	})
	return again, err
}

func comparedWell(shards []*classing.Classing) (numbers []int64) {
	for _, c := range shards {
		if c.Failure == nil {
			numbers = append(numbers, c.Shard)
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
	err = s.JudgeComparisons(ctx, project, sub, []*classing.Classing{c})
	if err == nil && c.Failure != nil {
		err = errors.New(c.Failure.Text)
	}
	if err != nil {
		return false, fmt.Errorf("comparing two answers to shard %d of job %s: %w", shard, job, err)
	}
	if !c.OneClass() {
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
func (s *Service) pair(ctx context.Context, project, job uuid.UUID, shard int64, a, b Answer) (sub ToCompare, c *classing.Classing, err error) {
	var r comparedShard
	var found bool
	err = s.env.Project(ctx, project, func(tx *store.Tx) (err error) {
		r, found, err = store.One[comparedShard](ctx, tx, sql.ShardToCompare, job, shard)
		return err
	})
	if err != nil || !found || r.Validator == nil {
		return sub, nil, err
	}
	sub = ToCompare{SubmissionRow: SubmissionRow{JobID: job, Shards: []int64{shard}, Validator: r.Validator}, Partition: r.Partition}
	c = &classing.Classing{Shard: shard, Input: jobs.ShardInput(r.Partition, shard, r.Input)}
	for _, one := range []Answer{a, b} {
		if len(one.Output) > classing.MaxCompared {
			return sub, nil, fmt.Errorf("comparing two answers to shard %d of job %s: an output has %d bytes, and a validator reads at most %d", shard, job, len(one.Output), classing.MaxCompared)
		}
		c.Queue = append(c.Queue, &classing.ComparedAnswer{Agent: one.Agent, Outcome: string(one.Outcome), Output: one.Output, Wall: one.WallMicros})
	}
	return sub, c, nil
}

// keepEquivalent makes two answers one class: that which one of them belongs to already, or a new one.
func (s *Service) keepEquivalent(ctx context.Context, project uuid.UUID, sub ToCompare, c *classing.Classing) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		if _, err := store.Many[ShardRow](ctx, tx, store.LockShards, sub.JobID, sub.Shards); err != nil {
			return err
		}
		now, err := loadClasses(ctx, tx, sub.SubmissionRow)
		if err != nil {
			return err
		}
		representative := c.Decided[0].Representative
		for _, d := range c.Decided {
			if row, known := now.known[answerKey{c.Shard, d.Outcome}]; known {
				representative = row.Representative
			}
		}
		for _, d := range c.Decided { // one that is known already stays what it is
			if _, err := store.Exec(ctx, tx, sql.AddAnswerClass, sub.JobID, c.Shard, []byte(d.Outcome), representative, d.Matches, d.Reason); err != nil {
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
