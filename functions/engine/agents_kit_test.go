package engine_test

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/eula"
	"github.com/ostraka/ostraka/runtime/statement"
	"github.com/ostraka/ostraka/testenv"
)

// agent is a machine with a real key. answer stands for the function that it runs.
type agent struct {
	w      *world
	id     uuid.UUID
	secret string
	key    ed25519.PrivateKey
	answer func(input string) functions.Result
	script bool               // what it executes is a plain script
	held   []*functions.Lease // that it lets wait, where a test wants it to
	older  bool               // it signs as agents of before
	leases sync.Map           // that it was lent, by their IDs
}

// agent is an agent of an owner of its own, so that its voice counts by itself.
func (w *world) agent(answer func(input string) functions.Result) *agent {
	w.t.Helper()
	a := w.sibling(answer)
	_, err := w.store.Pool.Exec(w.t.Context(), "update ostraka.agents set owner = $2 where id = $1", a.id, fmt.Sprintf("owner-%d", w.agents))
	require.NoError(w.t, err)
	return a
}

// sibling is an agent of the same owner as all siblings: they have joined with one token.
func (w *world) sibling(answer func(input string) functions.Result) *agent {
	w.t.Helper()
	w.agents++
	return w.enrol(w.token, fmt.Sprintf("agent-%d", w.agents), answer)
}

func (w *world) enrol(token, name string, answer func(input string) functions.Result) *agent {
	w.t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	require.NoError(w.t, err)
	a := &agent{w: w, key: private, answer: answer}
	enrolled, secret, err := w.join(private, token, name, "")
	require.NoError(w.t, err)
	want := fleet.AgentActive
	if token == "" {
		want = fleet.AgentPending
	}
	require.Equal(w.t, want, enrolled.State)
	a.id, a.secret = enrolled.ID, secret
	return a
}

// join enrols as agents do.
func (w *world) join(key ed25519.PrivateKey, token, name, address string) (fleet.Agent, string, error) {
	w.t.Helper()
	e, proof := w.anew(key, token, name)
	return w.Enrol(w.t.Context(), token, e, proof, address)
}

// anew is an enrolment with a new nonce.
func (w *world) anew(key ed25519.PrivateKey, token, name string) (fleet.Enrolment, []byte) {
	w.t.Helper()
	c, err := w.Challenge(w.t.Context())
	require.NoError(w.t, err)
	e := enrolment(key, name)
	e.Server, e.Nonce = "https://ostraka.example", c.Nonce
	return e, ed25519.Sign(key, statement.EnrolmentAnew(publicKey(key), token, e.Server, c.Nonce, c.At))
}

// prove shows that an agent holds its key, as agents of before did.
func prove(key ed25519.PrivateKey, token string) []byte {
	return ed25519.Sign(key, statement.Enrolment(publicKey(key), token))
}

func publicKey(key ed25519.PrivateKey) ed25519.PublicKey {
	return key.Public().(ed25519.PublicKey)
}

// manyCores lets an agent have many leases at a time.
const manyCores = 512

// enrolment is what an agent says whose owner has accepted the agreement.
func enrolment(key ed25519.PrivateKey, name string) fleet.Enrolment {
	return fleet.Enrolment{
		PublicKey: publicKey(key), Name: name, Isolation: "process", Platform: fleet.Platform{OS: "linux", Arch: "amd64", CPUs: manyCores},
		EULA: accept(key, eula.Embedded()),
	}
}

func accept(key ed25519.PrivateKey, d eula.Document) *fleet.Acceptance {
	at := time.Now().Truncate(time.Second)
	return &fleet.Acceptance{Version: d.Version, Digest: d.Digest, AcceptedAt: at, Signature: ed25519.Sign(key, statement.Acceptance(publicKey(key), d.Version, d.Digest, at))}
}

// ok is a result with an output.
func ok(output string) functions.Result {
	return functions.Result{Status: "ok", Output: output, OutputDigest: canonical.Digest([]byte(output)), WallMicros: 5}
}

// honest answers "numbers": the beginning of its range, which is beyond 2^53, and one.
func honest(input string) functions.Result {
	var bounds struct{ From string }
	if err := json.Unmarshal([]byte(input), &bounds); err != nil || bounds.From == "" {
		return raised("TypeError", "not a range")
	}
	return ok(`{"n":1,"sum":` + bounds.From + `}`)
}

// liar is near the truth, as a good lie is.
func liar(input string) functions.Result {
	var bounds struct{ From string }
	_ = json.Unmarshal([]byte(input), &bounds)
	return ok(`{"n":2,"sum":` + bounds.From + `}`)
}

func raised(kind, message string) functions.Result {
	return functions.Result{Status: "error", Exception: &functions.Exception{Type: kind, Message: message, Traceback: "…"}, StderrBytes: 3, StderrTail: "ow\n"}
}

func (a *agent) lease(most int) *functions.Lease {
	a.w.t.Helper()
	lease, err := a.Lease(a.w.t.Context(), most, 0)
	require.NoError(a.w.t, err)
	return lease
}

