package dispatch

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/statement"
)

// Recorded says the outcome of a submission.
type Recorded struct {
	Recorded  int  `json:"recorded" doc:"Results that were new."`
	Duplicate int  `json:"duplicate" doc:"Results that had been recorded before: sending again is harmless."`
	Done      bool `json:"done" doc:"Every shard of the lease is reported; the lease is closed."`
}

// Submission is one signed post of results.
type Submission struct {
	Results   []functions.Result
	Signature []byte // Ed25519 over what Statement says
	Statement int    // audit.StatementOfLease or audit.StatementOfWork
}

// Record stores the results of a lease. A result counts only when its digest, its signature and its lease hold; one that does not
// refuses the whole submission, and nothing of it is stored. Sending the same submission again is harmless.
func (s *Service) Record(ctx context.Context, agent, lease uuid.UUID, sub Submission) (Recorded, error) {
	recorded, err := s.recordSubmission(ctx, agent, lease, sub)
	if err != nil {
		s.flagRefused(ctx, agent, lease, err)
	}
	return recorded, err
}

func (s *Service) recordSubmission(ctx context.Context, agent, lease uuid.UUID, sub Submission) (Recorded, error) {
	holder, err := s.leaseHolder(ctx, agent, lease)
	if err != nil {
		return Recorded{}, err
	}
	checked, err := checkSubmission(lease, holder, sub)
	if err != nil {
		return Recorded{}, err
	}
	// No transaction is open while objects are read.
	outputs, err := s.newOutputCheck(ctx, holder.ProjectID, holder.JobID)
	if err == nil {
		err = outputs.inline(checked)
	}
	if err == nil {
		err = s.checkObjects(ctx, agent, lease, outputs, checked)
	}
	if err != nil {
		return Recorded{}, fmt.Errorf("checking the outputs of lease %s: %w", lease, err)
	}
	var recorded Recorded
	var fresh []result.Checked
	err = s.env.Project(ctx, holder.ProjectID, func(tx *store.Tx) (err error) {
		recorded, fresh, err = s.record(ctx, tx, holder, agent, lease, checked, sub)
		return err
	})
	if err != nil {
		return Recorded{}, fmt.Errorf("recording results of lease %s: %w", lease, err)
	}
	for _, r := range fresh {
		s.env.Observe.Results(r.Status, 1)
	}
	s.env.Notices.Wake(base.Topics(hereReported, agent)[0])
	return recorded, nil
}

func checkSubmission(lease uuid.UUID, holder leaseHolder, sub Submission) ([]result.Checked, error) {
	if n := len(sub.Results); n < 1 || n > MaxLeaseShards {
		return nil, functions.ErrBadResult.With("a submission has 1 to %d results, this one has %d", MaxLeaseShards, n)
	}
	results := slices.Clone(sub.Results)
	slices.SortFunc(results, func(a, b functions.Result) int { return int(min(max(a.Shard-b.Shard, -1), 1)) })
	lines := make([]statement.Line, len(results))
	checked := make([]result.Checked, len(results))
	for i, r := range results {
		if i > 0 && r.Shard == results[i-1].Shard {
			return nil, functions.ErrBadResult.With("shard %d appears twice in the submission", r.Shard)
		}
		c, outcome, err := result.Check(r, holder.Script)
		if err != nil {
			return nil, err
		}
		checked[i] = c
		lines[i] = statement.Line{Shard: r.Shard, Status: r.Status, Outcome: outcome}
	}
	if sub.Statement == audit.StatementOfWork {
		return checked, nil // checkWork, when the function is known
	}
	if len(holder.PublicKey) != ed25519.PublicKeySize || !ed25519.Verify(holder.PublicKey, statement.Results(lease, lines), sub.Signature) {
		return nil, functions.ErrBadSignature
	}
	return checked, nil
}

type recordGate struct {
	State    string
	Shards   []int64
	Reported int
	JobState functions.JobState
	Digest   string // of the function's bundle
	Function string
	Version  int
	Limits   bundle.Limits
	Confirm  bool // the job says which results matter
	Controls bool // the job brought shards with known answers

	ShardsTotal int64
	Module      *string // that folds the results; nil: none
	KeyKnown    bool    // the log has the agent's key
	Asked       int     // which statement the lease asks for
}

// small says whether the request may carry out what follows from it: at most one page is to be folded, by a module that we know.
func (g recordGate) small() bool {
	return g.ShardsTotal <= partition.PageSize && !g.Confirm && (g.Module == nil || registry.IsBuiltin(*g.Module))
}

