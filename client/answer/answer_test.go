package answer

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

func response(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

func TestReadKeepsTheBytes(t *testing.T) {
	const text = `{"digest":"d","size":1,"more":18446744073709551617}`
	doc, err := Read[client.Object](response(200, text), nil)
	require.NoError(t, err)
	require.Equal(t, "d", doc.Value.Digest)
	require.Equal(t, text, string(doc.Raw), "integers above 2^53 pass as they are")
}

func TestReadOfNothing(t *testing.T) {
	doc, err := Read[client.Lease](response(204, ""), nil)
	require.NoError(t, err)
	require.Empty(t, doc.Raw)
	require.Equal(t, 204, doc.Status)
}

func TestProblem(t *testing.T) {
	_, err := Read[client.Job](response(409, `{"code":"lease_expired","detail":"too late","hint":"ask again","status":409}`), nil)
	require.ErrorIs(t, err, Code("lease_expired"))
	require.NotErrorIs(t, err, Code("lease_ended"))
	require.EqualError(t, err, "too late")
	require.False(t, Temporary(err))
	var problem *Error
	require.ErrorAs(t, err, &problem)
	require.Equal(t, "ask again", problem.Hint)
}

func TestAnswersOfOthers(t *testing.T) {
	for _, body := range []string{"<html>Bad Gateway</html>", "", "{}", "null", `{"code":7}`} {
		_, err := Read[client.Job](response(502, body), nil)
		var problem *Error
		require.ErrorAs(t, err, &problem, body)
		require.Contains(t, problem.Detail, "not in the form of an Ostraka server", body)
		require.True(t, Temporary(err), body)
	}
	_, err := Read[client.Job](response(302, "", "Location", "http://elsewhere"), nil)
	require.Error(t, err, "redirects are not followed")
	_, err = Read[client.Job](response(200, "<html>"), nil)
	require.ErrorContains(t, err, "reading the server's answer")
}

func TestTemporary(t *testing.T) {
	for status, want := range map[int]bool{400: false, 401: false, 404: false, 408: true, 409: false, 413: false, 429: true, 500: true, 503: true} {
		_, err := Read[client.Job](response(status, "{}"), nil)
		require.Equal(t, want, Temporary(err), status)
	}
	_, err := Read[client.Job](nil, &url.Error{Op: "Get", URL: "http://x/long", Err: errors.New("connection refused")})
	require.True(t, Temporary(err))
	require.EqualError(t, err, "the server does not answer: connection refused")
	_, err = Read[client.Job](nil, context.Canceled)
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, Temporary(errors.New("else")))
}

func TestRetryAfter(t *testing.T) {
	for header, want := range map[string]time.Duration{"": 0, "5": 5 * time.Second, "soon": 0, "-5": 0, "99999999999999999999": 0, "Mon, 02 Jan 2006 15:04:05 GMT": 0} {
		_, err := Read[client.Job](response(503, "{}", "Retry-After", header), nil)
		var problem *Error
		require.ErrorAs(t, err, &problem)
		require.Equal(t, want, problem.RetryAfter, header)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestReadIsBounded(t *testing.T) {
	r := response(200, "")
	r.Body = io.NopCloser(endless{})
	_, err := Read[client.Job](r, nil)
	require.ErrorContains(t, err, "ask for less")
	r = response(200, "")
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"id":`), errReader{}))
	_, err = Read[client.Job](r, nil)
	require.True(t, Temporary(err), "an answer that breaks off is as good as none")
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
