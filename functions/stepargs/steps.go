// Package stepargs has the arguments of the server's steps: what each works on, and under which name the queue keeps it. It holds no step and
// nothing but arguments: a step is a method of its room, and package queue registers it. A kind is in the database of every server that runs, so
// that a field may be added where its zero value means what was before, and nothing may be renamed.
package stepargs

import (
	"time"

	"github.com/google/uuid"
)

// AdvanceRunArgs is the step that continues with a run of a workflow, as far as it goes.
type AdvanceRunArgs struct {
	Project uuid.UUID `json:"project"`
	Run     uuid.UUID `json:"run"`
	// After is set where the run waits for room in a quota: the run's waits_until, by which it knows the one step that waits.
	After time.Time `json:"after,omitzero"`
}

// Kind names the step.
func (AdvanceRunArgs) Kind() string { return "advance_run" }

// NotBefore is when the step may run.
func (a AdvanceRunArgs) NotBefore() time.Time { return a.After }

// AggregateArgs is the step that folds one settled page.
type AggregateArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
	Page    int64     `json:"page"`
	Run     int       `json:"run,omitempty"` // of the aggregations of the job; 0: the current one
}

// Kind names the step.
func (AggregateArgs) Kind() string { return "aggregate" }

// ArchiveArgs is the step that makes an archive of an ended job: it writes the files, and then removes the job's rows page by page.
type ArchiveArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
}

// Kind names the step.
func (ArchiveArgs) Kind() string { return "archive" }

// BulkArgs is the step that does one thing to many: it goes on with a bulk action.
type BulkArgs struct {
	Project uuid.UUID `json:"project"` // nil: it is about the whole installation
	Bulk    uuid.UUID `json:"bulk"`
	Turn    int64     `json:"turn"` // a retry begins another one, and the step of an earlier one ends
}

// Kind names the step.
func (BulkArgs) Kind() string { return "bulk" }

// CancelArgs is the step that settles the open shards of a cancelled job.
type CancelArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
}

// Kind names the step.
func (CancelArgs) Kind() string { return "cancel" }

// ClaimsArgs is the step that looks whether an owner says too often that it had no answer, where others had one: in several jobs. One of its
// agents just did.
type ClaimsArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
	Agent   uuid.UUID `json:"agent"`
}

// Kind names the step.
func (ClaimsArgs) Kind() string { return "weigh_claims" }

// CollectArgs is the periodic step that removes objects that nothing refers to.
type CollectArgs struct{}

// Kind names the step.
func (CollectArgs) Kind() string { return "collect" }

// CompareArgs is the step that has a job's validator compare the answers to the shards of one submission, before they are weighed.
type CompareArgs struct {
	Project    uuid.UUID `json:"project"`
	Submission uuid.UUID `json:"submission"`
	Confirm    bool      `json:"confirm,omitempty"` // as in VerifyArgs
}

// Kind names the step.
func (CompareArgs) Kind() string { return "compare" }

// DeliverWebhookArgs is the step that sends one event to one webhook, once.
type DeliverWebhookArgs struct {
	Project  uuid.UUID `json:"project"`
	Delivery uuid.UUID `json:"delivery"`
}

// Kind names the step.
func (DeliverWebhookArgs) Kind() string { return "deliver_webhook" }

// DueWebhooksArgs is the periodic step that takes up projects which have events to send, or deliveries to try again.
type DueWebhooksArgs struct{}

// Kind names the step.
func (DueWebhooksArgs) Kind() string { return "due_webhooks" }

// DueSchedulesArgs is the periodic step that takes up schedules that are due, of all projects.
type DueSchedulesArgs struct{}

// Kind names the step.
func (DueSchedulesArgs) Kind() string { return "due_schedules" }

// EraseArgs is the step that removes what a deleted job has left, a page at a time.
type EraseArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
	// Once is set where the step has been through, and looks again when all that was under way then has ended.
	Once time.Time `json:"once,omitzero"`
}

// Kind names the step.
func (EraseArgs) Kind() string { return "erase" }

// NotBefore is when the step may run.
func (a EraseArgs) NotBefore() time.Time { return a.Once }

