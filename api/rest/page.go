package rest

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/runtime/inputfile"
)

// DefaultListLimit is how many items a list has when the request does not say.
const DefaultListLimit = 100

// Paging are the parameters of a list.
type Paging struct {
	Cursor string `query:"cursor" maxLength:"800" doc:"The next_cursor of the page before; left out for the first page."`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"How many items at most."`
}

// List is one page of a list.
type List[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"next_cursor,omitempty" doc:"Give it as cursor to get the next page. Left out on the last page; the page after a full one may be empty."`
}

// Listed answers with a page of a list.
type Listed[T any] struct {
	Link string `header:"Link" doc:"The next page, as rel=next."`
	Body List[T]
}

// A cursor is opaque to clients. Its first byte says what the rest is, so that a cursor of one list is not taken for one of another.
const (
	CursorOfID     = 'i'
	CursorOfNumber = 'n'
	CursorOfName   = 's'
	CursorOfFile   = 'f'
)

// Page turns the parameters into what the domain asks for.
func (p Paging) Page(kind byte) (functions.ListPage, error) {
	page := functions.ListPage{Limit: p.Limit}
	if p.Cursor == "" {
		return page, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err != nil || len(text) < 2 || text[0] != kind || !cursorFits(kind, string(text[1:])) {
		return page, NewProblem(http.StatusUnprocessableEntity, CodeBadCursor, "the cursor is not one of this list",
			"give next_cursor of the page before as it is, or leave the cursor out to start again")
	}
	page.After = string(text[1:])
	return page, nil
}

func cursorFits(kind byte, after string) bool {
	switch kind {
	case CursorOfID:
		id, err := uuid.Parse(after)
		return err == nil && id.String() == after
	case CursorOfNumber:
		n, err := strconv.ParseInt(after, 10, 64)
		return err == nil && n >= 0
	case CursorOfFile:
		return inputfile.CheckName(after) == nil
	default:
		return IsName(after)
	}
}

// AnswerList makes the answer of a list; after names an item to continue after.
func AnswerList[T any](c *Call, page functions.ListPage, items []T, kind byte, after func(T) string) *Listed[T] {
	out := &Listed[T]{Body: List[T]{Items: items}}
	if items == nil {
		out.Body.Items = []T{}
	}
	if len(items) == 0 || len(items) < page.Limit {
		return out
	}
	cursor := base64.RawURLEncoding.EncodeToString([]byte(string(kind) + after(items[len(items)-1])))
	out.Body.NextCursor = cursor
	next := *c.Request.URL
	query := next.Query()
	query.Set("cursor", cursor)
	next.RawQuery = query.Encode()
	out.Link = fmt.Sprintf("<%s>; rel=\"next\"", next.RequestURI())
	return out
}

// IsName says whether text may be the name of a project, function, module or rule.
func IsName(text string) bool {
	if text == "" || len(text) > 63 || text[0] < 'a' || text[0] > 'z' {
		return false
	}
	for _, c := range text {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// ListInProject asks for a list of a project.
type ListInProject struct {
	InProject
	Paging
}

// Read returns the project and page of a list.
func (in ListInProject) Read(kind byte) (uuid.UUID, functions.ListPage, error) {
	project, err := in.ID()
	if err != nil {
		return uuid.UUID{}, functions.ListPage{}, err
	}
	page, err := in.Page(kind)
	return project, page, err
}

// AnswerListOfProject answers with a page of all that a project has of something; after names an item to continue after.
func AnswerListOfProject[T any](ctx context.Context, c *Call, in *ListInProject, kind byte, list func(context.Context, uuid.UUID, functions.ListPage) ([]T, error), after func(T) string) (*Listed[T], error) {
	project, page, err := in.Read(kind)
	if err != nil {
		return nil, err
	}
	items, err := list(ctx, project, page)
	if err != nil {
		return nil, err
	}
	return AnswerList(c, page, items, kind, after), nil
}

// ListOfJob asks for a list of a job.
type ListOfJob struct {
	JobPath
	Paging
}

// AnswerListOfJob answers with a page of what a job has of something, in the order of its numbers.
func AnswerListOfJob[T any](ctx context.Context, c *Call, in *ListOfJob, list func(ctx context.Context, project, job uuid.UUID, page functions.ListPage) ([]T, error), number func(T) int64) (*Listed[T], error) {
	project, job, err := in.IDs()
	if err != nil {
		return nil, err
	}
	page, err := in.Page(CursorOfNumber)
	if err != nil {
		return nil, err
	}
	items, err := list(ctx, project, job, page)
	if err != nil {
		return nil, err
	}
	return AnswerList(c, page, items, CursorOfNumber, func(item T) string { return strconv.FormatInt(number(item), 10) }), nil
}
