package rest

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ostraka/ostraka/functions"
)

// Operation is what the API says of one operation. Who may call it stands here, beside the operation, and nowhere else: the
// specification and the check of every request are made from it.
type Operation struct {
	ID      string // operationId, lowerCamelCase: clients name their functions after it
	Method  string
	Path    string
	Tag     string
	Summary string
	About   string // more than the summary says, in Markdown
	Access  Access
	Status  int // of success; 0: 200, or 204 without a body
	Body    Body
	Retry   retry
	Stream  bool                      // of events: it may be open for long
	Waits   bool                      // also where the request does not say so
	Ends    bool                      // something that runs or a right that somebody has: it is for when too much is asked, and waits for no turn
	Answers map[string]*huma.Response // beyond those that follow from the output type

	// Early refuses, before the body is read, what needs no body to be refused; nil: nothing.
	Early func(ctx context.Context, c *Call) error
}

// Access says who may call an operation.
type Access struct {
	Roles    []functions.Role // nil: see the other fields
	enrolled bool             // authenticated by an enrolment token, which the operation itself checks; it may be missing

	OpensSession bool // takes sign-in links as well, and no cookies
}

// RolesExtension is where the specification lists the roles that may call an operation.
const RolesExtension = "x-ostraka-roles"

// Anyone marks operations without authentication.
var Anyone = Access{}

// Roles lets keys of these roles in.
func Roles(r ...functions.Role) Access { return Access{Roles: r} }

// ByEnrolmentToken marks the operation by which agents join.
func ByEnrolmentToken() Access { return Access{enrolled: true} }

// Body says what an operation reads. The zero value reads nothing.
type Body struct {
	Limit    int64  // bytes; 0: no body
	Stream   string // media type of a body that the handler reads as a stream; "": JSON, read and checked before the handler runs
	Optional bool   // the request may have no body
	SchemaOf any    // a value of the type that documents a JSON body which the handler decodes itself
}

// retry says what sending a POST again does.
type retry int

// What sending a POST again does.
const (
	retrySafe    retry = iota // the operation does the same thing only once by its nature, with or without an Idempotency-Key
	RetryWithKey              // an Idempotency-Key makes the server answer the second request with what the first one made
)

// Handler runs one operation. Errors become problems in one place, see problemOf.
type Handler[I, O any] func(ctx context.Context, c *Call, in *I) (*O, error)

// Register declares an operation and binds its handler.
func Register[I, O any](s *Server, op Operation, handle Handler[I, O]) {
	h := op.describe(s.Huma.OpenAPI().Components.Schemas)
	of := &shape{registry: s.Huma.OpenAPI().Components.Schemas}
	h.Middlewares = huma.Middlewares{s.prepare(op, of)}
	huma.Register(s.Huma, h, func(ctx context.Context, in *I) (*O, error) {
		c := CallOf(ctx)
		done, err := s.takeTurn(ctx, op, c)
		if err != nil {
			return nil, s.answer(ctx, err)
		}
		defer done()
		out, err := handle(ctx, c, in)
		if err != nil {
			return nil, s.answer(ctx, err)
		}
		return out, nil
	})
	if h.RequestBody != nil && op.Body.Stream == "" {
		of.schema = h.RequestBody.Content["application/json"].Schema // huma has made it of the input's type
	}
}

