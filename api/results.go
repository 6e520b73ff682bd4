package api

import (
	"bufio"
	"context"
	"io"
	"iter"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/jobs"
)

// Results is what the API asks of the domain about accepted results.
type Results interface {
	// Results yields accepted results in shard order.
	Results(ctx context.Context, project, job uuid.UUID, query jobs.ResultQuery) iter.Seq2[jobs.ResultLine, error]
}

const ndjson = "application/x-ndjson"

// resultBufferBytes is how much of a stream of results is gathered before it is sent.
const resultBufferBytes = 64 << 10

// StreamResultsInput asks for the accepted results of a job.
type StreamResultsInput struct {
	JobPath
	After int64 `query:"after" minimum:"-1" default:"-1" doc:"Begin after the shard of this number; with the first shard when left out."`
	Final bool  `query:"final" default:"false" doc:"Only results that are final: those that await an audit, and may be taken back, are left out."`
	Input bool  `query:"input" default:"false" doc:"With the input of each shard."`
}

func resultLines(s *server) map[string]*huma.Response {
	schema := schemaOf(s.huma.OpenAPI().Components.Schemas, jobs.ResultLine{})
	name := strings.TrimPrefix(schema.Ref, schemaPrefix)
	answer := bytesAnswer(ndjson, "JSON lines, each a "+name+".")
	answer["200"].Content[ndjson].Schema.Extensions = map[string]any{"x-ostraka-line": refTo(schema)}
	return answer
}

func (s *server) streamResults(ctx context.Context, c *call, in *StreamResultsInput) (*streamOutput, error) {
	project, job, err := in.ids()
	if err != nil {
		return nil, err
	}
	return streamed(ctx, s, c, "streaming results", s.service.Results(ctx, project, job, jobs.ResultQuery{After: in.After, Final: in.Final, Input: in.Input}), func(out io.Writer, line jobs.ResultLine) error {
		return jsonFormat.Marshal(out, line)
	})
}

// streamed answers with what is yielded, as JSON lines. What is wrong before the first is a problem; what breaks off later cuts the connection.
func streamed[T any](ctx context.Context, s *server, c *call, doing string, all iter.Seq2[T, error], write func(io.Writer, T) error) (*streamOutput, error) {
	next, stop := iter.Pull2(all)
	part, err, some := next()
	if err != nil { // while a problem can still be told
		stop()
		return nil, err
	}
	return &streamOutput{Body: func(hc huma.Context) {
		defer stop()
		hc.SetHeader("Content-Type", ndjson)
		hc.SetStatus(http.StatusOK)
		out := bufio.NewWriterSize(&patientWriter{c.writer, http.NewResponseController(c.writer)}, resultBufferBytes)
		for ; some && err == nil; part, err, some = next() {
			if err = write(out, part); err != nil {
				break
			}
		}
		if err == nil {
			err = out.Flush()
		}
		if err != nil {
			s.log.WarnContext(ctx, "an answer broke off", "doing", doing, "request_id", c.requestID, "error", err)
			panic(http.ErrAbortHandler) // cuts the connection, so that what was sent does not look whole
		}
	}}, nil
}

// writeBytes writes bytes as they are.
func writeBytes(out io.Writer, b []byte) error {
	_, err := out.Write(b)
	return err
}
