package api

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

// operation is what the API says of one operation. Who may call it stands here, beside the operation, and nowhere else: the
// specification and the check of every request are made from it.
type operation struct {
	id      string // operationId, lowerCamelCase: clients name their functions after it
	method  string
	path    string
	tag     string
	summary string
	about   string // more than the summary says, in Markdown
	access  access
	status  int // of success; 0: 200, or 204 without a body
	body    body
	retry   retry
	stream  bool                      // of events: it may be open for long
	waits   bool                      // also where the request does not say so
	answers map[string]*huma.Response // beyond those that follow from the output type

	// early refuses, before the body is read, what needs no body to be refused; nil: nothing.
	early func(ctx context.Context, c *call) error
}

// access says who may call an operation.
type access struct {
	roles    []functions.Role // nil: see the other fields
	enrolled bool             // authenticated by an enrolment token, which the operation itself checks; it may be missing

	opensSession bool // takes sign-in links as well, and no cookies
}

// rolesExtension is where the specification lists the roles that may call an operation.
const rolesExtension = "x-ostraka-roles"

// anyone marks operations without authentication.
var anyone = access{}

func roles(r ...functions.Role) access { return access{roles: r} }

// byEnrolmentToken marks the operation by which agents join.
func byEnrolmentToken() access { return access{enrolled: true} }

// body says what an operation reads. The zero value reads nothing.
type body struct {
	limit    int64  // bytes; 0: no body
	stream   string // media type of a body that the handler reads as a stream; "": JSON, read and checked before the handler runs
	optional bool   // the request may have no body
	schemaOf any    // a value of the type that documents a JSON body which the handler decodes itself
}

// retry says what sending a POST again does.
type retry int

const (
	retrySafe    retry = iota // the operation does the same thing only once by its nature, with or without an Idempotency-Key
	retryWithKey              // an Idempotency-Key makes the server answer the second request with what the first one made
)

// handler runs one operation. Errors become problems in one place, see problemOf.
type handler[I, O any] func(ctx context.Context, c *call, in *I) (*O, error)

// register declares an operation and binds its handler.
func register[I, O any](s *server, op operation, handle handler[I, O]) {
	h := op.describe(s.huma.OpenAPI().Components.Schemas)
	of := &shape{registry: s.huma.OpenAPI().Components.Schemas}
	h.Middlewares = huma.Middlewares{s.prepare(op, of)}
	huma.Register(s.huma, h, func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, callOf(ctx), in)
		if err != nil {
			return nil, s.answer(ctx, err)
		}
		return out, nil
	})
	if h.RequestBody != nil && op.body.stream == "" {
		of.schema = h.RequestBody.Content["application/json"].Schema // huma has made it of the input's type
	}
}

// describe makes huma's description of an operation, which becomes the specification.
func (op operation) describe(registry huma.Registry) huma.Operation {
	h := huma.Operation{
		OperationID:                  op.id,
		Method:                       op.method,
		Path:                         op.path,
		Tags:                         []string{op.tag},
		Summary:                      op.summary,
		Description:                  op.text(),
		DefaultStatus:                op.status,
		MaxBodyBytes:                 op.body.limit + 1, // the limit is enforced by readBody; huma refuses a body that is as long as its own
		BodyReadTimeout:              -1,
		RejectUnknownQueryParameters: true,
		Extensions:                   map[string]any{},
		Responses:                    op.responses(registry),
	}
	if op.body.limit > 0 {
		h.RequestBody = op.requestBody(registry)
		h.SkipValidateBody = true // see shape
	}
	switch {
	case op.access.enrolled:
		h.Security = []map[string][]string{{schemeEnrolment: {}}, {}}
	case op.access.roles != nil:
		h.Security = []map[string][]string{{schemeKey: {}}}
		if !op.access.opensSession && !slices.Equal(op.access.roles, []functions.Role{functions.RoleAgent}) {
			h.Security = append(h.Security, map[string][]string{schemeSession: {}})
		}
		h.Extensions[rolesExtension] = op.access.roles
	}
	if op.method == http.MethodPost {
		h.Parameters = append(h.Parameters, idempotencyKeyParam())
		if slices.Equal(op.access.roles, []functions.Role{functions.RoleAgent}) {
			h.Parameters = append(h.Parameters, instanceParam())
		}
	}
	return h
}

func (op operation) requestBody(registry huma.Registry) *huma.RequestBody {
	content := map[string]*huma.MediaType{}
	switch {
	case op.body.stream != "":
		content[op.body.stream] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	case op.body.schemaOf != nil:
		content["application/json"] = &huma.MediaType{Schema: schemaOf(registry, op.body.schemaOf)}
	default:
		content["application/json"] = &huma.MediaType{} // huma adds the schema of the input's Body
	}
	return &huma.RequestBody{Required: !op.body.optional, Content: content, Extensions: map[string]any{"x-ostraka-max-bytes": op.body.limit}}
}

// responses are those that do not follow from the output type.
func (op operation) responses(registry huma.Registry) map[string]*huma.Response {
	all := map[string]*huma.Response{"default": {
		Description: "A problem.", Content: map[string]*huma.MediaType{problemType: {Schema: schemaOf(registry, Problem{})}},
	}}
	maps.Copy(all, op.answers)
	return all
}

// text adds to what the author wrote what follows from the declaration.
func (op operation) text() string {
	text := op.about
	add := func(more string) {
		if text != "" {
			text += "\n\n"
		}
		text += more
	}
	if op.body.limit > 0 {
		add("The body has at most " + strconv.FormatInt(op.body.limit, 10) + " bytes.")
	}
	if op.method == http.MethodPost && op.retry == retrySafe {
		add("Sending the same request again does no harm, with or without an `Idempotency-Key`.")
	}
	return text
}

// answer logs what the caller must not see and returns what it may.
func (s *server) answer(ctx context.Context, err error) error {
	c := callOf(ctx)
	if errors.Is(err, context.Canceled) && (ctx.Err() != nil || s.stopping.Err() != nil) {
		p := newProblem(http.StatusServiceUnavailable, codeStopping, "the server is stopping, or the request was given up, before it was done", "send it again")
		p.RequestID = c.requestID
		return p
	}
	p, known := problemOf(err)
	p.RequestID = c.requestID
	level := slog.LevelDebug
	if p.Code != codeBusy && (!known || p.Status >= http.StatusInternalServerError) { // a client that makes the server busy must not fill its log as well
		level = slog.LevelError
	}
	s.log.Log(ctx, level, "request refused", "request_id", c.requestID, "operation", c.operation, "status", p.Status, "code", p.Code, "error", err)
	return p
}
