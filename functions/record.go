package functions

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/statement"
)

// Limits of a submission. What is larger is refused whole, with the result that is named in the error.
const (
	MaxInlineOutput    = 64 << 10 // bytes of an output that travels with its result; a larger one is stored as an object first
	MaxDiagnosticBytes = 64 << 10 // bytes of everything else that is kept of one result
	MaxFilesListed     = 100      // artifacts of one result
)

// leaseHolder is what the server knows about a lease before it looks into the project.
type leaseHolder struct {
	ProjectID  uuid.UUID
	JobID      uuid.UUID
	PublicKey  []byte
	AgentState AgentState
	Script     bool // the function is one: its stdout is its result
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
	if err := s.checkObjects(ctx, agent, lease, checked); err != nil {
		return Recorded{}, fmt.Errorf("checking the outputs of lease %s: %w", lease, err)
	}
	var recorded Recorded
	var fresh []checkedResult
	err = s.project(ctx, holder.ProjectID, func(tx *store.Tx) (err error) {
		recorded, fresh, err = s.record(ctx, tx, holder, agent, lease, checked, sub.Signature)
		return err
	})
	if err != nil {
		return Recorded{}, fmt.Errorf("recording results of lease %s: %w", lease, err)
	}
	for _, r := range fresh {
		s.observe.Results(r.Status, 1)
	}
	s.notices.wake(topics(hereReported, agent)[0])
	return recorded, nil
}

// HoldsLease says whether the agent has, or had, the lease and may report about it.
func (s *Service) HoldsLease(ctx context.Context, agent, lease uuid.UUID) error {
	_, err := s.leaseHolder(ctx, agent, lease)
	return err
}

func (s *Service) leaseHolder(ctx context.Context, agent, lease uuid.UUID) (leaseHolder, error) {
	holder, found, err := store.One[leaseHolder](ctx, s.store.Pool, store.LeaseHolder, lease, agent)
	if err != nil || !found {
		return holder, translate(orNotFound(err, "lease", lease), uuid.Nil)
	}
	switch {
	case holder.AgentState == AgentRevoked:
		return holder, ErrAgentRevoked
	case !holder.AgentState.mayFinish():
		return holder, ErrLeaseRevoked.with("the lease was revoked: the agent is %s", holder.AgentState)
	default:
		return holder, nil
	}
}

// checked is a result whose claims were checked as far as they can be without the database.
type checkedResult struct {
	Result
	outcome []byte // digest that votes
	digest  []byte // of the output, when the status is ok
	inline  []byte // the output, when it travelled with the result
	rest    []byte // JSON of what is kept besides
}

func checkSubmission(lease uuid.UUID, holder leaseHolder, sub Submission) ([]checkedResult, error) {
	if n := len(sub.Results); n < 1 || n > MaxLeaseShards {
		return nil, ErrBadResult.with("a submission has 1 to %d results, this one has %d", MaxLeaseShards, n)
	}
	results := slices.Clone(sub.Results)
	slices.SortFunc(results, func(a, b Result) int { return int(min(max(a.Shard-b.Shard, -1), 1)) })
	lines := make([]statement.Line, len(results))
	checked := make([]checkedResult, len(results))
	for i, r := range results {
		if i > 0 && r.Shard == results[i-1].Shard {
			return nil, ErrBadResult.with("shard %d appears twice in the submission", r.Shard)
		}
		c, outcome, err := checkResult(r, holder.Script)
		if err != nil {
			return nil, err
		}
		checked[i] = c
		lines[i] = statement.Line{Shard: r.Shard, Status: r.Status, Outcome: outcome}
	}
	if len(holder.PublicKey) != ed25519.PublicKeySize || !ed25519.Verify(holder.PublicKey, statement.Results(lease, lines), sub.Signature) {
		return nil, ErrBadSignature
	}
	return checked, nil
}

