package api

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

const octetStream = "application/octet-stream"

// alsoOK documents that an operation which creates may also answer 200 with what was there.
func alsoOK(s *server, value any, about string) map[string]*huma.Response {
	schema := schemaOf(s.huma.OpenAPI().Components.Schemas, value)
	return map[string]*huma.Response{"200": {
		Description: about, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}},
	}}
}

// bytesAnswer documents an answer that is not JSON.
func bytesAnswer(mediaType, about string) map[string]*huma.Response {
	schema := &huma.Schema{Type: huma.TypeString}
	if mediaType == octetStream {
		schema.Format = "binary"
	}
	return map[string]*huma.Response{"200": {Description: about, Content: map[string]*huma.MediaType{mediaType: {Schema: schema}}}}
}

// streamError tells the faults of a streamed body from those of the domain, which reads it: a body that breaks off or is too long is
// the client's affair, wherever it was noticed.
func streamError(err error, limit int64) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, io.ErrUnexpectedEOF) && !isDomainError(err) {
		return bodyProblem(err, limit)
	}
	return err
}

// streamIdle is how long a client may take to read a piece of a stream.
const streamIdle = 30 * time.Second

// sendObject is the body of an answer that is a stored object. When reading it fails half way the connection is cut: the client
// sees less than Content-Length, and never a short object that looks whole.
func (s *server) sendObject(r io.ReadCloser, size int64, digest string) func(huma.Context) {
	return func(hc huma.Context) {
		defer r.Close()
		c := callOf(hc.Context())
		hc.SetHeader("Content-Type", octetStream)
		hc.SetHeader("Content-Length", strconv.FormatInt(size, 10))
		hc.SetHeader("ETag", fmt.Sprintf("%q", digest))
		hc.SetStatus(http.StatusOK)
		n, err := io.Copy(&patientWriter{c.writer, http.NewResponseController(c.writer)}, r)
		if err == nil && n == size {
			return
		}
		s.log.WarnContext(hc.Context(), "sending an object broke off", "request_id", c.requestID, "operation", c.operation, "sent", n, "size", size, "error", err)
		panic(http.ErrAbortHandler)
	}
}

// patientWriter moves the write deadline with each write: an answer may be long but its reader not idle.
type patientWriter struct {
	w       io.Writer
	control *http.ResponseController
}

func (p *patientWriter) Write(b []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(streamIdle))
	return p.w.Write(b)
}

func noContent(about string) map[string]*huma.Response {
	return map[string]*huma.Response{"204": {Description: about}}
}

// isDomainError says whether the domain has put a fault into words already.
func isDomainError(err error) bool {
	var domain *functions.Error
	return errors.As(err, &domain)
}
