package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/ostraka/ostraka/client/answer"
)

// explain gives an error from the server the exit code and the hint that it stands for. doing says what was being done.
func explain(doing string, err error) error {
	var problem *answer.Error
	var away *answer.Unreachable
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &problem):
		return &exitError{code: codeOfStatus(problem.HTTPStatus), err: fmt.Errorf("%s: %w", doing, problemText(problem)), hint: hintOfProblem(problem)}
	case speaksNoTLS(err):
		return &exitError{
			code: exitUnreachable, err: fmt.Errorf("%s: %w", doing, err),
			hint: "what answers there speaks no HTTPS: write http:// in OSTRAKA_URL (or --url) where the server speaks plain HTTP, or ask its operator for HTTPS",
		}
	case errors.As(err, &away):
		return &exitError{
			code: exitUnreachable, err: fmt.Errorf("%s: %w", doing, err),
			hint: "check OSTRAKA_URL (or --url), and that the server runs",
		}
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
}

// speaksNoTLS reports whether something answered that speaks plain HTTP, or neither that nor TLS.
func speaksNoTLS(err error) bool {
	var garbled tls.RecordHeaderError
	return errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, &garbled)
}

// hintOfProblem is the server's advice, which is for writers of requests, if this program has none in its own
// words.
func hintOfProblem(p *answer.Error) string {
	if p.HTTPStatus == http.StatusUnauthorized {
		return "set OSTRAKA_KEY, or give --key-file, to a key that exists, has not expired and was not revoked"
	}
	return p.Hint
}

// problemText says all that was wrong, and adds to a fault of the server the name by which its operator finds it in the log.
func problemText(p *answer.Error) error {
	if p.HTTPStatus >= http.StatusInternalServerError && p.RequestID != "" {
		return fmt.Errorf("%w (request %s)", p, p.RequestID)
	}
	found := moreFaults.FindStringSubmatch(p.Detail)
	if found == nil || len(p.Errors) < 2 {
		return p
	}
	text := strings.TrimSuffix(p.Detail, found[0])
	for _, e := range p.Errors[1:] {
		text += "; "
		if e.Location != "" {
			text += e.Location + ": "
		}
		text += e.Message
	}
	if more, err := strconv.Atoi(found[1]); err == nil && more >= len(p.Errors) {
		text += fmt.Sprintf(" (and %d more)", more-len(p.Errors)+1)
	}
	return &several{problem: p, text: text}
}

// several is a problem with all faults named.
type several struct {
	problem *answer.Error
	text    string
}

func (s *several) Error() string { return s.text }

// Unwrap is the problem.
func (s *several) Unwrap() error { return s.problem }

// moreFaults is how a problem's detail says that it names the first of several; some of them are listed beside it.
var moreFaults = regexp.MustCompile(` \(and (\d+) more\)$`)

// codeOfStatus is the one table from HTTP statuses to exit codes.
func codeOfStatus(status int) int {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return exitAuth
	case status == http.StatusNotFound, status == http.StatusGone:
		return exitNotFound
	case status >= http.StatusInternalServerError, status == http.StatusRequestTimeout, status == http.StatusTooManyRequests:
		return exitUnreachable
	default:
		return exitRefused
	}
}

// isNotFound says whether a server has answered that there is no such thing.
func isNotFound(err error) bool {
	var problem *answer.Error
	return errors.As(err, &problem) && problem.HTTPStatus == http.StatusNotFound
}
