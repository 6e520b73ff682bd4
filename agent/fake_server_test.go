package agent

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/eula"
	"github.com/ostraka/ostraka/runtime/statement"
	"github.com/ostraka/ostraka/testenv"
)

const (
	fakeToken = "ostraka_enrol_fake"
	fakeKey   = "ostraka_agent_fake"
)

// fakeServer speaks the agent protocol as the real one does, and can be told to misbehave.
type fakeServer struct {
	t      *testing.T
	bundle *bundle.Bundle

	mu           sync.Mutex
	key          string // that agents authenticate with; a change makes the old one unknown
	public       ed25519.PublicKey
	enrolled     int
	agreement    eula.Document
	accepted     string // digest
	state        client.DirectivesState
	duplicate    *client.Duplicate
	shards       []client.LeasedShard // to lend
	perLease     int                  // shards in a lease at most; 0: what is asked for
	lendAll      bool                 // however few were asked for
	ttl          int64
	leases       map[uuid.UUID][]client.LeasedShard
	byKey        map[string]uuid.UUID // idempotency keys
	asked        []int                // sizes that were asked for
	results      map[int64]client.ShardResult
	posts        int
	asks         int      // which statement its leases ask for
	statement    int      // the only one that it knows; 0: it knows both
	signed       []int    // which ones it got
	refuse       []string // the codes with which it refuses the next posts of results
	outputs      map[string]string
	files        map[string]string // inputs of shards by digest, where they have some
	fetched      []string          // "SHARD DIGEST" of each request for one
	returned     []uuid.UUID
	onReturn     func(client.Refusal)
	ended        []uuid.UUID // told with the next heartbeat
	endNamed     bool        // a heartbeat ends the leases that it names
	stop         bool
	noChallenges bool              // as servers of before
	orders       client.Directives // of revision "": the server has none
	confirmed    []string
	project      uuid.UUID
	keys         []client.SigningKey  // of the project
	signing      *client.LeaseSigning // of its leases
	refusals     []client.Refusal
	beats        []client.Heartbeat
	changed      chan struct{}
	intercept    func(w http.ResponseWriter, r *http.Request) bool // answers instead, when it returns true
	after        func(r *http.Request)                             // runs when a request was carried out but its answer is not yet sent
}

// challengedAt is when the fake server gave its nonce.
var challengedAt = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func newFakeServer(t *testing.T, shards int) (*fakeServer, *httptest.Server) {
	t.Helper()
	f := &fakeServer{
		t: t, bundle: testBundle(t), key: fakeKey, ttl: 30, agreement: eula.Embedded(), state: client.DirectivesStateActive,
		leases: map[uuid.UUID][]client.LeasedShard{}, byKey: map[string]uuid.UUID{},
		results: map[int64]client.ShardResult{}, outputs: map[string]string{}, changed: make(chan struct{}),
	}
	for i := range shards {
		f.shards = append(f.shards, client.LeasedShard{Shard: int64(i), Input: fmt.Sprintf(`{"n":%d}`, i)})
	}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return f, s
}

func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	intercept := f.intercept
	f.mu.Unlock()
	if intercept != nil && intercept(w, r) {
		return
	}
	recorder := httptest.NewRecorder()
	f.route(recorder, r)
	f.mu.Lock()
	close(f.changed)
	f.changed = make(chan struct{})
	after := f.after
	f.mu.Unlock()
	if after != nil {
		after(r)
	}
	for k, v := range recorder.Header() {
		w.Header()[k] = v
	}
	w.WriteHeader(recorder.Code)
	_, _ = w.Write(recorder.Body.Bytes())
}

func (f *fakeServer) route(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path, bearer := r.URL.Path, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	open := path == "/v1/eula" || path == "/v1/agent/enrol" || path == "/v1/enrolment-challenge"
	switch {
	case !open && bearer != f.key:
		problem(w, 401, "unauthorized")
	case path == "/v1/eula":
		d := f.agreement
		answerJSON(w, 200, client.Document{Version: d.Version, Digest: d.Digest, Text: d.Text})
	case path == "/v1/enrolment-challenge" && f.noChallenges:
		problem(w, 404, "no_such_route")
	case path == "/v1/enrolment-challenge":
		answerJSON(w, 200, client.Challenge{Nonce: "once", At: challengedAt})
	case path == "/v1/agent/enrol":
		f.enrol(w, r, bearer)
	case path == "/v1/agent/projects":
		answerJSON(w, 200, client.AgentProjectList{Items: []client.AgentProject{{Project: f.project, SigningKeys: f.keys}}})
	case path == "/v1/agent/eula":
		var a client.Acceptance
		_ = json.NewDecoder(r.Body).Decode(&a)
		f.accepted = a.Digest
		w.WriteHeader(http.StatusNoContent)
	case path == "/v1/agent/leases":
		f.lease(w, r)
	case path == "/v1/agent/directives":
		f.poll(w, r)
	case strings.HasPrefix(path, "/v1/agent/directives/"):
		f.confirm(w, strings.TrimSuffix(strings.TrimPrefix(path, "/v1/agent/directives/"), "/confirm"))
	case path == "/v1/agent/heartbeat":
		f.heartbeat(w, r)
	default:
		f.routeLease(w, r, strings.Split(strings.TrimPrefix(path, "/v1/agent/leases/"), "/"))
	}
}