// record returns the results that were new.
func (s *Service) record(ctx context.Context, tx *store.Tx, holder leaseHolder, agent, lease uuid.UUID, results []result.Checked, sub Submission) (Recorded, []result.Checked, error) {
	gate, found, err := store.One[recordGate](ctx, tx, sql.GateRecord, lease, agent)
	if err != nil || !found {
		return Recorded{}, nil, base.OrLeaseOfDeleted(err)
	}
	if err := checkWork(holder, lease, gate.Digest, results, sub); err != nil {
		return Recorded{}, nil, err
	}
	if err := checkAgainstLease(gate, results); err != nil {
		return Recorded{}, nil, err
	}
	attempts, controls, repeated, err := sortOut(ctx, tx, gate, lease, results)
	if err != nil {
		return Recorded{}, nil, err
	}
	if gate.Reported > repeated {
		if attempts, err = withoutRecorded(ctx, tx, holder.JobID, agent, attempts); err != nil {
			return Recorded{}, nil, err
		}
	}
	fresh := inOrder(attempts, controls)
	recorded := Recorded{Recorded: len(fresh), Duplicate: len(results) - len(fresh), Done: gate.Reported+len(fresh) == len(gate.Shards)}
	if len(fresh) == 0 {
		return recorded, nil, nil
	}
	if err := gate.open(); err != nil {
		return Recorded{}, nil, err
	}
	if err := gate.checkStatement(sub.Statement, len(results), len(fresh)); err != nil {
		return Recorded{}, nil, err
	}
	for _, list := range [][]result.Checked{attempts, controls} {
		for i := range list { // no shard takes longer than its function may, whatever is said of it: batches of rechecks are sized by it
			list[i].WallMicros = min(list[i].WallMicros, gate.Limits.WallSeconds*time.Second.Microseconds())
		}
	}
	if shortcut := functions.ShortcutOf(ctx); shortcut != nil {
		shortcut.Open = gate.small()
	}
	submission := base.NewID()
	told, err := gate.told(holder.JobID, agent, fresh, sub)
	if err != nil {
		return Recorded{}, nil, err
	}
	if err := insertAttempts(ctx, tx, submission, holder.JobID, agent, lease, attempts, stated(results, attempts), sub, told); err != nil {
		return Recorded{}, nil, err
	}
	if sub.Statement == audit.StatementOfWork && !gate.KeyKnown {
		if err := recordKey(ctx, tx, agent, holder.PublicKey); err != nil {
			return Recorded{}, nil, err
		}
	}
	if err := answerControls(ctx, tx, lease, controls); err != nil {
		return Recorded{}, nil, err
	}
	return recorded, fresh, s.finishRecord(ctx, tx, post{
		project: holder.ProjectID, job: holder.JobID, agent: agent, lease: lease, submission: submission, results: len(fresh), answers: trust.AnswersIn(fresh), claims: trust.ClaimsIn(fresh), done: recorded.Done,
		wallSeconds: gate.Limits.WallSeconds, confirm: gate.Confirm, controls: len(controls) > 0,
	})
}

// open says why the lease takes no results, if it does not.
func (g recordGate) open() error {
	switch {
	case g.JobState == functions.JobDeleting:
		return base.OrLeaseOfDeleted(nil)
	case g.State == "open":
		return nil
	case g.State == "expired":
		return functions.ErrLeaseExpired
	case g.State == "revoked" && g.JobState.Ended():
		return functions.ErrLeaseEnded.With("the lease has ended: its job is %s", g.JobState)
	case g.State == "revoked":
		return functions.ErrLeaseRevoked
	default:
		return functions.ErrLeaseEnded
	}
}

// stated are the shards of the signed statement, where it names more than the new ones.
func stated(results, fresh []result.Checked) []int64 {
	if len(results) == len(fresh) {
		return nil
	}
	return result.Numbers(results)
}

func checkAgainstLease(gate recordGate, results []result.Checked) error {
	for _, r := range results {
		if _, found := slices.BinarySearch(gate.Shards, r.Shard); !found {
			return functions.ErrBadResult.With("shard %d is not in this lease", r.Shard)
		}
		if r.Digest != nil && r.OutputBytes > gate.Limits.OutputBytes {
			return functions.ErrBadResult.With("shard %d: the output has %d bytes, the function's limit is %d: report it as output_limit", r.Shard, r.OutputBytes, gate.Limits.OutputBytes)
		}
		if err := checkArtifactLimits(gate.Limits, r.Result); err != nil {
			return err
		}
	}
	return nil
}