// checkResult checks a result as far as it goes by itself. Of a script all that it printed votes.
func checkResult(r Result, script bool) (c checkedResult, outcome string, err error) {
	if !slices.Contains(verify.Statuses(), verify.Status(r.Status)) {
		return c, "", ErrBadResult.with("shard %d: there is no status %q", r.Shard, r.Status)
	}
	if min(r.OutputBytes, r.StdoutBytes, r.StderrBytes, r.CPUMicros, r.WallMicros, r.PeakRSS, r.InputBytes) < 0 {
		return c, "", ErrBadResult.with("shard %d: a measurement is negative", r.Shard)
	}
	c.Result = r
	if r.Status == string(verify.OK) {
		if err := checkOutput(&c); err != nil {
			return c, "", err
		}
	} else if r.Output != "" || r.OutputDigest != "" {
		return c, "", ErrBadResult.with("shard %d: status %s has no output", r.Shard, r.Status)
	}
	if script && r.Status == string(verify.OK) && !canonical.IsDigest(r.StdoutDigest) {
		return c, "", ErrBadResult.with("shard %d: stdout_digest is not a SHA-256 in hexadecimal, and what a script prints is its result", r.Shard)
	}
	if err := checkFiles(r); err != nil {
		return c, "", err
	}
	if c.rest, err = diagnostics(r); err != nil {
		return c, "", err
	}
	var exception Exception
	if r.Exception != nil {
		exception = *r.Exception
	}
	outcome = claimOf(r, exception, script).Outcome()
	c.outcome, err = hex.DecodeString(outcome)
	return c, outcome, err
}

func claimOf(r Result, e Exception, script bool) statement.Claim {
	c := statement.Claim{Status: r.Status, OutputDigest: r.OutputDigest, ExceptionType: e.Type, ExceptionMessage: e.Message}
	if script {
		c.StdoutDigest = r.StdoutDigest
	}
	for _, f := range r.Files {
		c.Files = append(c.Files, statement.File(f))
	}
	return c
}

// checkOutput believes nothing: the bytes must be canonical and have the digest that is claimed. An output that was stored as an
// object was checked when it was stored.
func checkOutput(c *checkedResult) error {
	digest, err := hex.DecodeString(c.OutputDigest)
	if err != nil || len(digest) != 32 {
		return ErrBadResult.with("shard %d: output_digest is not a SHA-256 in hexadecimal", c.Shard)
	}
	c.digest = digest
	if c.Output == "" {
		if c.OutputBytes <= MaxInlineOutput {
			return ErrBadResult.with("shard %d: the output is missing; outputs of up to %d bytes travel with the result", c.Shard, MaxInlineOutput)
		}
		return nil
	}
	c.inline = []byte(c.Output)
	if len(c.inline) > MaxInlineOutput {
		return ErrBadResult.with("shard %d: the output has %d bytes; above %d store it as an object first", c.Shard, len(c.inline), MaxInlineOutput)
	}
	if err := canonical.Check(c.inline, MaxInlineOutput); err != nil {
		return ErrBadResult.with("shard %d: the output is not canonical JSON: %v", c.Shard, err)
	}
	if canonical.Digest(c.inline) != c.OutputDigest {
		return ErrBadResult.with("shard %d: the output does not have the digest that it claims", c.Shard)
	}
	c.OutputBytes = int64(len(c.inline))
	return nil
}

// rest is a Result without the fields that have columns of their own: the pointers shadow them, so that omitempty drops them.
type rest struct {
	Result
	Shard  *int64  `json:"shard,omitempty"`
	Status *string `json:"status,omitempty"`
}

// diagnostics is the JSON of what is kept of a result besides its columns. It is nil for a plain success that printed nothing, which
// most results are.
func diagnostics(r Result) ([]byte, error) {
	if r.Status == string(verify.OK) && r.StdoutBytes == 0 && r.StderrBytes == 0 && len(r.Files) == 0 {
		return nil, nil
	}
	r.Output, r.OutputDigest, r.OutputBytes, r.CPUMicros, r.WallMicros, r.PeakRSS = "", "", 0, 0, 0, 0
	text, err := json.Marshal(rest{Result: r})
	if err != nil {
		return nil, ErrBadResult.with("the diagnostics cannot be encoded: %v", err)
	}
	if len(text) > MaxDiagnosticBytes {
		return nil, ErrBadResult.with("the diagnostics have %d bytes, at most %d are kept: send shorter tails", len(text), MaxDiagnosticBytes)
	}
	if err := canonical.Valid(text, MaxDiagnosticBytes); err != nil {
		return nil, ErrBadResult.with("the diagnostics cannot be stored: %v", err)
	}
	return text, nil
}

