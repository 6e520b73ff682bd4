package functions

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/guardian"
)

// JobState is where a job stands.
type JobState string

// The states of a job, in their natural order. Finished, failed and cancelled are final; of these, one can be deleted.
const (
	JobSplitting   JobState = "splitting"   // shards are being made; existing ones are leased already
	JobRunning     JobState = "running"     // all shards exist, some are open
	JobReview      JobState = "review"      // nothing is open, but a person must look at some shards
	JobHeld        JobState = "held"        // every shard is settled, but the aggregator has failed: the job continues with another
	JobAggregating JobState = "aggregating" // every shard is settled; partials are being merged
	JobFinished    JobState = "finished"    // every shard was accepted and the answer stands
	JobFailed      JobState = "failed"      // some shard failed, or the answer could not be made; error says why
	JobCancelled   JobState = "cancelled"
	JobDeleting    JobState = "deleting" // it had ended, and what belongs to it is being removed
)

// Ended says whether the state is final.
func (s JobState) Ended() bool {
	return s == JobFinished || s == JobFailed || s == JobCancelled || s == JobDeleting
}

// Waits says whether nothing goes on until a person has decided something.
func (s JobState) Waits() bool { return s == JobReview || s == JobHeld }

// AggregatorRef is the module that folds a job's results. The digest pins it.
type AggregatorRef struct {
	Module string          `json:"module" doc:"A module of the project, or a built-in one: sum, count, min, max, concat, merge."`
	Digest string          `json:"digest"`
	Params json.RawMessage `json:"params,omitempty"`
}

// ValidatorRef is the module that compares a job's results. The digest pins it.
type ValidatorRef struct {
	Module      string          `json:"module" doc:"A module of the project, or the built-in one, tolerant."`
	Digest      string          `json:"digest"`
	Params      json.RawMessage `json:"params,omitempty"`
	Certificate bool            `json:"certificate,omitempty" doc:"Whether it judges each result alone: a result proves itself, or does not count."`
}

// HeuristicRef is a heuristic that looks at a job's results. The digest pins it.
type HeuristicRef struct {
	Module string          `json:"module" doc:"A module of the project, or the built-in one, anomaly."`
	Digest string          `json:"digest"`
	Params json.RawMessage `json:"params,omitempty"`
	Rules  []HeuristicRule `json:"rules" doc:"What follows from which score."`
}

// ShardCounts counts a job's shards by state.
type ShardCounts struct {
	Total    int64 `json:"total"`
	Open     int64 `json:"open"`
	Accepted int64 `json:"accepted"`
	// Provisional are among the accepted.
	Provisional int64 `json:"provisional" doc:"How many of the accepted are not final yet: audits of their agents' results are outstanding."`
	Review      int64 `json:"review"`
	Failed      int64 `json:"failed"`
	Cancelled   int64 `json:"cancelled"`
}

// Aggregate is a job's folded answer.
type Aggregate struct {
	Value   json.RawMessage `json:"value" doc:"The answer; null until there is one, or where it is stored as an object."`
	Object  string          `json:"object,omitempty" doc:"Digest of the stored object that holds the answer, when it is larger than 64 KiB."`
	Count   int64           `json:"count" doc:"How many accepted results the answer folds."`
	Summary string          `json:"summary,omitempty" doc:"What the aggregator has to say about it."`
	LeftOut int64           `json:"left_out,omitempty" doc:"How many values a limit of the aggregator kept out of the answer, by its own word."`
	Rows    json.RawMessage `json:"rows,omitempty" doc:"Further results of the aggregator: a list of objects with name and data."`
	// RowsObject holds the rows where they are larger than MaxInlineAggregate.
	RowsObject string   `json:"rows_object,omitempty" doc:"Digest of the stored object that holds the rows, when they are larger than 64 KiB."`
	Preview    *Preview `json:"preview,omitempty" doc:"The answer over the results that are folded so far; value is null and count 0 until the answer stands."`
}

