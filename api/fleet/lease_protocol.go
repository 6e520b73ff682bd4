package fleet

import (
	"context"
	"io"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
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

// LeaseInput asks for work.
type LeaseInput struct {
	rest.Waiting
	Max int `query:"max" minimum:"1" maximum:"1024" default:"100" doc:"How many shards at most."`
}

type leaseOutput struct {
	Status int
	Body   *functions.Lease
}

// LeasePath names a lease of the agent.
type LeasePath struct {
	Lease rest.PathID `path:"lease"`
}

func (p LeasePath) id() (uuid.UUID, error) { return rest.ReadID("lease", p.Lease) }

// OutputPath names an output of a lease's shard.
type OutputPath struct {
	LeasePath
	Digest string `path:"digest"`
}

type recordedOutput struct {
	Body dispatch.Recorded
}

func (s *server) leaseProtocol() {
	const path = "/v1/agent/leases"
	byAgents := rest.Roles(functions.RoleAgent)
	rest.Register(s.Server, rest.Operation{
		ID: "leaseShards", Method: http.MethodPost, Path: path, Tag: "agent protocol", Summary: "Ask for work",
		About:  "Answers 204 when there is none. The same `Idempotency-Key` gets the same lease again, so that an answer that was lost strands no shards.",
		Access: byAgents, Retry: rest.RetryWithKey, Answers: rest.NoContent("There is no work now."),
	}, s.leaseShards)
	rest.Register(s.Server, rest.Operation{
		ID: "getLeaseBundle", Method: http.MethodGet, Path: path + "/{lease}/bundle", Tag: "agent protocol", Summary: "Read the bundle of the lease's function",
		About:  "Check it against the lease's bundle_digest.",
		Access: byAgents, Answers: rest.BytesAnswer(rest.OctetStream, "The bundle's bytes."),
	}, s.getLeaseBundle)
	rest.Register(s.Server, rest.Operation{
		ID: "getLeaseFile", Method: http.MethodGet, Path: path + "/{lease}/shards/{number}/files/{digest}", Tag: "agent protocol", Summary: "Read a file that a shard of the lease reads",
		About:  "The shard's input names its files, where the lease says `files`. Check each against its digest.",
		Access: byAgents, Answers: rest.BytesAnswer(rest.OctetStream, "The file's bytes."),
	}, s.getLeaseFile)
	rest.Register(s.Server, rest.Operation{
		ID: "putOutput", Method: http.MethodPut, Path: path + "/{lease}/outputs/{digest}", Tag: "agent protocol", Summary: "Store an output that is too large to send with its result",
		About:  "The body is canonical JSON, stored under its SHA-256.",
		Access: byAgents, Body: rest.Body{Limit: maxOutputBytes(), Stream: rest.OctetStream},
	}, s.putOutput)
	rest.Register(s.Server, rest.Operation{
		ID: "postResults", Method: http.MethodPost, Path: path + "/{lease}/results", Tag: "agent protocol", Summary: "Post results",
		About: "Some or all of the lease's results, signed together. All are recorded or none. Statement 2, which the lease asks for, is the lines ostraka-results/2, " +
			"the project's ID, the job's, the SHA-256 of the bundle, the lease's ID, how many results there are, and the RFC 6962 root, in hexadecimal, of the tree " +
			"over them in the order of the shards, each ended by a line feed. A leaf is the result's shard, status and outcome divided by blanks, " +
			"and its output's digest where that is not the outcome. Statement 1, of agents of before, is the lines ostraka-results/1, the lease's ID, and for each result its shard, status and outcome.",
		Access: byAgents, Body: rest.Body{Limit: rest.MaxResultsBody, SchemaOf: ResultsRequest{}}, Early: s.holdsLease,
	}, s.postResults)
	rest.Register(s.Server, rest.Operation{
		ID: "returnLease", Method: http.MethodPost, Path: path + "/{lease}/return", Tag: "agent protocol", Summary: "Give a lease back",
		About: "Shards without a result are lent again at once. An agent that says that it refuses the function is not lent the same version of it " +
			"for a while, longer with each refusal; `job explain` shows its reason to the project.",
		Access: byAgents, Status: http.StatusNoContent, Body: rest.Body{Limit: rest.MaxJSONBody, Optional: true},
	}, s.returnLease)
}

func (s *server) leaseShards(ctx context.Context, c *rest.Call, in *LeaseInput) (*leaseOutput, error) {
	wait, err := in.WaitTime(c)
	if err != nil {
		return nil, err
	}
	waiting, done := s.UntilStopping(ctx)
	defer done()
	lease, err := s.service.Lease(waiting, c.Principal.Agent, dispatch.Poll{Most: in.Max, Wait: wait, From: rest.Peer(c.Request)}, c.Idem)
	if err != nil {
		return nil, err
	}
	if lease == nil {
		return &leaseOutput{Status: http.StatusNoContent}, nil
	}
	s.Metrics.Leased(lease)
	return &leaseOutput{Status: http.StatusOK, Body: lease}, nil
}

func (s *server) getLeaseBundle(ctx context.Context, c *rest.Call, in *LeasePath) (*rest.StreamOutput, error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	r, size, err := s.service.LeaseBundle(ctx, c.Principal.Agent, id)
	if err != nil {
		return nil, err
	}
	return &rest.StreamOutput{Body: s.SendObject(r, size, "")}, nil
}

// LeaseFilePath names a file of a shard.
type LeaseFilePath struct {
	LeasePath
	Shard  int64  `path:"number" minimum:"0"`
	Digest string `path:"digest"`
}

func (s *server) getLeaseFile(ctx context.Context, c *rest.Call, in *LeaseFilePath) (*rest.StreamOutput, error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	if !canonical.IsDigest(in.Digest) {
		return nil, functions.NotFound("file", in.Digest)
	}
	r, size, err := s.service.LeaseFile(ctx, c.Principal.Agent, id, in.Shard, in.Digest)
	if err != nil {
		return nil, err
	}
	return &rest.StreamOutput{Body: s.SendObject(r, size, in.Digest)}, nil
}

func (s *server) putOutput(ctx context.Context, c *rest.Call, in *OutputPath) (*rest.OutputOutput, error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	if !canonical.IsDigest(in.Digest) {
		return nil, rest.NewProblem(http.StatusUnprocessableEntity, rest.CodeBadDigest, "the digest in the path is not a SHA-256 of 64 lower-case hexadecimal characters",
			"give the SHA-256 of the body")
	}
	o, err := s.service.PutOutput(ctx, c.Principal.Agent, id, in.Digest, c.Request.Body)
	if err != nil {
		return nil, rest.StreamError(err, maxOutputBytes())
	}
	return &rest.OutputOutput{Body: o}, nil
}

// lookFirst is from which size on the lease of a post of results is looked up before its body is read, in bytes. Below, which most are,
// one query less is worth more.
const lookFirst = 256 << 10

// holdsLease refuses a large post of results for a lease that the agent does not have.
func (s *server) holdsLease(ctx context.Context, c *rest.Call) error {
	if n := c.Request.ContentLength; n >= 0 && n < lookFirst {
		return nil
	}
	id, err := rest.ReadID("lease", rest.PathID(c.Request.PathValue("lease")))
	if err != nil {
		return err
	}
	return s.service.HoldsLease(ctx, c.Principal.Agent, id)
}

func (s *server) postResults(ctx context.Context, c *rest.Call, in *LeasePath) (*recordedOutput, error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	submission, err := decodeResults(c.Body)
	if err != nil {
		return nil, err
	}
	r, err := s.service.Record(ctx, c.Principal.Agent, id, submission)
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

func (s *server) returnLease(ctx context.Context, c *rest.Call, in *ReturnInput) (*rest.Nothing, error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	if in.Body != nil {
		return nil, s.service.RefuseLease(ctx, c.Principal.Agent, id, *in.Body)
	}
	return nil, s.service.ReturnLease(ctx, c.Principal.Agent, id)
}