// ExpireArgs is the periodic step that takes back the shards of leases whose agents went silent.
type ExpireArgs struct{}

// Kind names the step.
func (ExpireArgs) Kind() string { return "expire_leases" }

// FireScheduleArgs is the step that serves one time of a schedule.
type FireScheduleArgs struct {
	Project  uuid.UUID `json:"project"`
	Schedule uuid.UUID `json:"schedule"`
}

// Kind names the step.
func (FireScheduleArgs) Kind() string { return "fire_schedule" }

// RevokeArgs is the step that takes back all leases of an agent in one project.
type RevokeArgs struct {
	Project uuid.UUID `json:"project"`
	Agent   uuid.UUID `json:"agent"`
}

// Kind names the step.
func (RevokeArgs) Kind() string { return "revoke_leases" }

// FinaliseArgs is the step that makes the results of a window final whose audits have passed.
type FinaliseArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
	Agent   uuid.UUID `json:"agent"`
	Window  int64     `json:"window"`
}

// Kind names the step.
func (FinaliseArgs) Kind() string { return "finalise" }

// FinishArgs is the step that ends a job whose answer stands.
type FinishArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
}

// Kind names the step.
func (FinishArgs) Kind() string { return "finish" }

// FollowUpArgs is the step that creates the jobs which the project's rules make out of an ended one.
type FollowUpArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
}

// Kind names the step.
func (FollowUpArgs) Kind() string { return "follow_up" }

// JudgeControlsArgs is the step that judges what agents have said to shards with known answers.
type JudgeControlsArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
}

// Kind names the step.
func (JudgeControlsArgs) Kind() string { return "judge_controls" }

// MergeArgs is the step that merges the partials below a node of the merge tree, or makes the answer.
type MergeArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
	Run     int       `json:"run,omitempty"`   // of the aggregations of the job; 0: the current one
	Level   int       `json:"level,omitempty"` // of the node; 0: the answer
	Number  int64     `json:"number,omitempty"`
}

// Kind names the step.
func (MergeArgs) Kind() string { return "merge" }

// ComparePlatformsArgs is the step that looks whether the agents of one class of platforms were contradicted as a whole in a job. What
// was charged to them is taken back then, see package verify on platforms.
type ComparePlatformsArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
	// Excused are agents that a verdict has excused already, since enough of their platform agreed on one shard.
	Excused []uuid.UUID `json:"excused,omitempty"`
}

// Kind names the step.
func (ComparePlatformsArgs) Kind() string { return "compare_platforms" }

// PackArgs is the periodic step that packs the attempts of jobs that ended a while ago.
type PackArgs struct{}

// Kind names the step.
func (PackArgs) Kind() string { return "pack" }

// PreviewArgs is the step that makes an answer out of what is folded so far.
type PreviewArgs struct {
	Project uuid.UUID  `json:"project"`
	Job     uuid.UUID  `json:"job"`
	Run     int        `json:"run"`
	Due     *time.Time `json:"due,omitempty"` // nil: at once
}

// Kind names the step.
func (PreviewArgs) Kind() string { return "preview" }

// NotBefore implements Delayed.
func (a PreviewArgs) NotBefore() time.Time {
	if a.Due == nil {
		return time.Time{}
	}
	return *a.Due
}

// RefoldArgs is the step that has the settled pages of a job folded by a further aggregation.
type RefoldArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
	Run     int       `json:"run"`
	From    int64     `json:"from,omitempty"` // the first page that was not looked at
}

// Kind names the step.
func (RefoldArgs) Kind() string { return "refold" }

// ReceiptArgs is the step that makes the receipt of a job that has ended.
type ReceiptArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
}

// Kind names the step.
func (ReceiptArgs) Kind() string { return "receipt" }

// RecheckArgs is the step that has the server execute shards of one job: those that wait longest and that no other step has taken.
type RecheckArgs struct {
	Project uuid.UUID `json:"project"`
	Batch   uuid.UUID `json:"batch"`
	Long    bool      `json:"long,omitempty"` // it is of the lane of functions that may take long
}

// Kind names the step.
func (RecheckArgs) Kind() string { return "recheck" }