// Job is one run of a function version over a partitioned input.
type Job struct {
	ID         uuid.UUID      `json:"id"`
	Function   string         `json:"function"`
	Version    int            `json:"version"`
	Partition  partition.Spec `json:"partition"`
	Policy     verify.Policy  `json:"policy"`
	Validator  *ValidatorRef  `json:"validator,omitempty" doc:"What decides whether answers that differ are one answer; without it only equal bytes are."`
	Aggregator *AggregatorRef `json:"aggregator,omitempty"`
	// Heuristics are those of the project's policy, of the function and of the request.
	Heuristics []HeuristicRef `json:"heuristics,omitempty" doc:"What looks at the job's results, and what follows from which score."`
	State      JobState       `json:"state"`
	Error      string         `json:"error,omitempty"`
	Shards     ShardCounts    `json:"shards"`
	Attempts   int64          `json:"attempts" doc:"Results recorded so far, by all agents."`
	// Verification is missing in lists.
	Verification *JobVerification `json:"verification,omitempty" doc:"What speaks for the results, where the policy has a target error or the server executes shards; not in lists."`
	Controls     *JobControls     `json:"controls,omitempty" doc:"What became of the shards with known answers that the job brought; not in lists."`
	Owners       *OwnerShares     `json:"owners,omitempty" doc:"Whose agents brought the results; not in lists, and not where the first answer is believed."`
	Aggregate    *Aggregate       `json:"aggregate,omitempty"`
	Run          int              `json:"run" doc:"Which of the job's aggregations the aggregate comes from; more than 1 when it was aggregated again."`
	// AggregationError is why the aggregation failed.
	AggregationError string               `json:"aggregation_error,omitempty" doc:"Why the aggregator failed: aggregate again with a mended version of the module, or another. No shard runs again."`
	Parent           *uuid.UUID           `json:"parent,omitempty" doc:"The job that this one follows up."`
	ParentDeleted    bool                 `json:"parent_deleted,omitempty" doc:"Whether that job was deleted since."`
	Root             uuid.UUID            `json:"root"`
	Priority         int                  `json:"priority" doc:"Each step doubles the job's share of its project's turns; 5 is usual."`
	RerunOf          *uuid.UUID           `json:"rerun_of,omitempty" doc:"The job that this one runs again: agents with incidents in it, and other agents of their owners, have no part in this one."`
	RerunOfDeleted   bool                 `json:"rerun_of_deleted,omitempty" doc:"Whether that job was deleted since; what it says of agents stays."`
	Depth            int                  `json:"depth"`
	CreatedBy        string               `json:"created_by"`
	CreatedAt        time.Time            `json:"created_at"`
	StartedAt        *time.Time           `json:"started_at,omitempty"`
	FinishedAt       *time.Time           `json:"finished_at,omitempty"`
	EventSeq         int64                `json:"event_seq" doc:"The number of the job's last event."`
	Conditions       *guardian.Conditions `json:"conditions,omitempty" doc:"What the job must keep to, since rules of the guardian say so. The policy is as strict already."`
	Approval         *JobApproval         `json:"approval,omitempty" doc:"What the job waits for before any of it is lent."`
	Archive          *JobArchive          `json:"archive,omitempty" doc:"Where the job's shards are once they have left the database, or how far that is."`
	Warnings         []Reason             `json:"warnings,omitempty" doc:"What speaks against the job's policy, in the answer to its submission only: the job was taken all the same."`
}

// JobApproval is the approval that a job waits for before any of it is leased.
type JobApproval struct {
	ID        uuid.UUID `json:"id"`
	Layer     string    `json:"layer" enum:"builtin,operator,project" doc:"Whose rule asks: what an operator's rule asks is for operators to answer."`
	Rule      string    `json:"rule"`
	Reason    string    `json:"reason" doc:"Why the rule asks."`
	ExpiresAt time.Time `json:"expires_at" doc:"The job is cancelled if nobody has said yes by then."`
}