// routeLease answers /v1/agent/leases/ID/...
func (f *fakeServer) routeLease(w http.ResponseWriter, r *http.Request, parts []string) {
	id, err := uuid.Parse(parts[0])
	if err != nil || len(parts) < 2 {
		problem(w, 404, "no_such_route")
		return
	}
	lent, known := f.leases[id]
	switch parts[1] {
	case "shards": // /shards/N/files/DIGEST
		content, found := f.files[parts[4]]
		f.fetched = append(f.fetched, parts[2]+" "+parts[4])
		if !found {
			problem(w, 404, "input_lost")
			return
		}
		_, _ = io.WriteString(w, content)
	case "bundle":
		_, _ = w.Write(f.bundle.Archive())
	case "outputs":
		body, _ := io.ReadAll(r.Body)
		f.outputs[parts[2]] = string(body)
		answerJSON(w, 200, client.Object{Digest: parts[2], Size: int64(len(body))})
	case "return":
		f.returned = append(f.returned, id)
		var why client.Refusal
		_ = json.NewDecoder(r.Body).Decode(&why)
		f.refusals = append(f.refusals, why)
		if f.onReturn != nil {
			f.onReturn(why)
		}
		delete(f.leases, id)
		w.WriteHeader(http.StatusNoContent)
	case "results":
		if !known {
			problem(w, 409, "lease_expired")
			return
		}
		f.record(w, r, id, lent)
	}
}

func (f *fakeServer) enrol(w http.ResponseWriter, r *http.Request, token string) {
	var e client.Enrolment
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil || token != fakeToken && token != "" {
		problem(w, 401, "unauthorized")
		return
	}
	if e.Eula == nil || e.Eula.Digest != f.agreement.Digest {
		problem(w, 403, "eula_required")
		return
	}
	stated := statement.Enrolment(e.PublicKey, token)
	if e.Nonce != "" {
		stated = statement.EnrolmentAnew(e.PublicKey, token, e.Server, e.Nonce, challengedAt)
	}
	if (e.Nonce == "") != f.noChallenges || e.Server == "" != f.noChallenges || !ed25519.Verify(e.PublicKey, stated, e.Proof) {
		problem(w, 403, "bad_signature")
		return
	}
	f.enrolled++
	if token == "" && !f.public.Equal(ed25519.PublicKey(e.PublicKey)) {
		f.state = client.DirectivesStatePending
	}
	f.public, f.accepted = e.PublicKey, e.Eula.Digest
	answerJSON(w, 201, client.Enrolled{Agent: client.Agent{ID: uuid.New(), Name: e.Name, State: client.AgentState(f.state)}, Key: f.key})
}

func (f *fakeServer) lease(w http.ResponseWriter, r *http.Request) {
	if f.state != client.DirectivesStateActive {
		problem(w, 403, "agent_not_active")
		return
	}
	if f.accepted != f.agreement.Digest {
		problem(w, 403, "eula_required")
		return
	}
	key := r.Header.Get("Idempotency-Key")
	if id, again := f.byKey[key]; again {
		f.lend(w, id)
		return
	}
	var most int
	_, _ = fmt.Sscan(r.URL.Query().Get("max"), &most)
	f.asked = append(f.asked, most)
	if f.perLease > 0 {
		most = min(most, f.perLease)
	}
	if f.lendAll {
		most = len(f.shards)
	}
	n := min(most, len(f.shards))
	if n == 0 {
		changed := f.changed
		f.mu.Unlock()
		select { // a long poll, but not so long that the end of a test waits for it
		case <-r.Context().Done():
		case <-changed:
		case <-time.After(20 * time.Millisecond):
		}
		f.mu.Lock()
		w.WriteHeader(http.StatusNoContent)
		return
	}
	id := uuid.New()
	f.byKey[key] = id
	f.leases[id], f.shards = f.shards[:n:n], f.shards[n:]
	f.lend(w, id)
}

func (f *fakeServer) lend(w http.ResponseWriter, id uuid.UUID) {
	answerJSON(w, 200, client.Lease{ID: id, Project: f.project, Signing: f.signing, Function: "double", Statement: int64(f.asks), BundleDigest: f.bundle.Digest, BundleSize: f.bundle.Size, Shards: f.leases[id], Files: f.files != nil, TTLSeconds: f.ttl})
}

