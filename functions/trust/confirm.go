package trust

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
)

// confirmBatch is how many outputs are in memory at a time while a job's condition is asked about them.
const confirmBatch = 64

// errUnjudged says that a submission was to be weighed, and the job's condition was not asked about its outputs.
var errUnjudged = errors.New("the job has a condition over outputs, and the step that weighs them does not know of it")

// CheckConfirm says why a policy cannot have its condition.
func CheckConfirm(p verify.Policy) error {
	if p.Confirm != "" && !p.Audited() {
		return functions.Invalid("bad_confirm", "confirm is given beside a quorum or none, which execute nothing once more",
			"verify by a target error (target_error, answer_error, exact) or recheck all, or leave confirm out")
	}
	return registry.CheckExpression(p.Confirm)
}

// MustConfirm refuses a condition that would change nothing.
func MustConfirm(p verify.Policy) error {
	if p.Confirm == "" || p.Confirms() {
		return nil
	}
	return functions.Invalid("bad_confirm", fmt.Sprintf("with a target error of %g and %g of the results hostile the first answer is final, and confirm would change nothing", p.TargetError, p.Stated()),
		"choose a target error below the share that may be hostile")
}

// matters are the results of a submission that matter, by shard: empty text where the output fulfils the condition, else why that could not
// be told.
type matters map[int64]string

// judgeOutputs asks the job's condition about the outputs of a submission; nil: there is none. No transaction is open meanwhile, but to
// read them. A submission that was weighed already is left alone.
func (s *Service) judgeOutputs(ctx context.Context, args stepargs.VerifyArgs) (matters, error) {
	if !args.Confirm {
		return nil, nil
	}
	var sub ToCompare
	var found bool
	err := s.env.Project(ctx, args.Project, func(tx *store.Tx) (err error) {
		sub, found, err = store.One[ToCompare](ctx, tx, sql.SubmissionToCompare, args.Submission)
		return err
	})
	if err != nil || !found {
		return matters{}, err
	}
	condition, err := planner.CompileConfirmation(sub.Policy.Confirm)
	if err != nil {
		return nil, fmt.Errorf("compiling the condition of job %s: %w", sub.JobID, err)
	}
	judged := matters{}
	for numbers := range slices.Chunk(sub.Shards, confirmBatch) {
		var outputs []givenOutput
		err := s.env.Project(ctx, args.Project, func(tx *store.Tx) (err error) {
			outputs, err = store.Many[givenOutput](ctx, tx, sql.OutputsOfSubmission, sub.JobID, sub.AgentID, numbers)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, o := range outputs {
			if err := s.judgeOutput(ctx, args.Project, condition, o, judged); err != nil {
				return nil, fmt.Errorf("judging the output of shard %d of job %s: %w", o.Shard, sub.JobID, err)
			}
		}
	}
	return judged, nil
}

// givenOutput is an output that an agent gave.
type givenOutput struct {
	Shard        int64
	Output       []byte
	OutputDigest string
	OutputBytes  int64
}

func (s *Service) judgeOutput(ctx context.Context, project uuid.UUID, condition *planner.Confirmation, o givenOutput, judged matters) error {
	output := o.Output
	if output == nil && o.OutputBytes <= planner.MaxConfirmedOutput {
		var err error
		output, err = s.env.Blobs.Get(ctx, project, o.OutputDigest, o.OutputBytes)
		if errors.Is(err, blob.ErrNotFound) {
			judged[o.Shard] = "the output is not there any more"
			return nil
		}
		if err != nil {
			return err
		}
	}
	if output == nil {
		judged[o.Shard] = fmt.Sprintf("the output has %d bytes, and confirm sees one of at most %d: let the function return less", o.OutputBytes, planner.MaxConfirmedOutput)
		return nil
	}
	matters, err := condition.Matters(ctx, output)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		judged[o.Shard] = err.Error()
	case matters:
		judged[o.Shard] = ""
	}
	return nil
}

// note records which results matter, and tells the bench. The shards are locked.
func (m matters) note(ctx context.Context, tx *store.Tx, sub SubmissionRow, b bench) error {
	if len(m) == 0 {
		return nil
	}
	var numbers []int64
	var why []string
	for _, n := range sub.Shards {
		text, found := m[n]
		if !found {
			continue
		}
		numbers, why = append(numbers, n), append(why, text)
		for i := range b.attempts[n] {
			if a := &b.attempts[n][i]; a.AgentID == sub.AgentID {
				a.Matters, a.unjudged = true, text
			}
		}
	}
	_, err := store.Exec(ctx, tx, sql.NoteMatters, sub.JobID, sub.AgentID, numbers, why)
	return err
}

// matters says whether an answer that an agent gave matters: by its own output, or by that of another which was found to be the same.
func (b bench) matters(shard int64, agent uuid.UUID) (why string, matters bool) {
	attempts := b.attempts[shard]
	of := slices.IndexFunc(attempts, func(a attemptRow) bool { return a.AgentID == agent })
	if of < 0 {
		return "", false
	}
	for _, a := range attempts {
		if a.Matters && !a.Void && slices.Equal(a.Outcome, attempts[of].Outcome) {
			return a.unjudged, true
		}
	}
	return "", false
}

// confirm has a result that matters executed again before it counts: the shard is open until the server, or without it as many agents
// as make an answer credible, have executed it. The result is audited, so that a lie is one.
func (w *Weighed) confirm(b bench, shard ShardRow, c *jobs.ShardChange, why string) {
	agent := *c.Agent
	w.draws = append(w.draws, OpenAudit{Shard: shard.Number, AgentID: agent})
	w.Of(agent).audited = true
	text := "the result matters by the job's confirm: the shard is executed once more before it counts"
	if why != "" {
		text = "nobody can tell whether the result matters, so that the shard is executed once more before it counts: " + why
	}
	c.State, c.Agent, c.Reasons = functions.ShardOpen, nil, []verify.Reason{{Code: verify.ReasonConfirm, Text: text}}
	if b.terms.Rechecks {
		c.Wanted, c.Verdict = 0, verify.Recheck
		w.Rechecks = append(w.Rechecks, shard.Number)
		return
	}
	c.Support, c.Wanted, c.Verdict = b.terms.Bound.Voices, max(0, 1-shard.Lent), verify.Replicate
}