// NewJob asks for a job. Zero fields take the function's manifest, then the defaults. Schedules keep it as JSON.
type NewJob struct {
	Function  string         `json:"function"`          // name
	Version   int            `json:"version,omitempty"` // 0: the newest
	Partition partition.Spec `json:"partition"`
	// Chosen says that nobody has said how large the shards are: what the partition has of it is a first guess, and what was measured counts.
	Chosen bool `json:"chosen,omitempty"`
	// Unmeasured has the first guess stand: what the guardian is asked about is to be the same when somebody asks again after a yes.
	Unmeasured bool       `json:"-"`
	Items      []byte     `json:"-"` // JSON lines, for a partition of kind items that names no object
	FromJob    *uuid.UUID `json:"-"` // a finished job whose outputs are the items, instead of Items
	// The policy, as verify.Policy has it; all of them zero: the manifest's.
	Quorum        int             `json:"quorum,omitempty"`
	None          bool            `json:"none,omitempty"`
	TargetError   float64         `json:"target_error,omitempty"`
	AssumeHostile float64         `json:"assume_hostile,omitempty"`
	AnswerError   float64         `json:"answer_error,omitempty"` // the largest probability with which any result may be wrong
	Recheck       string          `json:"recheck,omitempty"`
	MaxAttempts   int             `json:"max_attempts,omitempty"`
	Confirm       string          `json:"confirm,omitempty"`    // which results are executed again before they count; "": the manifest's, where the policy allows one
	Aggregator    string          `json:"aggregator,omitempty"` // name of a built-in or uploaded module; "": the manifest's, else "sum"; "none": fold nothing
	Params        json.RawMessage `json:"params,omitempty"`     // of the aggregator
	Validator     *ValidatorUse   `json:"validator,omitempty"`  // nil: the manifest's
	// Heuristics look at the results, besides those that the project asks for; nil: the manifest's.
	Heuristics *HeuristicsPolicy `json:"heuristics,omitempty"`
	// RerunOf is the job that this one runs again, if it does: agents with incidents in it, and in those that it runs again itself, are
	// lent nothing of this one, and neither are other agents of their owners.
	RerunOf *uuid.UUID `json:"-"`
	// Priority is the job's share of its project's turns, from turns.MinPriority to turns.MaxPriority; 0: turns.DefaultPriority.
	Priority int `json:"priority,omitempty"`
	// Controls are shards with known answers, which count for nothing but to find out who lies.
	Controls []Control `json:"controls,omitempty"`
	// Modules are what names of aggregators and validators stand for; what is not among them is taken in its newest version.
	Modules ModulePins `json:"-"`
}

// ValidatorUse asks for a validator.
type ValidatorUse struct {
	Module      string          `json:"module"`                // name of a built-in or uploaded module; "none": compare bytes, whatever the manifest says
	Params      json.RawMessage `json:"params,omitempty"`      // of the module
	Certificate bool            `json:"certificate,omitempty"` // judge each result alone
}

// ShardState is where a shard stands.
type ShardState string

// The states of a shard.
const (
	ShardOpen      ShardState = "open"
	ShardAccepted  ShardState = "accepted"
	ShardReview    ShardState = "review"
	ShardFailed    ShardState = "failed"
	ShardCancelled ShardState = "cancelled"
)

// Shard is one piece of a job's input and the outcome of it.
type Shard struct {
	Number  int64           `json:"number"`
	State   ShardState      `json:"state"`
	Wanted  int             `json:"wanted" doc:"Further attempts to lend now."`
	Lent    int             `json:"lent" doc:"Attempts that are out, or reported and not yet weighed."`
	Lost    int             `json:"lost" doc:"Leases that died with this shard in them."`
	Input   json.RawMessage `json:"input"`
	Reasons []verify.Reason `json:"reasons,omitempty"`
}

