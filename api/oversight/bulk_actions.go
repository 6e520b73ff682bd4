package oversight

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/bulk"
)

// BulkActions is what the API asks of the domain about one thing that is done to many. The nil project stands for the whole installation.
type BulkActions interface {
	PlanBulkAction(ctx context.Context, project uuid.UUID, start bulk.Start) (bulk.BulkPlan, error)
	StartBulkAction(ctx context.Context, by functions.Principal, project uuid.UUID, start bulk.Start, idem functions.Idempotency) (d bulk.BulkActionDetail, replayed bool, err error)
	ListBulkActions(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]bulk.BulkAction, error) // the newest first
	GetBulkAction(ctx context.Context, project, id uuid.UUID) (bulk.BulkActionDetail, error)
	CancelBulkAction(ctx context.Context, by functions.Principal, project, id uuid.UUID) (bulk.BulkActionDetail, error) // cancelling twice is harmless
	RetryBulkAction(ctx context.Context, by functions.Principal, project, id uuid.UUID) (bulk.BulkActionDetail, error)
	UndoBulkAction(ctx context.Context, by functions.Principal, project, id uuid.UUID, reason string, idem functions.Idempotency) (d bulk.BulkActionDetail, replayed bool, err error)
}

// BulkRequest is a bulk action as it is asked for.
type BulkRequest struct {
	Subject string          `json:"subject" enum:"flags,jobs,agents"`
	Action  string          `json:"action" minLength:"1" maxLength:"40" doc:"What is done to each: of flags reject, rerun, recheck, pardon or dismiss; of jobs cancel, delete or archive; of a project's agents admit or exclude; of the installation's approve, drain, resume, quarantine or revoke."`
	Filter  bulk.BulkFilter `json:"filter" doc:"To which. What the action cannot be done to now is left out."`
	All     bool            `json:"all,omitempty" doc:"Where the filter is empty: all of them are meant. An empty filter without it is refused."`
	Reason  string          `json:"reason" minLength:"1" maxLength:"2000" doc:"Why, for the audit log: it is recorded with each item. About agents it has at most 300 characters."`
	// Expected keeps people from doing to more than they have seen.
	Expected *int64 `json:"expected,omitempty" minimum:"1" doc:"How many items a plan has said: where another number is chosen now, nothing is done."`
}

func (r BulkRequest) start() bulk.Start {
	return bulk.Start{Subject: bulk.BulkSubject(r.Subject), Action: r.Action, Filter: r.Filter, All: r.All, Reason: r.Reason, Expected: r.Expected}
}

// StartBulkInput is a new bulk action in a project.
type StartBulkInput struct {
	rest.InProject
	Body BulkRequest
}

// StartServerBulkInput is a new bulk action about the installation.
type StartServerBulkInput struct {
	Body BulkRequest
}

// BulkPath names a bulk action of a project.
type BulkPath struct {
	rest.InProject
	ServerBulkPath
}

// ServerBulkPath names a bulk action.
type ServerBulkPath struct {
	Bulk rest.PathID `path:"bulk"`
}

// BulkUndo says why what a bulk action has done is taken back.
type BulkUndo struct {
	Reason string `json:"reason" minLength:"1" maxLength:"2000" doc:"Why, for the audit log."`
}

// UndoBulkInput takes back a bulk action of a project.
type UndoBulkInput struct {
	BulkPath
	Body BulkUndo
}

// UndoServerBulkInput takes back a bulk action about the installation.
type UndoServerBulkInput struct {
	ServerBulkPath
	Body BulkUndo
}

type bulkOutput struct {
	Body bulk.BulkActionDetail
}

type bulkPlanOutput struct {
	Body bulk.BulkPlan
}

type startedBulkOutput struct {
	rest.Replayed
	Location string `header:"Location"`
	Body     bulk.BulkActionDetail
}

// What bulk operations say of themselves.
const (
	aboutBulk = "What it is about is chosen now; each item is then decided by the guardian, done and recorded in the audit log as if it had been asked for alone, with the rights of whoever begins it. " +
		"It goes on after a crash, and stops when the key with which it was begun is revoked."
	aboutBulkRoles = "It takes a key that may do the same to one item."
)

