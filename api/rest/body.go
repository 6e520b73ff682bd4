package rest

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
)

// bodyReadTimeout is how long a JSON body may take to arrive: the largest takes three seconds on a line of 10 Mbit/s.
const bodyReadTimeout = 30 * time.Second

// The bounds of JSON bodies that are held at a time. A body costs several times its size while it is read into its type.
const (
	bodiesHeld     = 32 << 20        // bytes of a process: two of the largest posts of results
	bodiesHeldEach = MaxResultsBody  // bytes of one key's or, without a key, one address's requests
	bodiesWait     = 2 * time.Second // for others to be done
	smallBody      = 16 << 10        // bytes; bodies up to this are bounded by the number of connections
)

// readBody reads and checks a JSON body, or bounds one that the handler reads as a stream. The body may be held until release.
func (s *Server) readBody(rule Body, of shape, c *Call) (release func(), err error) {
	release = func() {}
	r := c.Request
	if rule.Limit == 0 {
		return release, passOver(c)
	}
	control := http.NewResponseController(c.Writer)
	if rule.Stream != "" {
		_ = control.SetReadDeadline(time.Time{}) // a large body on a slow line; streamBody bounds each read
		r.Body = &streamBody{body: http.MaxBytesReader(c.Writer, r.Body, rule.Limit), control: control}
		return release, nil
	}
	if r.ContentLength > rule.Limit {
		return nil, bodyTooLarge(rule.Limit)
	}
	held, err := s.reserve(rule, c)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			held()
		}
	}()
	if c.Body, err = readAll(c, control, rule.Limit); err != nil {
		return nil, bodyProblem(err, rule.Limit)
	}
	if rule.Optional && len(c.Body) == 0 {
		r.Body = http.NoBody
		return held, nil
	}
	if err = checkBody(rule, of, c.Body); err != nil {
		return nil, err
	}
	if err = checkMediaType(r); err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(c.Body))
	return held, nil
}

// idleBody is how large a body may be where none is read, in bytes: some clients send {} with every POST.
const idleBody = 4 << 10

// idleBodyTimeout is how long it may take to arrive.
const idleBodyTimeout = 5 * time.Second

// passOver reads and drops a body. Left alone, net/http would wait for it before it sends the answer.
func passOver(c *Call) error {
	r := c.Request
	if r.ContentLength == 0 {
		return nil
	}
	if r.ContentLength > idleBody {
		return bodyTooLarge(idleBody)
	}
	control := http.NewResponseController(c.Writer)
	_ = control.SetReadDeadline(time.Now().Add(idleBodyTimeout))
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(c.Writer, r.Body, idleBody)); err != nil {
		return bodyProblem(err, idleBody)
	}
	_ = control.SetReadDeadline(time.Time{})
	return nil
}

// forgetBody has the connection end after an answer that did not read its request's body, and not wait for that.
func forgetBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		return
	}
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second))
}

// reserve takes room for the body, if it is not small. A body whose length is not said may have any.
func (s *Server) reserve(rule Body, c *Call) (release func(), err error) {
	size := c.Request.ContentLength
	if size < 0 {
		size = rule.Limit
	}
	if size <= smallBody {
		return func() {}, nil
	}
	release, ok := s.Doors.bodies.Take(c.Request.Context(), c.client(), size)
	if !ok {
		return nil, NewProblem(http.StatusServiceUnavailable, CodeBusy, "the server holds as many request bodies as it may", "send it again in a moment, or send less at once")
	}
	return release, nil
}

// client names who the request is from, where clients are counted: its key, or its address.
func (c *Call) client() string {
	if c.Principal.KeyID != uuid.Nil {
		return c.Principal.KeyID.String()
	}
	return Peer(c.Request).String()
}

// readAll reads the body, which the limit bounds.
func readAll(c *Call, control *http.ResponseController, limit int64) ([]byte, error) {
	_ = control.SetReadDeadline(time.Now().Add(bodyReadTimeout))
	var buffer bytes.Buffer
	if n := c.Request.ContentLength; n > 0 {
		buffer.Grow(int(n) + bytes.MinRead)
	}
	if _, err := buffer.ReadFrom(http.MaxBytesReader(c.Writer, c.Request.Body, limit)); err != nil {
		return nil, err
	}
	_ = control.SetReadDeadline(time.Time{})
	return buffer.Bytes(), nil
}

// checkMediaType refuses a body that says that it is not JSON.
func checkMediaType(r *http.Request) error {
	stated := r.Header.Get("Content-Type")
	if stated == "" {
		return nil
	}
	media, _, err := mime.ParseMediaType(stated)
	if err == nil && (media == "application/json" || strings.HasSuffix(media, "+json")) {
		return nil
	}
	return NewProblem(http.StatusUnsupportedMediaType, CodeUnsupportedMedia, "the Content-Type of the body is not one that this operation reads",
		"send the body as application/json and say so in Content-Type")
}

func bodyProblem(err error, limit int64) *Problem {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return bodyTooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return NewProblem(http.StatusRequestTimeout, CodeBodyUnreadable, "the body did not arrive in time", "send it again, or send less at once")
	default:
		return NewProblem(http.StatusBadRequest, CodeBodyUnreadable, "the body could not be read to its end", "send it again, with a Content-Length or chunked as HTTP asks")
	}
}

// streamIdleTimeout is how long a streamed body may pause.
const streamIdleTimeout = 30 * time.Second

// storeTimeout is how long storing a body may take after its last byte has come.
const storeTimeout = 2 * time.Minute

// streamBody moves the deadlines with each read: a stream may be long but not idle. After the last byte no read deadline may stay, or
// the server would take its passing for a client that has gone, and give the request up.
type streamBody struct {
	body    io.ReadCloser
	control *http.ResponseController
}

// Read implements io.Reader.
func (b *streamBody) Read(p []byte) (int, error) {
	_ = b.control.SetReadDeadline(time.Now().Add(streamIdleTimeout))
	_ = b.control.SetWriteDeadline(time.Now().Add(storeTimeout))
	n, err := b.body.Read(p)
	if err != nil {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = &bodyError{err}
	}
	return n, err
}

// Close implements io.Closer.
func (b *streamBody) Close() error { return b.body.Close() }

// bodyError is what went wrong while a body came, which is its sender's affair however deep it is noticed.
type bodyError struct{ err error }

// Error implements error.
func (e *bodyError) Error() string { return e.err.Error() }

// Unwrap is for errors.Is and errors.As.
func (e *bodyError) Unwrap() error { return e.err }