// Attempt is one recorded execution of a shard.
type Attempt struct {
	Agent        uuid.UUID       `json:"agent"`
	Status       string          `json:"status"`
	Output       json.RawMessage `json:"output,omitempty" doc:"Missing where there is none, or where it is stored as an object."`
	OutputDigest string          `json:"output_digest,omitempty"`
	OutputBytes  int64           `json:"output_bytes"`
	CPUMicros    int64           `json:"cpu_us"`
	WallMicros   int64           `json:"wall_us"`
	PeakRSS      int64           `json:"peak_rss_bytes"`
	Diagnostics  json.RawMessage `json:"diagnostics,omitempty"`
	Accepted     bool            `json:"accepted"`
	ReportedAt   time.Time       `json:"reported_at"`
	Matters      bool            `json:"matters,omitempty" doc:"The output fulfils the job's confirm, or nobody could tell: the shard is executed once more before the result counts."`
	ConfirmError string          `json:"confirm_error,omitempty" doc:"Why confirm could not be evaluated on the output."`
}

// ShardDetail is a shard with its attempts.
type ShardDetail struct {
	Shard
	Attempts []Attempt `json:"attempts"`
}

// Event is something that happened to a job.
type Event struct {
	Seq  int64           `json:"seq"`
	At   time.Time       `json:"at"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// Explanation says why a job is not done.
type Explanation struct {
	State   JobState `json:"state"`
	Summary string   `json:"summary"`
	Reasons []Reason `json:"reasons"`
	// Turn is nil where the job has ended, or is held.
	Turn *JobTurn `json:"turn,omitempty" doc:"The job's place among all that want agents; left out where it is in no line."`
}

// Reason is one cause and what to do about it.
type Reason struct {
	Code string `json:"code"`
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
}

// AggregationState is where an aggregation stands.
type AggregationState string

// The states of an aggregation.
const (
	AggregationFolding  AggregationState = "folding"
	AggregationFinished AggregationState = "finished"
	AggregationFailed   AggregationState = "failed" // its module is at fault; error says how
)

// Aggregation is one folding of a job's results with one module.
type Aggregation struct {
	Run         int              `json:"run" doc:"1 is the aggregation that the job was submitted with."`
	Current     bool             `json:"current" doc:"Whether the job shows this one's answer."`
	Aggregator  *AggregatorRef   `json:"aggregator,omitempty"`
	State       AggregationState `json:"state" enum:"folding,finished,failed"`
	Error       string           `json:"error,omitempty"`
	PagesFolded int64            `json:"pages_folded"`
	PagesTotal  int64            `json:"pages_total"`
	Aggregate   *Aggregate       `json:"aggregate,omitempty"`
	CreatedBy   string           `json:"created_by"`
	CreatedAt   time.Time        `json:"created_at"`
	FinishedAt  *time.Time       `json:"finished_at,omitempty"`
}

// OwnerShares says whose results a job has, and what its bound is worth by that.
type OwnerShares struct {
	Owners  int64        `json:"owners" doc:"Owners whose agents have brought results."`
	Results int64        `json:"results" doc:"Results that they have brought, whatever became of them."`
	Largest []OwnerShare `json:"largest" doc:"The owners that brought most, at most five."`
	Stated  float64      `json:"stated" doc:"The share of hostile results against which the policy is kept: no owner should have more."`
	Above   bool         `json:"above" doc:"One owner has brought more than the stated share."`
	// ErrorBound is what the target error comes to with these shares.
	ErrorBound float64 `json:"error_bound,omitempty" doc:"With a target error: the largest share of wrong results that is to be expected when any one owner is hostile, whatever its share, and others besides that have the stated share together. The target error itself, as long as no owner has more than the stated share."`
}

// OwnerShare is one owner's part of a job's results.
type OwnerShare struct {
	Owner   string  `json:"owner" doc:"Whose agents they are, or which agent where it has no owner."`
	Agents  int64   `json:"agents"`
	Results int64   `json:"results"`
	Share   float64 `json:"share"`
}

// Preview is the answer over a part of the results.
type Preview struct {
	Value json.RawMessage `json:"value"`
	Count int64           `json:"count" doc:"How many accepted results it folds."`
	Share float64         `json:"share" doc:"The share of the job's pages that it covers, from 0 to 1."`
	At    time.Time       `json:"at"`
}

// DefaultAggregator folds results when neither the job nor the function names a module: it never fails, whatever the results are.
const DefaultAggregator = "sum"

// NoAggregator is the name with which a job asks for no folding.
const NoAggregator = "none"

// BadPartition turns an error of the partition package into one for the caller.
func BadPartition(err error) error {
	var p *partition.Error
	if !errors.As(err, &p) {
		return err
	}
	return &Error{Kind: KindInvalid, Code: string(p.Code), Message: strings.TrimSuffix(p.Error(), " ("+p.Hint+")"), Hint: p.Hint, Err: err}
}

// JobTurn is a job's place among all that want agents.
type JobTurn struct {
	Priority      int     `json:"priority" doc:"Each step doubles the job's share of its project's turns."`
	JobShare      float64 `json:"job_share" doc:"The part of its project's turns that the job has while all of the project's open jobs have work."`
	ProjectWeight int     `json:"project_weight" doc:"A project of twice the weight has twice as many turns."`
	ProjectShare  float64 `json:"project_share" doc:"The part of all turns that the project has while all projects with open jobs have work and the agents serve all of them."`
	Before        int64   `json:"before" doc:"Open jobs of the project whose turn comes before this one's."`
}

// JobVerification is what speaks for the results of a job with a target error, or of one whose shards the server executes as well.
type JobVerification struct {
	ErrorBound         float64 `json:"error_bound" doc:"The largest share of wrong results that is to be expected among the final ones; 0 where the server executes every shard."`
	AnswerRisk         float64 `json:"answer_risk" doc:"The largest probability with which any result is wrong; 0 where the server has executed every shard."`
	Caveat             string  `json:"caveat,omitempty" doc:"What the bound rests on besides, where agents audit in the place of a server; left out where servers do."`
	AssumeHostile      float64 `json:"assume_hostile" doc:"The share of hostile results against which the bound is kept."`
	AuditsDrawn        int64   `json:"audits_drawn" doc:"Results that were drawn for an audit."`
	AuditsPassed       int64   `json:"audits_passed"`
	AuditsFailed       int64   `json:"audits_failed" doc:"Audits that proved a result wrong."`
	AuditsVoid         int64   `json:"audits_void" doc:"Audits that came to nothing: the result was taken back before, for example."`
	AuditsPending      int64   `json:"audits_pending"`
	Rechecks           int64   `json:"rechecks" doc:"Shards that the server has executed itself."`
	ExecutionsPerShard float64 `json:"executions_per_shard" doc:"By agents and the server, so far."`
	Reopened           int64   `json:"reopened" doc:"Accepted results that were taken back when their agent was caught; a shard counts as often as it happened."`
	Incidents          int64   `json:"incidents" doc:"Agents that were caught after results of theirs had become final in this job."`
	Questionable       int64   `json:"questionable" doc:"Those results: they are within the bound's promise, and stay."`
	// Confirm is nil where the policy has no condition over outputs.
	Confirm *JobConfirmation `json:"confirm,omitempty" doc:"Results that matter by the policy's confirm."`
}

// JobConfirmation counts results that matter. What is neither confirmed nor refuted waits.
type JobConfirmation struct {
	Matched   int64 `json:"matched" doc:"Results that fulfil confirm, or of which that could not be told."`
	Confirmed int64 `json:"confirmed" doc:"Those to which the server, or enough other owners, gave the same answer."`
	Refuted   int64 `json:"refuted" doc:"Those that came to nothing: the shard's answer is another one, or the result was taken back."`
	Unjudged  int64 `json:"unjudged" doc:"Those on which the expression failed: they are taken to matter, and their attempts say why."`
}
