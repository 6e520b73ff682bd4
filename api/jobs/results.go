package jobs

import (
	"context"
	"io"
	"iter"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions/jobs"
)

// Results is what the API asks of the domain about accepted results.
type Results interface {
	// Results yields accepted results in shard order.
	Results(ctx context.Context, project, job uuid.UUID, query jobs.ResultQuery) iter.Seq2[jobs.ResultLine, error]
}

// StreamResultsInput asks for the accepted results of a job.
type StreamResultsInput struct {
	rest.JobPath
	After int64 `query:"after" minimum:"-1" default:"-1" doc:"Begin after the shard of this number; with the first shard when left out."`
	Final bool  `query:"final" default:"false" doc:"Only results that are final: those that await an audit, and may be taken back, are left out."`
	Input bool  `query:"input" default:"false" doc:"With the input of each shard."`
}

func resultLines(s *server) map[string]*huma.Response {
	schema := rest.SchemaOf(s.Huma.OpenAPI().Components.Schemas, jobs.ResultLine{})
	name := strings.TrimPrefix(schema.Ref, rest.SchemaPrefix)
	answer := rest.BytesAnswer(rest.NDJSON, "JSON lines, each a "+name+".")
	answer["200"].Content[rest.NDJSON].Schema.Extensions = map[string]any{"x-ostraka-line": rest.RefTo(schema)}
	return answer
}

func (s *server) streamResults(ctx context.Context, c *rest.Call, in *StreamResultsInput) (*rest.StreamOutput, error) {
	project, job, err := in.IDs()
	if err != nil {
		return nil, err
	}
	return rest.Streamed(ctx, s.Server, c, "streaming results", s.service.Results(ctx, project, job, jobs.ResultQuery{After: in.After, Final: in.Final, Input: in.Input}), func(out io.Writer, line jobs.ResultLine) error {
		return rest.JSONFormat.Marshal(out, line)
	})
}