// BulkOperations come after those that do to one what bulk actions do to many: who may begin one follows from them.
func (s *server) bulkOperations() {
	const path = "/v1/projects/{project}/bulk-actions"
	const one = path + "/{bulk}"
	begin := rest.Roles(functions.RoleOwner, functions.RoleSubmitter, functions.RoleReviewer, functions.RoleOperator)
	look := rest.Roles(append(rest.Readers().Roles, functions.RoleOperator)...) // whoever may begin one sees how far it is
	mine := func(in BulkPath) (project, id uuid.UUID, err error) { return in.And("bulk action", in.Bulk) }
	rest.Register(s.Server, rest.Operation{
		ID: "planBulkAction", Method: http.MethodPost, Path: "/v1/projects/{project}/bulk-action-plans", Tag: "bulk actions", Summary: "Say to what a bulk action would be done",
		Access: begin, Body: rest.Body{Limit: rest.MaxJSONBody},
	}, func(ctx context.Context, c *rest.Call, in *StartBulkInput) (*bulkPlanOutput, error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.planBulk(ctx, c, project, in.Body)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "startBulkAction", Method: http.MethodPost, Path: path, Tag: "bulk actions", Summary: "Do one thing to many flags, jobs or agents", About: aboutBulk + " " + aboutBulkRoles,
		Access: begin, Status: http.StatusCreated, Body: rest.Body{Limit: rest.MaxJSONBody}, Retry: rest.RetryWithKey,
	}, func(ctx context.Context, c *rest.Call, in *StartBulkInput) (*startedBulkOutput, error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.startBulk(ctx, c, project, in.Body)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "listBulkActions", Method: http.MethodGet, Path: path, Tag: "bulk actions", Summary: "List bulk actions, the newest first", Access: look,
	}, func(ctx context.Context, c *rest.Call, in *rest.ListInProject) (*rest.Listed[bulk.BulkAction], error) {
		return rest.AnswerListOfProject(ctx, c, in, rest.CursorOfID, s.service.ListBulkActions, func(a bulk.BulkAction) string { return a.ID.String() })
	})
	rest.Register(s.Server, rest.Operation{
		ID: "getBulkAction", Method: http.MethodGet, Path: one, Tag: "bulk actions", Summary: "Get a bulk action: how far it is, and what failed", Access: look,
	}, func(ctx context.Context, _ *rest.Call, in *BulkPath) (*bulkOutput, error) {
		project, id, err := mine(*in)
		if err != nil {
			return nil, err
		}
		return bulkAnswer(s.service.GetBulkAction(ctx, project, id))
	})
	rest.Register(s.Server, rest.Operation{
		ID: "cancelBulkAction", Method: http.MethodPost, Path: one + "/cancel", Tag: "bulk actions", Summary: "Stop a bulk action", About: "What it has done stays. " + aboutBulkRoles, Access: begin, Ends: true,
	}, func(ctx context.Context, c *rest.Call, in *BulkPath) (*bulkOutput, error) {
		project, id, err := mine(*in)
		if err != nil {
			return nil, err
		}
		return s.changeBulk(ctx, c, project, id, BulkActions.CancelBulkAction)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "retryBulkAction", Method: http.MethodPost, Path: one + "/retry", Tag: "bulk actions", Summary: "Do what failed in a bulk action again",
		About: "And what was left of one that was cancelled. It has the rights of whoever asks from then on. " + aboutBulkRoles, Access: begin,
	}, func(ctx context.Context, c *rest.Call, in *BulkPath) (*bulkOutput, error) {
		project, id, err := mine(*in)
		if err != nil {
			return nil, err
		}
		return s.changeBulk(ctx, c, project, id, BulkActions.RetryBulkAction)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "undoBulkAction", Method: http.MethodPost, Path: one + "/undo", Tag: "bulk actions", Summary: "Take back what a bulk action has done",
		About:  "It makes another bulk action, of the items that were done, where the bulk action says in `undo` what takes it back. " + aboutBulkRoles,
		Access: begin, Status: http.StatusCreated, Body: rest.Body{Limit: rest.MaxJSONBody}, Retry: rest.RetryWithKey,
	}, func(ctx context.Context, c *rest.Call, in *UndoBulkInput) (*startedBulkOutput, error) {
		project, id, err := mine(in.BulkPath)
		if err != nil {
			return nil, err
		}
		return s.undoBulk(ctx, c, project, id, in.Body.Reason)
	})
	s.serverBulkOperations()
}

