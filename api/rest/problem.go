package rest

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
)

// Problem is every error that the API answers with, in the form of RFC 9457.
type Problem struct {
	Type      string         `json:"type" doc:"Where the problem is explained, relative to the server." example:"/docs/problems#not_found"`
	Title     string         `json:"title" doc:"What kind of problem it is, in a few words." example:"Not Found"`
	Status    int            `json:"status" doc:"The HTTP status code." example:"404"`
	Detail    string         `json:"detail" doc:"What was wrong with this request."`
	Code      string         `json:"code" doc:"A stable name for programs to branch on." example:"not_found"`
	Hint      string         `json:"hint" doc:"What to do next."`
	RequestID string         `json:"request_id" doc:"Names the request in the server's log."`
	Errors    []ProblemField `json:"errors,omitempty" doc:"What is wrong where, when several things are."`

	headers http.Header
}

// ProblemField is one thing that is wrong with a request.
type ProblemField struct {
	Location string `json:"location,omitempty" doc:"Where it is." example:"body.partition.size"`
	Message  string `json:"message"`
}

// Error implements error.
func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders implements huma.HeadersError.
func (p *Problem) GetHeaders() http.Header { return p.headers }

// With gives the answer a header.
func (p *Problem) With(name, value string) *Problem {
	if p.headers == nil {
		p.headers = http.Header{}
	}
	p.headers.Set(name, value)
	return p
}

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return problemType }

const problemType = "application/problem+json"

// statusOf is the one table from kinds of error to HTTP statuses.
func statusOf(kind functions.Kind) int {
	switch kind {
	case functions.KindInvalid:
		return http.StatusUnprocessableEntity
	case functions.KindUnauthorized:
		return http.StatusUnauthorized
	case functions.KindForbidden:
		return http.StatusForbidden
	case functions.KindNotFound:
		return http.StatusNotFound
	case functions.KindGone:
		return http.StatusGone
	case functions.KindConflict:
		return http.StatusConflict
	case functions.KindPrecondition:
		return http.StatusPreconditionFailed
	case functions.KindTooLarge:
		return http.StatusRequestEntityTooLarge
	case functions.KindExhausted:
		return http.StatusTooManyRequests
	case functions.KindUnavailable:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// ProblemOf turns an error into what the caller may see of it. known is false for a fault of the server: of it the caller sees
// nothing but the request's ID.
func ProblemOf(err error) (p *Problem, known bool) {
	var problem *Problem
	if errors.As(err, &problem) {
		shown := *problem
		return &shown, true
	}
	var domain *functions.Error
	if errors.As(err, &domain) && statusOf(domain.Kind) != http.StatusInternalServerError {
		p := NewProblem(statusOf(domain.Kind), domain.Code, domain.Message, domain.Hint)
		if domain.Quota != nil {
			p.headers = quotaHeaders(domain.Quota)
		}
		return p, true
	}
	var refused *partition.Error
	if errors.As(err, &refused) {
		return partitionProblem(refused), true
	}
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return bodyTooLarge(tooLarge.Limit), true
	}
	var broken *bodyError
	if errors.As(err, &broken) {
		return bodyProblem(broken, 0), true
	}
	return NewProblem(http.StatusInternalServerError, CodeInternal, "something went wrong on the server",
		"try again later; if it stays, give the operator the request_id"), false
}

// NewProblem is a problem with a code of codes.go.
func NewProblem(status int, code, detail, hint string) *Problem {
	p := &Problem{Type: ProblemsPath + "#" + code, Title: http.StatusText(status), Status: status, Detail: detail, Code: code, Hint: hint}
	switch status {
	case http.StatusUnauthorized:
		p.headers = http.Header{"Www-Authenticate": {`Bearer realm="ostraka"`}}
	case http.StatusServiceUnavailable:
		p.headers = http.Header{"Retry-After": {retryAfter}}
	}
	return p
}

// retryAfter is how long clients should leave an unavailable server alone, in seconds: long enough for a database to fail over.
const retryAfter = "5"

func partitionProblem(e *partition.Error) *Problem {
	detail := e.Detail
	if e.Field != "" {
		detail = fmt.Sprintf("partition.%s: %s", e.Field, e.Detail)
	} else if e.Line > 0 {
		detail = fmt.Sprintf("item %d: %s", e.Line, e.Detail)
	}
	return NewProblem(http.StatusUnprocessableEntity, string(e.Code), detail, e.Hint)
}

func bodyTooLarge(limit int64) *Problem {
	return NewProblem(http.StatusRequestEntityTooLarge, CodeBodyTooLarge, fmt.Sprintf("the body has more than %d bytes", limit),
		"send less at once; the limits of each operation are in /docs")
}

// problemFromHuma says in our words what huma found wrong with a request. huma's message is a sentence for one cause and "validation
// failed" for several; values are left out, because they may be secrets or megabytes.
func problemFromHuma(m *huma.ErrorModel) *Problem {
	code, hint := CodeInvalidRequest, "correct what is listed under errors; the operation's parameters and body are described in /docs"
	detail := m.Detail
	if len(m.Errors) > 0 {
		detail = fieldText(m.Errors[0])
		if more := len(m.Errors) - 1; more > 0 {
			detail = fmt.Sprintf("%s (and %d more)", detail, more)
		}
	}
	switch m.Status {
	case http.StatusUnsupportedMediaType:
		code, detail, hint = CodeUnsupportedMedia, "the Content-Type of the body is not one that this operation reads", "send the body as application/json and say so in Content-Type"
	case http.StatusNotAcceptable:
		code, hint = CodeNotAcceptable, "leave the Accept header out or ask for application/json"
	case http.StatusRequestEntityTooLarge:
		code, hint = CodeBodyTooLarge, "send less at once; the limits of each operation are in /docs"
	case http.StatusBadRequest:
		code, hint = CodeBadJSON, "send one JSON object as the body; see /docs for the operation's body"
	}
	p := NewProblem(m.Status, code, detail, hint)
	for _, e := range m.Errors[:min(len(m.Errors), maxProblemErrors)] {
		p.Errors = append(p.Errors, ProblemField{Location: e.Location, Message: plainNumber(e.Message)})
	}
	return p
}

// maxProblemErrors is how many faults one answer lists: a body can have tens of thousands, and its answer must not be larger than it.
const maxProblemErrors = 10

func fieldText(e *huma.ErrorDetail) string {
	if e.Location == "" {
		return plainNumber(e.Message)
	}
	return e.Location + ": " + plainNumber(e.Message)
}

// plainNumber writes the bound of a number as people do: huma says "expected number <= 1e+06".
func plainNumber(message string) string {
	for _, bound := range [][2]string{
		{"expected number >= ", "must be a number, and %s at least"},
		{"expected number <= ", "must be a number, and %s at most"},
		{"expected number > ", "must be a number, and more than %s"},
		{"expected number < ", "must be a number, and less than %s"},
	} {
		text, found := strings.CutPrefix(message, bound[0])
		if !found {
			continue
		}
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			return fmt.Sprintf(bound[1], strconv.FormatFloat(value, 'f', -1, 64))
		}
	}
	return message
}