type recordGate struct {
	State    string
	Shards   []int64
	Reported int
	JobState JobState
	Limits   bundle.Limits
	Confirm  bool // the job says which results matter
}

// record returns the results that were new.
func (s *Service) record(ctx context.Context, tx *store.Tx, holder leaseHolder, agent, lease uuid.UUID, results []checkedResult, signature []byte) (Recorded, []checkedResult, error) {
	gate, found, err := store.One[recordGate](ctx, tx, store.GateRecord, lease, agent)
	if err != nil || !found {
		return Recorded{}, nil, orLeaseOfDeleted(err)
	}
	if err := checkAgainstLease(gate, results); err != nil {
		return Recorded{}, nil, err
	}
	fresh := results
	if gate.Reported > 0 {
		if fresh, err = withoutRecorded(ctx, tx, holder.JobID, agent, results); err != nil {
			return Recorded{}, nil, err
		}
	}
	recorded := Recorded{Recorded: len(fresh), Duplicate: len(results) - len(fresh), Done: gate.Reported+len(fresh) == len(gate.Shards)}
	if len(fresh) == 0 {
		return recorded, nil, nil
	}
	if err := gate.open(); err != nil {
		return Recorded{}, nil, err
	}
	for i := range fresh { // no shard takes longer than its function may, whatever is said of it: batches of rechecks are sized by it
		fresh[i].WallMicros = min(fresh[i].WallMicros, gate.Limits.WallSeconds*time.Second.Microseconds())
	}
	submission := newID()
	if err := insertAttempts(ctx, tx, submission, holder.JobID, agent, lease, fresh, stated(results, fresh), signature); err != nil {
		return Recorded{}, nil, err
	}
	return recorded, fresh, s.finishRecord(ctx, tx, post{
		project: holder.ProjectID, job: holder.JobID, agent: agent, lease: lease, submission: submission, results: len(fresh), answers: answersIn(fresh), claims: claimsIn(fresh), done: recorded.Done,
		wallSeconds: gate.Limits.WallSeconds, confirm: gate.Confirm,
	})
}

// open says why the lease takes no results, if it does not.
func (g recordGate) open() error {
	switch {
	case g.JobState == JobDeleting:
		return orLeaseOfDeleted(nil)
	case g.State == "open":
		return nil
	case g.State == "expired":
		return ErrLeaseExpired
	case g.State == "revoked" && g.JobState.Ended():
		return ErrLeaseEnded.with("the lease has ended: its job is %s", g.JobState)
	case g.State == "revoked":
		return ErrLeaseRevoked
	default:
		return ErrLeaseEnded
	}
}

// stated are the shards of the signed statement, where it names more than the new ones.
func stated(results, fresh []checkedResult) []int64 {
	if len(results) == len(fresh) {
		return nil
	}
	return shardNumbers(results)
}

func checkAgainstLease(gate recordGate, results []checkedResult) error {
	for _, r := range results {
		if _, found := slices.BinarySearch(gate.Shards, r.Shard); !found {
			return ErrBadResult.with("shard %d is not in this lease", r.Shard)
		}
		if r.digest != nil && r.OutputBytes > gate.Limits.OutputBytes {
			return ErrBadResult.with("shard %d: the output has %d bytes, the function's limit is %d: report it as output_limit", r.Shard, r.OutputBytes, gate.Limits.OutputBytes)
		}
		if err := checkArtifactLimits(gate.Limits, r.Result); err != nil {
			return err
		}
	}
	return nil
}

// withoutRecorded drops the results that are recorded already. One that says something else than the recorded one is refused.
func withoutRecorded(ctx context.Context, tx *store.Tx, job, agent uuid.UUID, results []checkedResult) ([]checkedResult, error) {
	type known struct {
		Shard   int64
		Outcome []byte
	}
	rows, err := store.Many[known](ctx, tx, store.RecordedOutcomes, job, agent, shardNumbers(results))
	if err != nil || len(rows) == 0 {
		return results, err
	}
	outcomes := map[int64][]byte{}
	for _, row := range rows {
		outcomes[row.Shard] = row.Outcome
	}
	var fresh []checkedResult
	for _, r := range results {
		recorded, found := outcomes[r.Shard]
		if found && !slices.Equal(recorded, r.outcome) {
			return nil, ErrResultConflict.with("another result of this agent for shard %d is recorded already", r.Shard)
		}
		if !found {
			fresh = append(fresh, r)
		}
	}
	return fresh, nil
}