// serverBulkOperations are those about agents of the whole installation.
func (s *server) serverBulkOperations() {
	const path = "/v1/bulk-actions"
	const one = path + "/{bulk}"
	operators := rest.Roles(functions.RoleOperator)
	rest.Register(s.Server, rest.Operation{
		ID: "planServerBulkAction", Method: http.MethodPost, Path: "/v1/bulk-action-plans", Tag: "bulk actions", Summary: "Say to which agents a bulk action would be done",
		Access: operators, Body: rest.Body{Limit: rest.MaxJSONBody},
	}, func(ctx context.Context, c *rest.Call, in *StartServerBulkInput) (*bulkPlanOutput, error) {
		return s.planBulk(ctx, c, uuid.Nil, in.Body)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "startServerBulkAction", Method: http.MethodPost, Path: path, Tag: "bulk actions", Summary: "Do one thing to many agents of the installation", About: aboutBulk,
		Access: operators, Status: http.StatusCreated, Body: rest.Body{Limit: rest.MaxJSONBody}, Retry: rest.RetryWithKey,
	}, func(ctx context.Context, c *rest.Call, in *StartServerBulkInput) (*startedBulkOutput, error) {
		return s.startBulk(ctx, c, uuid.Nil, in.Body)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "listServerBulkActions", Method: http.MethodGet, Path: path, Tag: "bulk actions", Summary: "List bulk actions about the installation, the newest first", Access: operators,
	}, func(ctx context.Context, c *rest.Call, in *rest.Paging) (*rest.Listed[bulk.BulkAction], error) {
		page, err := in.Page(rest.CursorOfID)
		if err != nil {
			return nil, err
		}
		items, err := s.service.ListBulkActions(ctx, uuid.Nil, page)
		if err != nil {
			return nil, err
		}
		return rest.AnswerList(c, page, items, rest.CursorOfID, func(a bulk.BulkAction) string { return a.ID.String() }), nil
	})
	rest.Register(s.Server, rest.Operation{
		ID: "getServerBulkAction", Method: http.MethodGet, Path: one, Tag: "bulk actions", Summary: "Get a bulk action about the installation", Access: operators,
	}, func(ctx context.Context, _ *rest.Call, in *ServerBulkPath) (*bulkOutput, error) {
		id, err := rest.ReadID("bulk action", in.Bulk)
		if err != nil {
			return nil, err
		}
		return bulkAnswer(s.service.GetBulkAction(ctx, uuid.Nil, id))
	})
	for _, change := range []struct {
		id, verb, summary, about string
		do                       bulkChange
	}{
		{"cancelServerBulkAction", "cancel", "Stop a bulk action about the installation", "What it has done stays.", BulkActions.CancelBulkAction},
		{"retryServerBulkAction", "retry", "Do what failed in a bulk action about the installation again", "And what was left of one that was cancelled.", BulkActions.RetryBulkAction},
	} {
		rest.Register(s.Server, rest.Operation{
			ID: change.id, Method: http.MethodPost, Path: one + "/" + change.verb, Tag: "bulk actions", Summary: change.summary, About: change.about, Access: operators,
		}, func(ctx context.Context, c *rest.Call, in *ServerBulkPath) (*bulkOutput, error) {
			id, err := rest.ReadID("bulk action", in.Bulk)
			if err != nil {
				return nil, err
			}
			return s.changeBulk(ctx, c, uuid.Nil, id, change.do)
		})
	}
	rest.Register(s.Server, rest.Operation{
		ID: "undoServerBulkAction", Method: http.MethodPost, Path: one + "/undo", Tag: "bulk actions", Summary: "Take back what a bulk action about the installation has done",
		About: "It makes another bulk action, of the items that were done.", Access: operators, Status: http.StatusCreated, Body: rest.Body{Limit: rest.MaxJSONBody}, Retry: rest.RetryWithKey,
	}, func(ctx context.Context, c *rest.Call, in *UndoServerBulkInput) (*startedBulkOutput, error) {
		id, err := rest.ReadID("bulk action", in.Bulk)
		if err != nil {
			return nil, err
		}
		return s.undoBulk(ctx, c, uuid.Nil, id, in.Body.Reason)
	})
}

