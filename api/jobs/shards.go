package jobs

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/review"
)

// Shards is what the API asks of the domain about the shards of a job.
type Shards interface {
	ListShards(ctx context.Context, project, job uuid.UUID, state functions.ShardState, page functions.ListPage) ([]functions.Shard, error) // After: a shard number
	GetShard(ctx context.Context, project, job uuid.UUID, number int64) (functions.ShardDetail, error)
	ResolveShard(ctx context.Context, by functions.Principal, project, job uuid.UUID, number int64, r review.Resolution) (functions.ShardDetail, error)
	ListArtifacts(ctx context.Context, project, job uuid.UUID, page functions.ListPage) ([]dispatch.ShardArtifacts, error) // After: a shard number
}

// ListShardsInput asks for shards of a job.
type ListShardsInput struct {
	rest.ListOfJob
	State functions.ShardState `query:"state"`
}

// ShardPath names a shard of a job.
type ShardPath struct {
	rest.JobPath
	Number int64 `path:"number" minimum:"0"`
}

func (p ShardPath) ids() (project, job uuid.UUID, err error) { return p.IDs() }

// ResolveShardInput is a person's decision about a shard in review.
type ResolveShardInput struct {
	ShardPath
	Body struct {
		Decision string `json:"decision" enum:"accept,retry,fail" doc:"accept takes the output of digest as the result, retry lends the shard again, fail gives it up."`
		Digest   string `json:"digest,omitempty" pattern:"^[0-9a-f]{64}$" doc:"Of the output to accept: the output_digest of one of the attempts."`
		Reason   string `json:"reason" minLength:"1" maxLength:"2000" doc:"Why, for the audit log."`
	} `nameHint:"ShardResolution"`
}

type shardOutput struct {
	Body functions.ShardDetail
}

const shardsPath = rest.JobsPath + "/{job}/shards"

func (s *server) shardOperations() {
	rest.Register(s.Server, rest.Operation{
		ID: "listShards", Method: http.MethodGet, Path: shardsPath, Tag: "jobs", Summary: "List the shards of a job", Access: rest.Readers(),
	}, s.listShards)
	rest.Register(s.Server, rest.Operation{
		ID: "getShard", Method: http.MethodGet, Path: shardsPath + "/{number}", Tag: "jobs", Summary: "Get a shard with its attempts", Access: rest.Readers(),
	}, s.getShard)
	rest.Register(s.Server, rest.Operation{
		ID: "resolveShard", Method: http.MethodPost, Path: shardsPath + "/{number}/resolve", Tag: "jobs", Summary: "Decide about a shard in review, or have an accepted one run again",
		Access: rest.Roles(functions.RoleOwner), Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.resolveShard)
	rest.Register(s.Server, rest.Operation{
		ID: "listArtifacts", Method: http.MethodGet, Path: rest.JobsPath + "/{job}/artifacts", Tag: "jobs", Summary: "List the artifacts of a job",
		About: "Files that accepted shards left under $OSTRAKA_OUTPUT. Each is an object of the project: get it by its digest.", Access: rest.Readers(),
	}, s.listArtifacts)
	rest.Register(s.Server, rest.Operation{
		ID: "streamResults", Method: http.MethodGet, Path: rest.JobsPath + "/{job}/results", Tag: "jobs", Summary: "Stream the accepted results",
		About:  "One ResultLine a line, in the order of the shards. A stream that breaks off ends the connection before its end; go on with `after`.",
		Access: rest.Readers(), Answers: resultLines(s),
	}, s.streamResults)
}

func (s *server) listShards(ctx context.Context, c *rest.Call, in *ListShardsInput) (*rest.Listed[functions.Shard], error) {
	list := func(ctx context.Context, project, job uuid.UUID, page functions.ListPage) ([]functions.Shard, error) {
		return s.service.ListShards(ctx, project, job, in.State, page)
	}
	return rest.AnswerListOfJob(ctx, c, &in.ListOfJob, list, func(h functions.Shard) int64 { return h.Number })
}

func (s *server) listArtifacts(ctx context.Context, c *rest.Call, in *rest.ListOfJob) (*rest.Listed[dispatch.ShardArtifacts], error) {
	return rest.AnswerListOfJob(ctx, c, in, s.service.ListArtifacts, func(a dispatch.ShardArtifacts) int64 { return a.Shard })
}

func (s *server) getShard(ctx context.Context, _ *rest.Call, in *ShardPath) (*shardOutput, error) {
	project, job, err := in.ids()
	if err != nil {
		return nil, err
	}
	d, err := s.service.GetShard(ctx, project, job, in.Number)
	return shardAnswer(d, err)
}

func (s *server) resolveShard(ctx context.Context, c *rest.Call, in *ResolveShardInput) (*shardOutput, error) {
	project, job, err := in.ids()
	if err != nil {
		return nil, err
	}
	if (in.Body.Decision == "accept") != (in.Body.Digest != "") {
		return nil, rest.NewProblem(http.StatusUnprocessableEntity, rest.CodeInvalidRequest, "body.digest: to be given with the decision accept and with no other",
			"to accept an output give its output_digest, which GET on the shard shows")
	}
	d, err := s.service.ResolveShard(ctx, c.Principal, project, job, in.Number,
		review.Resolution{Decision: in.Body.Decision, Digest: in.Body.Digest, Reason: in.Body.Reason})
	return shardAnswer(d, err)
}

func shardAnswer(d functions.ShardDetail, err error) (*shardOutput, error) {
	if err != nil {
		return nil, err
	}
	if d.Attempts == nil {
		d.Attempts = []functions.Attempt{}
	}
	return &shardOutput{Body: d}, nil
}
