// Package answer reads a server's answer: a value, or a problem that says what was wrong and what to do next.
package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/ostraka/ostraka/client"
)

// MaxBytes is the largest answer that is read into memory, in bytes: a full page of a list whose items all have 64 KiB of input
// stays below. Objects and results are streams and are not read here.
const MaxBytes = 64 << 20

// Error is an answer that is a problem.
type Error struct {
	client.Problem
	HTTPStatus int
	RetryAfter time.Duration // how long the server asks to be left alone; 0 where it does not say
}

func (e *Error) Error() string { return e.Detail }

// Temporary says whether the same request may work later.
func (e *Error) Temporary() bool {
	switch e.HTTPStatus {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	default:
		return e.HTTPStatus >= http.StatusInternalServerError
	}
}

// Is makes errors.Is compare by the problem's code: see Code.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && string(code) == e.Code
}

// Code is a problem's code as an error to compare with: errors.Is(err, answer.Code("lease_expired")).
type Code string

func (c Code) Error() string { return string(c) }

// Unreachable is a request that got no answer.
type Unreachable struct{ Err error }

func (u *Unreachable) Error() string {
	var wrapped *url.Error
	if errors.As(u.Err, &wrapped) {
		return "the server does not answer: " + wrapped.Err.Error() // the URL around it may be long, and says nothing new
	}
	return "the server does not answer: " + u.Err.Error()
}

// Unwrap is the cause.
func (u *Unreachable) Unwrap() error { return u.Err }

// Temporary is like Error's: it may be there again later.
func (u *Unreachable) Temporary() bool { return true }

// Temporary says whether an error of this package may go away by itself.
func Temporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

// Document is a value with the bytes that it was read from, for those who pass it on: numbers in it may be larger than the value's
// types can hold.
type Document[T any] struct {
	Value  T
	Raw    []byte
	Header http.Header
	Status int
}

// Read reads an answer whose body is JSON, or that has none (then Raw is empty). It takes what the methods of client.Client return.
func Read[T any](resp *http.Response, err error) (doc Document[T], _ error) {
	body, err := Stream(resp, err)
	if err != nil {
		return doc, err
	}
	defer body.Close()
	doc.Status, doc.Header = resp.StatusCode, resp.Header
	if doc.Raw, err = readAll(body); err != nil || len(doc.Raw) == 0 {
		return doc, err
	}
	if err := json.Unmarshal(doc.Raw, &doc.Value); err != nil {
		return doc, fmt.Errorf("reading the server's answer: %w", err)
	}
	return doc, nil
}

// Stream returns the body of an answer that is not a problem. The caller closes it.
func Stream(resp *http.Response, err error) (io.ReadCloser, error) {
	if err != nil {
		return nil, &Unreachable{err}
	}
	if resp.StatusCode >= http.StatusOK && resp.StatusCode < http.StatusMultipleChoices {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	return nil, problemOf(resp)
}

func readAll(body io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(body, MaxBytes+1))
	if err != nil {
		return nil, &Unreachable{fmt.Errorf("the answer broke off: %w", err)}
	}
	if len(raw) > MaxBytes {
		return nil, fmt.Errorf("the server's answer has more than %d bytes: ask for less at a time", MaxBytes)
	}
	return raw, nil
}

// problemOf reads a problem; what is between us and the server may answer with something else.
func problemOf(resp *http.Response) *Error {
	e := &Error{HTTPStatus: resp.StatusCode, RetryAfter: retryAfter(resp.Header.Get("Retry-After"))}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil || json.Unmarshal(raw, &e.Problem) != nil || e.Code == "" {
		e.Problem = client.Problem{
			Status: int64(resp.StatusCode), Title: http.StatusText(resp.StatusCode),
			Detail: fmt.Sprintf("the server answered %s, and not in the form of an Ostraka server", resp.Status),
			Hint:   "check the URL, and what stands between here and there",
		}
	}
	return e
}

func retryAfter(header string) time.Duration {
	if header == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