// bulkChange is a method of the service, which is not there yet where only the specification is made.
type bulkChange func(b BulkActions, ctx context.Context, by functions.Principal, project, id uuid.UUID) (bulk.BulkActionDetail, error)

// mayDoToMany refuses whoever may not do to one what is to be done to many. What is no action the domain refuses.
func (s *server) mayDoToMany(c *rest.Call, project uuid.UUID, subject bulk.BulkSubject, action string) error {
	operation, known := bulk.Operations(project != uuid.Nil, subject)[action]
	if !known {
		return nil
	}
	allowed := s.rolesFor(operation)
	if slices.Contains(allowed, c.Principal.Role) {
		return nil
	}
	return rest.NewProblem(http.StatusForbidden, rest.CodeNotToOne, fmt.Sprintf("a key of role %s may not %s %s", c.Principal.Role, action, subject), "use a key of role "+rest.RoleList(allowed))
}

// rolesFor are those that may call an operation.
func (s *server) rolesFor(operation string) []functions.Role {
	for _, path := range s.Huma.OpenAPI().Paths {
		for _, op := range []*huma.Operation{path.Post, path.Put, path.Delete} {
			if op != nil && op.OperationID == operation {
				allowed, _ := op.Extensions[rest.RolesExtension].([]functions.Role)
				return allowed
			}
		}
	}
	return nil
}

func (s *server) planBulk(ctx context.Context, c *rest.Call, project uuid.UUID, r BulkRequest) (*bulkPlanOutput, error) {
	if err := s.mayDoToMany(c, project, bulk.BulkSubject(r.Subject), r.Action); err != nil {
		return nil, err
	}
	p, err := s.service.PlanBulkAction(ctx, project, r.start())
	if err != nil {
		return nil, err
	}
	return &bulkPlanOutput{Body: p}, nil
}

func (s *server) startBulk(ctx context.Context, c *rest.Call, project uuid.UUID, r BulkRequest) (*startedBulkOutput, error) {
	if err := s.mayDoToMany(c, project, bulk.BulkSubject(r.Subject), r.Action); err != nil {
		return nil, err
	}
	return startedBulk(s.service.StartBulkAction(ctx, c.Principal, project, r.start(), c.Idem))
}

func (s *server) undoBulk(ctx context.Context, c *rest.Call, project, id uuid.UUID, reason string) (*startedBulkOutput, error) {
	d, err := s.service.GetBulkAction(ctx, project, id)
	if err != nil {
		return nil, err
	}
	if err := s.mayDoToMany(c, project, d.Subject, bulk.UndoOf(project != uuid.Nil, d.Subject, d.Action)); err != nil { // d.Undo is empty while it goes on
		return nil, err
	}
	return startedBulk(s.service.UndoBulkAction(ctx, c.Principal, project, id, reason, c.Idem))
}

func (s *server) changeBulk(ctx context.Context, c *rest.Call, project, id uuid.UUID, change bulkChange) (*bulkOutput, error) {
	d, err := s.service.GetBulkAction(ctx, project, id)
	if err != nil {
		return nil, err
	}
	if err := s.mayDoToMany(c, project, d.Subject, d.Action); err != nil {
		return nil, err
	}
	return bulkAnswer(change(s.service, ctx, c.Principal, project, id))
}

func startedBulk(d bulk.BulkActionDetail, again bool, err error) (*startedBulkOutput, error) {
	a, err := bulkAnswer(d, err)
	if err != nil {
		return nil, err
	}
	at := "/v1"
	if d.Project != nil {
		at += "/projects/" + d.Project.String()
	}
	return &startedBulkOutput{Replayed: rest.ReplayedAs(again), Location: at + "/bulk-actions/" + d.ID.String(), Body: a.Body}, nil
}

func bulkAnswer(d bulk.BulkActionDetail, err error) (*bulkOutput, error) {
	if err != nil {
		return nil, err
	}
	if d.Failures == nil {
		d.Failures = []bulk.BulkFailure{}
	}
	return &bulkOutput{Body: d}, nil
}