// withoutRecorded drops the results that are recorded already. One that says something else than the recorded one is refused.
func withoutRecorded(ctx context.Context, tx *store.Tx, job, agent uuid.UUID, results []result.Checked) ([]result.Checked, error) {
	type known struct {
		Shard   int64
		Outcome []byte
	}
	rows, err := store.Many[known](ctx, tx, sql.RecordedOutcomes, job, agent, result.Numbers(results))
	if err != nil || len(rows) == 0 {
		return results, err
	}
	outcomes := map[int64][]byte{}
	for _, row := range rows {
		outcomes[row.Shard] = row.Outcome
	}
	var fresh []result.Checked
	for _, r := range results {
		recorded, found := outcomes[r.Shard]
		if found && !slices.Equal(recorded, r.Outcome) {
			return nil, functions.ErrResultConflict.With("another result of this agent for shard %d is recorded already", r.Shard)
		}
		if !found {
			fresh = append(fresh, r)
		}
	}
	return fresh, nil
}

// checkObjects makes sure that the outputs which did not travel with their results are there, whole and canonical.
func (s *Service) checkObjects(ctx context.Context, agent, lease uuid.UUID, outputs *outputCheck, results []result.Checked) error {
	if !slices.ContainsFunc(results, func(r result.Checked) bool { return r.Stored() || len(r.Files) > 0 }) {
		return nil
	}
	holder, function, err := s.leasedFunction(ctx, agent, lease)
	if err != nil {
		return err
	}
	for i := range results {
		if err := s.checkArtifacts(ctx, holder.ProjectID, results[i].Result); err != nil {
			return err
		}
		if !results[i].Stored() || outputs.known(&results[i]) {
			continue
		}
		if err := s.checkObject(ctx, holder.ProjectID, function.Manifest.Limits.OutputBytes, outputs, &results[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) checkObject(ctx context.Context, project uuid.UUID, most int64, outputs *outputCheck, r *result.Checked) error {
	output, err := s.env.Blobs.Get(ctx, project, r.OutputDigest, most)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return functions.ErrBadResult.With("shard %d: its output is not stored; store it under the lease's outputs first", r.Shard)
	case errors.Is(err, blob.ErrTooLarge):
		return functions.ErrBadResult.With("shard %d: its output is larger than the function's limit of %d bytes: report it as output_limit", r.Shard, most)
	case err != nil:
		return fmt.Errorf("reading the output of shard %d: %w", r.Shard, err)
	}
	if err := canonical.Check(output, int(most)); err != nil {
		return functions.ErrBadResult.With("shard %d: the stored output is not canonical JSON: %v", r.Shard, err)
	}
	return outputs.look(r, output)
}

// insertAttempts writes all results with one statement.
func insertAttempts(ctx context.Context, tx *store.Tx, submission, job, agent, lease uuid.UUID, results []result.Checked, stated []int64, sub Submission, told json.RawMessage) error {
	values := append([]any{submission, lease, job, agent, sub.Signature}, result.Columns(results)...)
	_, err := store.Exec(ctx, tx, sql.AddAttempts, append(values, stated, max(sub.Statement, audit.StatementOfLease), result.RecordedAction, told)...)
	return err
}

// post is a submission that was stored.
type post struct {
	project, job, agent, lease, submission uuid.UUID
	results                                int
	answers                                int  // of the results: outputs
	claims                                 int  // of the results: attempts that ended without an answer
	done                                   bool // with the whole lease
	wallSeconds                            int64
	confirm                                bool // the job's condition is to be asked about the outputs
	controls                               bool // some of the results are answers to controls
}

// finishRecord closes the lease when all of it is reported, gives it more time where it is not, and has the submission verified.
func (s *Service) finishRecord(ctx context.Context, tx *store.Tx, p post) error {
	if _, err := store.Exec(ctx, tx, sql.CountReported, p.lease, p.results, p.done, p.job, p.agent, p.answers); err != nil {
		return err
	}
	if p.claims > 0 {
		if err := s.trust.LoseClaims(ctx, tx, p.job, p.agent, int64(p.claims)); err != nil {
			return err
		}
	}
	steps := []functions.Step{stepargs.VerifyArgs{Project: p.project, Submission: p.submission, Confirm: p.confirm}}
	if p.controls {
		steps = append(steps, stepargs.JudgeControlsArgs{Project: p.project, Job: p.job})
	}
	if err := s.env.Enqueue(ctx, tx, steps...); err != nil {
		return err
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return err
	}
	if p.done {
		_, err = store.Exec(ctx, server, store.EndLease, []uuid.UUID{p.lease})
	} else {
		_, err = store.Exec(ctx, server, sql.MoveLastCall, p.lease, lastCall(p.wallSeconds))
	}
	return err
}