// describe makes huma's description of an operation, which becomes the specification.
func (op Operation) describe(registry huma.Registry) huma.Operation {
	h := huma.Operation{
		OperationID:                  op.ID,
		Method:                       op.Method,
		Path:                         op.Path,
		Tags:                         []string{op.Tag},
		Summary:                      op.Summary,
		Description:                  op.text(),
		DefaultStatus:                op.Status,
		MaxBodyBytes:                 op.Body.Limit + 1, // the limit is enforced by readBody; huma refuses a body that is as long as its own
		BodyReadTimeout:              -1,
		RejectUnknownQueryParameters: true,
		Extensions:                   map[string]any{},
		Responses:                    op.responses(registry),
	}
	if op.Body.Limit > 0 {
		h.RequestBody = op.requestBody(registry)
		h.SkipValidateBody = true // see shape
	}
	switch {
	case op.Access.enrolled:
		h.Security = []map[string][]string{{SchemeEnrolment: {}}, {}}
	case op.Access.Roles != nil:
		h.Security = []map[string][]string{{SchemeKey: {}}}
		if !op.Access.OpensSession && !slices.Equal(op.Access.Roles, []functions.Role{functions.RoleAgent}) {
			h.Security = append(h.Security, map[string][]string{SchemeSession: {}})
		}
		h.Extensions[RolesExtension] = op.Access.Roles
	default: // nobody needs a key; huma leaves an empty list out
		h.Extensions["security"] = []any{}
	}
	if op.Method == http.MethodPost {
		h.Parameters = append(h.Parameters, idempotencyKeyParam())
		if slices.Equal(op.Access.Roles, []functions.Role{functions.RoleAgent}) {
			h.Parameters = append(h.Parameters, instanceParam())
		}
	}
	return h
}

func (op Operation) requestBody(registry huma.Registry) *huma.RequestBody {
	content := map[string]*huma.MediaType{}
	switch {
	case op.Body.Stream != "":
		content[op.Body.Stream] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	case op.Body.SchemaOf != nil:
		content["application/json"] = &huma.MediaType{Schema: SchemaOf(registry, op.Body.SchemaOf)}
	default:
		content["application/json"] = &huma.MediaType{} // huma adds the schema of the input's Body
	}
	return &huma.RequestBody{Required: !op.Body.Optional, Content: content, Extensions: map[string]any{"x-ostraka-max-bytes": op.Body.Limit}}
}

// responses are those that do not follow from the output type.
func (op Operation) responses(registry huma.Registry) map[string]*huma.Response {
	all := map[string]*huma.Response{"default": {
		Description: "A problem.", Content: map[string]*huma.MediaType{problemType: {Schema: SchemaOf(registry, Problem{})}},
	}}
	maps.Copy(all, op.Answers)
	return all
}

// text adds to what the author wrote what follows from the declaration.
func (op Operation) text() string {
	text := op.About
	add := func(more string) {
		if text != "" {
			text += "\n\n"
		}
		text += more
	}
	if op.Body.Limit > 0 {
		add("The body has at most " + strconv.FormatInt(op.Body.Limit, 10) + " bytes.")
	}
	if op.Method == http.MethodPost && op.Retry == retrySafe {
		add("Sending the same request again does no harm, with or without an `Idempotency-Key`.")
	}
	return text
}

// answer logs what the caller must not see and returns what it may.
func (s *Server) answer(ctx context.Context, err error) error {
	c := CallOf(ctx)
	if errors.Is(err, context.Canceled) && (ctx.Err() != nil || s.Stopping.Err() != nil) {
		p := NewProblem(http.StatusServiceUnavailable, CodeStopping, "the server is stopping, or the request was given up, before it was done", "send it again")
		p.RequestID = c.RequestID
		return p
	}
	p, known := ProblemOf(err)
	p.RequestID = c.RequestID
	level := slog.LevelDebug
	if p.Code != CodeBusy && (!known || p.Status >= http.StatusInternalServerError) { // a client that makes the server busy must not fill its log as well
		level = slog.LevelError
	}
	s.Log.Log(ctx, level, "request refused", "request_id", c.RequestID, "operation", c.Operation, "status", p.Status, "code", p.Code, "error", err)
	return p
}

// Readers are all who may read in a project.
func Readers() Access {
	return Roles(functions.RoleOwner, functions.RoleSubmitter, functions.RoleViewer, functions.RoleReviewer)
}

// Runners are all who may run jobs in a project.
func Runners() Access { return Roles(functions.RoleOwner, functions.RoleSubmitter) }