func (f *fakeServer) record(w http.ResponseWriter, r *http.Request, id uuid.UUID, lent []client.LeasedShard) {
	f.posts++
	body, _ := io.ReadAll(r.Body)
	var request client.ResultsRequest
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&request) != nil {
		problem(w, 422, "bad_results")
		return
	}
	var lines []statement.Line
	for _, result := range request.Results {
		if !slices.ContainsFunc(lent, func(s client.LeasedShard) bool { return s.Shard == result.Shard }) {
			problem(w, 422, "bad_result")
			return
		}
		lines = append(lines, statement.Line{Shard: result.Shard, Status: string(result.Status), Outcome: claimOf(result, false).Outcome()})
	}
	if f.statement == 1 && request.Statement != 0 { // as servers of before, which know of no such field
		problem(w, 422, "bad_results")
		return
	}
	if len(f.refuse) > 0 {
		code := f.refuse[0]
		f.refuse = f.refuse[1:]
		problem(w, 409, code)
		return
	}
	signed := statement.Results(id, lines)
	if request.Statement == audit.StatementOfWork {
		signed = f.workOf(id, lines, request.Results)
	}
	if !ed25519.Verify(f.public, signed, request.Signature) {
		problem(w, 403, "bad_signature")
		return
	}
	f.signed = append(f.signed, int(request.Statement))
	recorded := client.Recorded{}
	for _, result := range request.Results {
		if _, again := f.results[result.Shard]; again {
			recorded.Duplicate++
		} else {
			recorded.Recorded++
		}
		f.results[result.Shard] = result
	}
	answerJSON(w, 200, recorded)
}

// workOf is what an agent signs where the lease asks for it.
func (f *fakeServer) workOf(lease uuid.UUID, lines []statement.Line, results []client.ShardResult) []byte {
	said := make([]audit.WorkLine, len(lines))
	for i, l := range lines {
		said[i] = audit.WorkLine{Shard: l.Shard, Status: l.Status, Outcome: l.Outcome, Output: results[i].OutputDigest}
	}
	return audit.WorkStatement(audit.Work{Project: f.project.String(), Job: uuid.Nil.String(), Function: f.bundle.Digest, Lease: lease.String()}, said)
}

func (f *fakeServer) heartbeat(w http.ResponseWriter, r *http.Request) {
	var t client.Heartbeat
	_ = json.NewDecoder(r.Body).Decode(&t)
	f.beats = append(f.beats, t)
	ended := f.ended
	if f.endNamed {
		ended = t.Leases
	}
	if ended == nil {
		ended = []uuid.UUID{}
	}
	d := f.directives()
	d.EndedLeases, d.Stop = ended, f.stop
	answerJSON(w, 200, d)
}

// directives are the orders, and what the server thinks of the agent as a whole.
func (f *fakeServer) directives() client.Directives {
	d := f.orders
	d.State, d.Duplicate = f.state, f.duplicate
	if f.accepted != f.agreement.Digest {
		d.Eula = &client.EULAReference{Version: f.agreement.Version, Digest: f.agreement.Digest}
	}
	return d
}

// poll answers when the orders are others than the agent knows.
func (f *fakeServer) poll(w http.ResponseWriter, r *http.Request) {
	if f.orders.Revision == "" {
		problem(w, 404, "no_such_route")
		return
	}
	for r.URL.Query().Get("known") == f.orders.Revision && r.Context().Err() == nil {
		changed := f.changed
		f.mu.Unlock()
		select {
		case <-r.Context().Done():
		case <-changed:
		}
		f.mu.Lock()
	}
	answerJSON(w, 200, f.directives())
}

func (f *fakeServer) confirm(w http.ResponseWriter, revision string) {
	if revision != f.orders.Revision {
		problem(w, 409, "directives_changed")
		return
	}
	f.confirmed = append(f.confirmed, revision)
	w.WriteHeader(http.StatusNoContent)
}

func problem(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/problem+json")
	answerJSON(w, status, client.Problem{Code: code, Detail: "as the test wants it: " + code, Status: int64(status)})
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// set changes the server's behaviour.
func (f *fakeServer) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	close(f.changed)
	f.changed = make(chan struct{})
}

// until waits for something to become true of the server.
func (f *fakeServer) until(what string, holds func() bool) {
	f.t.Helper()
	deadline := time.After(testenv.EventuallyLimit)
	for {
		f.mu.Lock()
		ok, changed := holds(), f.changed
		f.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-time.After(50 * time.Millisecond): // what is waited for may be elsewhere, as in a file
		case <-deadline:
			f.t.Fatalf("waited in vain until %s", what)
		}
	}
}

func (f *fakeServer) untilResults(n int) {
	f.t.Helper()
	f.until(fmt.Sprintf("%d results are in", n), func() bool { return len(f.results) == n })
}

// refuse answers posts that hold the result of one shard as the real server does when it does not like it.
func refuse(f *fakeServer, w http.ResponseWriter, r *http.Request, shard int64) bool {
	if !strings.HasSuffix(r.URL.Path, "/results") {
		return false
	}
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var request client.ResultsRequest
	if json.Unmarshal(body, &request) != nil {
		f.t.Error("not JSON")
	}
	if !slices.ContainsFunc(request.Results, func(r client.ShardResult) bool { return r.Shard == shard }) {
		return false
	}
	problem(w, 422, "bad_result")
	return true
}
