package bulk

import (
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
)

const (
	// MaxItems is how many items a bulk action has at most: it is chosen in one transaction, and takes minutes.
	MaxItems = 10_000
	// MaxIDs is how many items a request may name one by one.
	MaxIDs = 1000
	// MaxRunning is how many bulk actions of a project, and of the operators, run at once: they take turns at few workers.
	MaxRunning = 5
	// ShownFailures is how many failures are shown with a bulk action.
	ShownFailures = 20
	// MaxFailure is how much of what was wrong with an item is kept, in bytes.
	MaxFailure = 1000
	// MaxKept is how many items of a project's bulk actions, and of the operators', are kept at once.
	MaxKept = 100_000
	// MaxApprovals is how many items that need a person's yes a bulk action asks for before it ends.
	MaxApprovals = 20
	// LeftFor is for how long what was left of a bulk action that was cancelled can be done by a retry, and for how long it is kept which flags
	// and jobs were done: nothing takes that back.
	LeftFor = 24 * time.Hour
	// KeptFor is how long a bulk action is remembered after its end.
	KeptFor = 30 * 24 * time.Hour
	// itemsAtOnce is how many items are read at a time.
	itemsAtOnce = 50
)

// Start is a bulk action that is to be made.
type Start struct {
	Subject BulkSubject
	Action  string
	Filter  BulkFilter
	All     bool // the filter is empty on purpose: nobody is to choose everything by leaving something out
	Reason  string
	// Expected is how many items whoever asks has seen; nil: any number will do.
	Expected *int64
}

// rights are a principal as it is kept: whose rights the items are done with.
type rights struct {
	Key     uuid.UUID      `json:"key"`
	Role    functions.Role `json:"role"`
	Project uuid.UUID      `json:"project"`
	Session uuid.UUID      `json:"session"`
	Subject string         `json:"subject,omitempty"`
}

func rightsOf(p functions.Principal) rights {
	return rights{Key: p.KeyID, Role: p.Role, Project: p.Project, Session: p.Session, Subject: p.Subject}
}

func (r rights) principal() functions.Principal {
	return functions.Principal{KeyID: r.Key, Role: r.Role, Project: r.Project, Session: r.Session, Subject: r.Subject}
}

// row is a bulk action as it is kept.
type row struct {
	ID        uuid.UUID
	ProjectID *uuid.UUID
	Subject   BulkSubject
	Action    string
	Reason    string
	Filter    BulkFilter
	Principal rights
	CreatedBy string
	Undoes    *uuid.UUID
	Turn      int64
	State     BulkState
	Detail    string
	Total     int64
	Done      int64
	Failed    int64
	CreatedAt time.Time
	EndedAt   *time.Time
}

func (r row) action() BulkAction {
	a := BulkAction{
		ID: r.ID, Project: r.ProjectID, Subject: r.Subject, Action: r.Action, Reason: r.Reason, Filter: r.Filter, State: r.State, Detail: r.Detail,
		Total: r.Total, Done: r.Done, Failed: r.Failed, Left: r.left(), Undoes: r.Undoes, CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt, EndedAt: r.EndedAt,
	}
	if kind, known := find(r.project(), r.Subject, r.Action); known && r.State != BulkRunning && r.Done > 0 {
		a.Undo = kind.undo
	}
	return a
}

// left is how many items wait.
func (r row) left() int64 { return r.Total - r.Done - r.Failed }

// project is the nil ID for what is about the whole installation.
func (r row) project() uuid.UUID {
	if r.ProjectID == nil {
		return uuid.Nil
	}
	return *r.ProjectID
}

// item is one of the things that a bulk action is about.
type item struct {
	Number   int64
	Item     uuid.UUID
	Revision int64
}

// chosen is an item before it has a number.
type chosen struct {
	Item     uuid.UUID
	Revision int64
	Was      string // the state of an agent of the installation
}