// RetentionArgs is the periodic step that forgets what has served its time.
type RetentionArgs struct{}

// Kind names the step.
func (RetentionArgs) Kind() string { return "retention" }

// ScoreCodeArgs is the step that has heuristics look at a version of a function.
type ScoreCodeArgs struct {
	Project  uuid.UUID `json:"project"`
	Function string    `json:"function"`
	Version  int       `json:"version"`
}

// Kind names the step.
func (ScoreCodeArgs) Kind() string { return "score_code" }

// ScoreResultsArgs is the step that has a job's heuristics look at the accepted results of a settled page.
type ScoreResultsArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
	Page    int64     `json:"page"`
}

// Kind names the step.
func (ScoreResultsArgs) Kind() string { return "score_results" }

// SealArgs is the periodic step that seals what is new in the audit logs.
type SealArgs struct{}

// Kind names the step.
func (SealArgs) Kind() string { return "seal_audit" }

// SpreadWebhooksArgs is the step that makes deliveries of a project's new events, and begins those that are due.
type SpreadWebhooksArgs struct {
	Project uuid.UUID `json:"project"`
}

// Kind names the step.
func (SpreadWebhooksArgs) Kind() string { return "spread_webhooks" }

// SilenceArgs is the step that takes back, without waiting for agents, the leases that a switch holds.
type SilenceArgs struct {
	Switch uuid.UUID `json:"switch"`
}

// Kind names the step.
func (SilenceArgs) Kind() string { return "silence" }

// SplitArgs is the step that makes shards: the next chunk of the project's job that has waited longest. A project has one such step, so
// that its jobs take turns among themselves and projects among one another, however many jobs there are. With a job it is a step for that
// job alone, whose inputs could not be read.
type SplitArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
}

// Kind names the step.
func (SplitArgs) Kind() string { return "split" }

// StrandedArgs is the periodic step that looks after shards which no agent is left for.
type StrandedArgs struct{}

// Kind names the step.
func (StrandedArgs) Kind() string { return "stranded_shards" }

// TaintArgs is the step that opens the results of an agent again which were accepted and are not final: an audit has failed, or the
// agent was caught otherwise.
type TaintArgs struct {
	Project uuid.UUID `json:"project"`
	Agent   uuid.UUID `json:"agent"`
	Reason  string    `json:"reason"`
	// Proven says that an answer of the agent was proven wrong: in jobs that have not ended its final results are opened again as well.
	Proven bool `json:"proven,omitempty"`
	// Kin says that it was an answer of another agent of its owner: it is on probation again, whichever step was writing about it when that came out.
	Kin bool `json:"kin,omitempty"`
}

// Kind names the step.
func (TaintArgs) Kind() string { return "taint" }

// ChargeTurnsArgs is the periodic step that counts leases which are held for long as further turns.
type ChargeTurnsArgs struct{}

// Kind names the step.
func (ChargeTurnsArgs) Kind() string { return "charge_turns" }

// ExcuseUnsteadyArgs is the step that takes back what a version of a function has charged to agents, from its first job on: the server has
// found that it does not give one answer.
type ExcuseUnsteadyArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
}

// Kind names the step.
func (ExcuseUnsteadyArgs) Kind() string { return "excuse_unsteady" }

// VerifyArgs is the step that weighs the results of one submission.
type VerifyArgs struct {
	Project    uuid.UUID `json:"project"`
	Submission uuid.UUID `json:"submission"`
	Confirm    bool      `json:"confirm,omitempty"` // the job's condition is asked about the outputs first
}

// Kind names the step.
func (VerifyArgs) Kind() string { return "verify" }

// CloseWindowArgs is the step that draws the audits of a window which takes no more results. It runs again when an audit
// is void, and draws a replacement.
type CloseWindowArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
	Agent   uuid.UUID `json:"agent"`
	Window  int64     `json:"window"`
}

// Kind names the step.
func (CloseWindowArgs) Kind() string { return "close_window" }

// TailArgs is the step that closes all windows of a job which has nothing else left to do.
type TailArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
}

// Kind names the step.
func (TailArgs) Kind() string { return "tail" }