// Lease and the methods below are safe in goroutines: they return errors.
func (a *agent) Lease(ctx context.Context, most int, wait time.Duration) (*functions.Lease, error) {
	lease, err := a.w.Lease(ctx, a.id, dispatch.Poll{Most: most, Wait: wait}, functions.Idempotency{})
	if lease != nil {
		a.leases.Store(lease.ID, lease)
	}
	return lease, err
}

// results answers shards of a lease.
func (a *agent) results(shards []functions.LeasedShard) []functions.Result {
	results := make([]functions.Result, len(shards))
	for i, shard := range shards {
		results[i] = a.answer(shard.Input)
		results[i].Shard = shard.Number
	}
	return results
}

func (a *agent) sign(lease uuid.UUID, results []functions.Result) dispatch.Submission {
	lines := make([]statement.Line, len(results))
	for i, r := range results {
		var e functions.Exception
		if r.Exception != nil {
			e = *r.Exception
		}
		lines[i] = statement.Line{Shard: r.Shard, Status: r.Status, Outcome: claim(r, e, a.script).Outcome()}
	}
	slices.SortFunc(lines, func(a, b statement.Line) int { return cmp.Compare(a.Shard, b.Shard) })
	if of, lent := a.leases.Load(lease); lent && !a.older {
		return a.signWork(of.(*functions.Lease), results, lines)
	}
	return dispatch.Submission{Results: results, Signature: ed25519.Sign(a.key, statement.Results(lease, lines))}
}

// signWork signs as the lease asks for: lines are in the order of their shards.
func (a *agent) signWork(lease *functions.Lease, results []functions.Result, lines []statement.Line) dispatch.Submission {
	work := audit.Work{Project: lease.Project.String(), Job: lease.Job.String(), Function: lease.BundleDigest, Lease: lease.ID.String()}
	said := make([]audit.WorkLine, len(lines))
	for i, l := range lines {
		said[i] = audit.WorkLine{Shard: l.Shard, Status: l.Status, Outcome: l.Outcome}
		if l.Status == "ok" {
			said[i].Output = results[slices.IndexFunc(results, func(r functions.Result) bool { return r.Shard == l.Shard })].OutputDigest
		}
	}
	return dispatch.Submission{Results: results, Statement: audit.StatementOfWork, Signature: ed25519.Sign(a.key, audit.WorkStatement(work, said))}
}

func claim(r functions.Result, e functions.Exception, script bool) statement.Claim {
	c := statement.Claim{Status: r.Status, OutputDigest: r.OutputDigest, ExceptionType: e.Type, ExceptionMessage: e.Message}
	if script {
		c.StdoutDigest = r.StdoutDigest
	}
	for _, f := range r.Files {
		c.Files = append(c.Files, statement.File(f))
	}
	return c
}

func (a *agent) post(lease uuid.UUID, results ...functions.Result) (dispatch.Recorded, error) {
	return a.w.Record(a.w.t.Context(), a.id, lease, a.sign(lease, results))
}

// report answers a whole lease.
func (a *agent) report(lease *functions.Lease) dispatch.Recorded {
	a.w.t.Helper()
	recorded, err := a.post(lease.ID, a.results(lease.Shards)...)
	require.NoError(a.w.t, err)
	return recorded
}

// do leases and reports up to so many shards, and says how many there were.
func (a *agent) do(most int) int {
	a.w.t.Helper()
	lease := a.lease(most)
	if lease == nil {
		return 0
	}
	a.report(lease)
	return len(lease.Shards)
}

// run works until the context ends, batch after batch.
func (a *agent) run(ctx context.Context, batch int) error {
	for ctx.Err() == nil {
		lease, err := a.Lease(ctx, batch, time.Minute)
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("leasing: %w", err)
		}
		if lease == nil {
			continue
		}
		_, err = a.w.Record(ctx, a.id, lease.ID, a.sign(lease.ID, a.results(lease.Shards)))
		if err != nil && ctx.Err() == nil && !lostLease(err) {
			return fmt.Errorf("recording: %w", err)
		}
	}
	return nil
}

// lostLease says whether an agent is to drop its results and go on.
func lostLease(err error) bool {
	return errors.Is(err, functions.ErrLeaseExpired) || errors.Is(err, functions.ErrLeaseEnded) || errors.Is(err, functions.ErrLeaseRevoked)
}

// swarm lets agents work at once until the job ends or wants people.
func (w *world) swarm(job uuid.UUID, batch int, agents ...*agent) functions.Job {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	var all sync.WaitGroup
	var broken atomic.Bool
	for _, a := range agents {
		all.Go(func() {
			if err := a.run(ctx, batch); err != nil {
				broken.Store(true)
				w.t.Errorf("agent %s: %v", a.id, err)
			}
		})
	}
	defer all.Wait()
	defer cancel()
	var now functions.Job
	testenv.Eventually(w.t, func() bool {
		now = w.job(job)
		return broken.Load() || now.State.Ended() || now.State == functions.JobReview
	}, "job %s ends (it is %+v)", job, &now)
	return now
}