func shardNumbers(results []checkedResult) []int64 {
	numbers := make([]int64, len(results))
	for i, r := range results {
		numbers[i] = r.Shard
	}
	return numbers
}

// checkObjects makes sure that the outputs which did not travel with their results are there, whole and canonical.
func (s *Service) checkObjects(ctx context.Context, agent, lease uuid.UUID, results []checkedResult) error {
	if !slices.ContainsFunc(results, func(r checkedResult) bool { return r.stored() || len(r.Files) > 0 }) {
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
		if !results[i].stored() {
			continue
		}
		if err := s.checkObject(ctx, holder.ProjectID, function.Manifest.Limits.OutputBytes, &results[i]); err != nil {
			return err
		}
	}
	return nil
}

// stored says whether the output is an object.
func (c checkedResult) stored() bool { return c.digest != nil && c.inline == nil }

func (s *Service) checkObject(ctx context.Context, project uuid.UUID, most int64, r *checkedResult) error {
	output, err := s.blobs.Get(ctx, project, r.OutputDigest, most)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return ErrBadResult.with("shard %d: its output is not stored; store it under the lease's outputs first", r.Shard)
	case errors.Is(err, blob.ErrTooLarge):
		return ErrBadResult.with("shard %d: its output is larger than the function's limit of %d bytes: report it as output_limit", r.Shard, most)
	case err != nil:
		return fmt.Errorf("reading the output of shard %d: %w", r.Shard, err)
	}
	if err := canonical.Check(output, int(most)); err != nil {
		return ErrBadResult.with("shard %d: the stored output is not canonical JSON: %v", r.Shard, err)
	}
	r.OutputBytes = int64(len(output))
	return nil
}

// insertAttempts writes all results with one statement.
func insertAttempts(ctx context.Context, tx *store.Tx, submission, job, agent, lease uuid.UUID, results []checkedResult, stated []int64, signature []byte) error {
	values := append([]any{submission, lease, job, agent, signature}, attemptColumns(results)...)
	_, err := store.Exec(ctx, tx, store.AddAttempts, append(values, stated)...)
	return err
}

// attemptColumns are the results, a list for each column.
func attemptColumns(results []checkedResult) []any {
	n := len(results)
	shards, status := shardNumbers(results), make([]string, n)
	outputs, digests, outcomes, rest := make([][]byte, n), make([][]byte, n), make([][]byte, n), make([]*string, n)
	size, cpu, wall, rss := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	for i, r := range results {
		status[i], outputs[i], digests[i], outcomes[i] = r.Status, r.inline, r.digest, r.outcome
		size[i], cpu[i], wall[i], rss[i] = r.OutputBytes, r.CPUMicros, r.WallMicros, r.PeakRSS
		if r.rest != nil {
			text := string(r.rest)
			rest[i] = &text
		}
	}
	return []any{shards, status, outputs, digests, outcomes, size, cpu, wall, rss, rest}
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
}

// finishRecord closes the lease when all of it is reported, gives it more time where it is not, and has the submission verified.
func (s *Service) finishRecord(ctx context.Context, tx *store.Tx, p post) error {
	if _, err := store.Exec(ctx, tx, store.CountReported, p.lease, p.results, p.done, p.job, p.agent, p.answers); err != nil {
		return err
	}
	if p.claims > 0 {
		if err := s.loseClaims(ctx, tx, p.job, p.agent, int64(p.claims)); err != nil {
			return err
		}
	}
	if err := s.enqueue(ctx, tx, VerifyArgs{Project: p.project, Submission: p.submission, Confirm: p.confirm}); err != nil {
		return err
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return err
	}
	if p.done {
		_, err = store.Exec(ctx, server, store.EndLease, []uuid.UUID{p.lease})
	} else {
		_, err = store.Exec(ctx, server, store.MoveLastCall, p.lease, lastCall(p.wallSeconds))
	}
	return err
}
