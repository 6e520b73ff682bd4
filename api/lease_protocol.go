package api

import (
	"context"
	"io"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// Leases is what the API asks of the domain about work for agents, and what they bring back.
type Leases interface {
	HoldsLease(ctx context.Context, agent, lease uuid.UUID) error
	// Lease waits up to wait for work; nil means that there was none. The same idempotency key returns the same lease.
	Lease(ctx context.Context, agent uuid.UUID, poll dispatch.Poll, idem functions.Idempotency) (*functions.Lease, error)
	LeaseBundle(ctx context.Context, agent, lease uuid.UUID) (io.ReadCloser, int64, error)
	// LeaseFile opens a file that a shard of the lease reads.
	LeaseFile(ctx context.Context, agent, lease uuid.UUID, shard int64, digest string) (io.ReadCloser, int64, error)
	PutOutput(ctx context.Context, agent, lease uuid.UUID, digest string, r io.Reader) (functions.Object, error)
	Record(ctx context.Context, agent, lease uuid.UUID, s dispatch.Submission) (dispatch.Recorded, error)
	ReturnLease(ctx context.Context, agent, lease uuid.UUID) error
	RefuseLease(ctx context.Context, agent, lease uuid.UUID, why dispatch.Refusal) error
}

// maxOutputBytes is the largest output of a shard, in bytes of canonical JSON: what the manifest of a function may allow at most.
func maxOutputBytes() int64 { return bundle.MaxLimits().OutputBytes }

// MaxResultsBody is the largest post of results: functions.MaxLeaseShards results, a few of them with an output of 64 KiB. An agent that has more
// posts them in several parts.
const MaxResultsBody = 16 << 20

// LeaseInput asks for work.
type LeaseInput struct {
	Waiting
	Max int `query:"max" minimum:"1" maximum:"1024" default:"100" doc:"How many shards at most."`
}

type leaseOutput struct {
	Status int
	Body   *functions.Lease
}

// LeasePath names a lease of the agent.
type LeasePath struct {
	Lease PathID `path:"lease"`
}

func (p LeasePath) id() (uuid.UUID, error) { return pathID("lease", p.Lease) }

// OutputPath names an output of a lease's shard.
type OutputPath struct {
	LeasePath
	Digest string `path:"digest"`
}

type outputOutput struct {
	Body functions.Object
}

type recordedOutput struct {
	Body dispatch.Recorded
}

func (s *server) leaseProtocol() {
	const path = "/v1/agent/leases"
	byAgents := roles(functions.RoleAgent)
	register(s, operation{
		id: "leaseShards", method: http.MethodPost, path: path, tag: "agent protocol", summary: "Ask for work",
		about:  "Answers 204 when there is none. The same `Idempotency-Key` gets the same lease again, so that an answer that was lost strands no shards.",
		access: byAgents, retry: retryWithKey, answers: noContent("There is no work now."),
	}, s.leaseShards)
	register(s, operation{
		id: "getLeaseBundle", method: http.MethodGet, path: path + "/{lease}/bundle", tag: "agent protocol", summary: "Read the bundle of the lease's function",
		about:  "Check it against the lease's bundle_digest.",
		access: byAgents, answers: bytesAnswer(octetStream, "The bundle's bytes."),
	}, s.getLeaseBundle)
	register(s, operation{
		id: "getLeaseFile", method: http.MethodGet, path: path + "/{lease}/shards/{number}/files/{digest}", tag: "agent protocol", summary: "Read a file that a shard of the lease reads",
		about:  "The shard's input names its files, where the lease says `files`. Check each against its digest.",
		access: byAgents, answers: bytesAnswer(octetStream, "The file's bytes."),
	}, s.getLeaseFile)
	register(s, operation{
		id: "putOutput", method: http.MethodPut, path: path + "/{lease}/outputs/{digest}", tag: "agent protocol", summary: "Store an output that is too large to send with its result",
		about:  "The body is canonical JSON, stored under its SHA-256.",
		access: byAgents, body: body{limit: maxOutputBytes(), stream: octetStream},
	}, s.putOutput)
	register(s, operation{
		id: "postResults", method: http.MethodPost, path: path + "/{lease}/results", tag: "agent protocol", summary: "Post results",
		about: "Some or all of the lease's results, signed together. All are recorded or none. The signature is over the lines ostraka-results/1, the lease's ID, and " +
			"for each result, in the order of the shards, its shard, status and outcome divided by blanks, each ended by a line feed.",
		access: byAgents, body: body{limit: MaxResultsBody, schemaOf: ResultsRequest{}}, early: s.holdsLease,
	}, s.postResults)
	register(s, operation{
		id: "returnLease", method: http.MethodPost, path: path + "/{lease}/return", tag: "agent protocol", summary: "Give a lease back",
		about: "Shards without a result are lent again at once. An agent that says that it refuses the function is not lent the same version of it " +
			"for a while, longer with each refusal; `job explain` shows its reason to the project.",
		access: byAgents, status: http.StatusNoContent, body: body{limit: MaxJSONBody, optional: true},
	}, s.returnLease)
}

func (s *server) leaseShards(ctx context.Context, c *call, in *LeaseInput) (*leaseOutput, error) {
	wait, err := in.wait(c)
	if err != nil {
		return nil, err
	}
	waiting, done := s.untilStopping(ctx)
	defer done()
	lease, err := s.service.Lease(waiting, c.principal.Agent, dispatch.Poll{Most: in.Max, Wait: wait, From: peer(c.request)}, c.idem)
	if err != nil {
		return nil, err
	}
	if lease == nil {
		return &leaseOutput{Status: http.StatusNoContent}, nil
	}
	s.metrics.leased(lease)
	return &leaseOutput{Status: http.StatusOK, Body: lease}, nil
}

func (s *server) getLeaseBundle(ctx context.Context, c *call, in *LeasePath) (*streamOutput, error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	r, size, err := s.service.LeaseBundle(ctx, c.principal.Agent, id)
	if err != nil {
		return nil, err
	}
	return &streamOutput{Body: s.sendObject(r, size, "")}, nil
}

// LeaseFilePath names a file of a shard.
type LeaseFilePath struct {
	LeasePath
	Shard  int64  `path:"number" minimum:"0"`
	Digest string `path:"digest"`
}

func (s *server) getLeaseFile(ctx context.Context, c *call, in *LeaseFilePath) (*streamOutput, error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	if !isDigest(in.Digest) {
		return nil, functions.NotFound("file", in.Digest)
	}
	r, size, err := s.service.LeaseFile(ctx, c.principal.Agent, id, in.Shard, in.Digest)
	if err != nil {
		return nil, err
	}
	return &streamOutput{Body: s.sendObject(r, size, in.Digest)}, nil
}

func (s *server) putOutput(ctx context.Context, c *call, in *OutputPath) (*outputOutput, error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	if !isDigest(in.Digest) {
		return nil, newProblem(http.StatusUnprocessableEntity, codeBadDigest, "the digest in the path is not a SHA-256 of 64 lower-case hexadecimal characters",
			"give the SHA-256 of the body")
	}
	o, err := s.service.PutOutput(ctx, c.principal.Agent, id, in.Digest, c.request.Body)
	if err != nil {
		return nil, streamError(err, maxOutputBytes())
	}
	return &outputOutput{Body: o}, nil
}

// lookFirst is from which size on the lease of a post of results is looked up before its body is read, in bytes. Below, which most are,
// one query less is worth more.
const lookFirst = 256 << 10

// holdsLease refuses a large post of results for a lease that the agent does not have.
func (s *server) holdsLease(ctx context.Context, c *call) error {
	if n := c.request.ContentLength; n >= 0 && n < lookFirst {
		return nil
	}
	id, err := pathID("lease", PathID(c.request.PathValue("lease")))
	if err != nil {
		return err
	}
	return s.service.HoldsLease(ctx, c.principal.Agent, id)
}

func (s *server) postResults(ctx context.Context, c *call, in *LeasePath) (*recordedOutput, error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	submission, err := decodeResults(c.body)
	if err != nil {
		return nil, err
	}
	r, err := s.service.Record(ctx, c.principal.Agent, id, submission)
	if err != nil {
		return nil, err
	}
	return &recordedOutput{Body: r}, nil
}

// ReturnInput gives a lease back, and may say why.
type ReturnInput struct {
	LeasePath
	Body *dispatch.Refusal
}

func (s *server) returnLease(ctx context.Context, c *call, in *ReturnInput) (*nothing, error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	if in.Body != nil {
		return nil, s.service.RefuseLease(ctx, c.principal.Agent, id, *in.Body)
	}
	return nil, s.service.ReturnLease(ctx, c.principal.Agent, id)
}
