package rest

import (
	"bufio"
	"context"
	"io"
	"iter"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// NDJSON is the media type of JSON lines.
const NDJSON = "application/x-ndjson"

// resultBufferBytes is how much of a stream of results is gathered before it is sent.
const resultBufferBytes = 64 << 10

// Streamed answers with what is yielded, as JSON lines. What is wrong before the first is a problem; what breaks off later cuts the connection.
func Streamed[T any](ctx context.Context, s *Server, c *Call, doing string, all iter.Seq2[T, error], write func(io.Writer, T) error) (*StreamOutput, error) {
	next, stop := iter.Pull2(all)
	part, err, some := next()
	if err != nil { // while a problem can still be told
		stop()
		return nil, err
	}
	return &StreamOutput{Body: func(hc huma.Context) {
		defer stop()
		hc.SetHeader("Content-Type", NDJSON)
		hc.SetStatus(http.StatusOK)
		out := bufio.NewWriterSize(&patientWriter{c.Writer, http.NewResponseController(c.Writer)}, resultBufferBytes)
		for ; some && err == nil; part, err, some = next() {
			if err = write(out, part); err != nil {
				break
			}
		}
		if err == nil {
			err = out.Flush()
		}
		if err != nil {
			s.Log.WarnContext(ctx, "an answer broke off", "doing", doing, "request_id", c.RequestID, "error", err)
			panic(http.ErrAbortHandler) // cuts the connection, so that what was sent does not look whole
		}
	}}, nil
}

// WriteBytes writes bytes as they are.
func WriteBytes(out io.Writer, b []byte) error {
	_, err := out.Write(b)
	return err
}
