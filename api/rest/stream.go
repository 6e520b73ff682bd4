package rest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ostraka/ostraka/functions"
)

// OctetStream is the media type of bytes.
const OctetStream = "application/octet-stream"

// AlsoOK documents that an operation which creates may also answer 200 with what was there.
func AlsoOK(s *Server, value any, about string) map[string]*huma.Response {
	schema := SchemaOf(s.Huma.OpenAPI().Components.Schemas, value)
	return map[string]*huma.Response{"200": {
		Description: about, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}},
	}}
}

// BytesAnswer documents an answer that is not JSON.
func BytesAnswer(mediaType, about string) map[string]*huma.Response {
	schema := &huma.Schema{Type: huma.TypeString}
	if mediaType == OctetStream {
		schema.Format = "binary"
	}
	return map[string]*huma.Response{"200": {Description: about, Content: map[string]*huma.MediaType{mediaType: {Schema: schema}}}}
}

// StreamError tells the faults of a streamed body from those of the domain, which reads it: a body that breaks off or is too long is
// the client's affair, wherever it was noticed.
func StreamError(err error, limit int64) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, io.ErrUnexpectedEOF) && !isDomainError(err) {
		return bodyProblem(err, limit)
	}
	return err
}

// StreamIdle is how long a client may take to read a piece of a stream.
const StreamIdle = 30 * time.Second

// SendObject is the body of an answer that is a stored object. When reading it fails half way the connection is cut: the client
// sees less than Content-Length, and never a short object that looks whole.
func (s *Server) SendObject(r io.ReadCloser, size int64, digest string) func(huma.Context) {
	return func(hc huma.Context) {
		defer r.Close()
		c := CallOf(hc.Context())
		hc.SetHeader("Content-Type", OctetStream)
		hc.SetHeader("Content-Length", strconv.FormatInt(size, 10))
		hc.SetHeader("ETag", fmt.Sprintf("%q", digest))
		hc.SetStatus(http.StatusOK)
		n, err := io.Copy(&patientWriter{c.Writer, http.NewResponseController(c.Writer)}, r)
		if err == nil && n == size {
			return
		}
		s.Log.WarnContext(hc.Context(), "sending an object broke off", "request_id", c.RequestID, "operation", c.Operation, "sent", n, "size", size, "error", err)
		panic(http.ErrAbortHandler)
	}
}

// patientWriter moves the write deadline with each write: an answer may be long but its reader not idle.
type patientWriter struct {
	w       io.Writer
	control *http.ResponseController
}

// Write implements io.Writer.
func (p *patientWriter) Write(b []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(StreamIdle))
	return p.w.Write(b)
}

// NoContent documents that an answer may be 204.
func NoContent(about string) map[string]*huma.Response {
	return map[string]*huma.Response{"204": {Description: about}}
}

// isDomainError says whether the domain has put a fault into words already.
func isDomainError(err error) bool {
	var domain *functions.Error
	return errors.As(err, &domain)
}

// EventStreamType is the media type of server-sent events.
const EventStreamType = "text/event-stream"

// HeartbeatEvery is how often a comment keeps a silent stream alive: proxies cut connections that are idle for 30 seconds or more.
const HeartbeatEvery = 15 * time.Second
