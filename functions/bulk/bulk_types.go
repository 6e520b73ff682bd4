package bulk

import (
	"time"

	"github.com/google/uuid"
)

// BulkSubject says what a bulk action is about.
type BulkSubject string

// What bulk actions are about.
const (
	BulkFlags  BulkSubject = "flags"
	BulkJobs   BulkSubject = "jobs"
	BulkAgents BulkSubject = "agents"
)

// BulkState says how far a bulk action is.
type BulkState string

// The states of a bulk action.
const (
	BulkRunning   BulkState = "running"
	BulkFinished  BulkState = "finished"
	BulkCancelled BulkState = "cancelled"
)

// BulkFilter says what a bulk action is about. Zero fields take all; what the action cannot be for is left out, but for what is named.
type BulkFilter struct {
	IDs      []uuid.UUID `json:"ids,omitempty" maxItems:"1000" doc:"These, and no others."`
	Like     *uuid.UUID  `json:"like,omitempty" doc:"Flags of the kind, the rule and the function of this flag, itself among them."`
	Kind     string      `json:"kind,omitempty" maxLength:"40" doc:"Flags of this kind."`
	Rule     string      `json:"rule,omitempty" maxLength:"100" doc:"Flags that this rule has raised."`
	Function string      `json:"function,omitempty" maxLength:"63" doc:"Flags about this function and its jobs; jobs of this function."`
	Job      *uuid.UUID  `json:"job,omitempty" doc:"Flags of this job."`
	Agent    *uuid.UUID  `json:"agent,omitempty" doc:"Flags about this agent."`
	State    string      `json:"state,omitempty" maxLength:"20" doc:"Jobs or agents in this state."`
	Owner    string      `json:"owner,omitempty" maxLength:"200" doc:"Agents of this owner."`
}

// Empty tells whether the filter chooses nothing in particular, and so takes all.
func (f BulkFilter) Empty() bool {
	named := len(f.IDs) > 0 || f.Like != nil || f.Job != nil || f.Agent != nil
	return !named && f.Kind == "" && f.Rule == "" && f.Function == "" && f.State == "" && f.Owner == ""
}

// BulkAction is a bulk action.
type BulkAction struct {
	ID        uuid.UUID   `json:"id"`
	Project   *uuid.UUID  `json:"project,omitempty" doc:"Left out: it is about agents of the whole installation."`
	Subject   BulkSubject `json:"subject" enum:"flags,jobs,agents"`
	Action    string      `json:"action" doc:"What is done to each."`
	Reason    string      `json:"reason,omitempty"`
	Filter    BulkFilter  `json:"filter" doc:"What was asked for; which items that are was decided when the bulk action was made."`
	State     BulkState   `json:"state" enum:"running,finished,cancelled"`
	Detail    string      `json:"detail,omitempty" doc:"Why it was cancelled."`
	Total     int64       `json:"total"`
	Done      int64       `json:"done"`
	Failed    int64       `json:"failed"`
	Left      int64       `json:"left"`
	Undo      string      `json:"undo,omitempty" doc:"The action that takes back what was done; left out where nothing does."`
	Undoes    *uuid.UUID  `json:"undoes,omitempty" doc:"The bulk action that this one takes back."`
	CreatedBy string      `json:"created_by"`
	CreatedAt time.Time   `json:"created_at"`
	EndedAt   *time.Time  `json:"ended_at,omitempty"`
}

// BulkFailure is an item that could not be done.
type BulkFailure struct {
	Item    uuid.UUID `json:"item"`
	Code    string    `json:"code" doc:"The code of the problem that the single operation would have answered with."`
	Message string    `json:"message"`
}

// BulkActionDetail is a bulk action with what went wrong.
type BulkActionDetail struct {
	BulkAction
	Failures []BulkFailure `json:"failures" doc:"The first 20 of them."`
}

// BulkPlan says what a bulk action would be about.
type BulkPlan struct {
	Total int64       `json:"total" doc:"How many items it would have now."`
	First []uuid.UUID `json:"first" doc:"The first 20 of them."`
}
