package planner

import (
	"encoding/json"
	"maps"
	"slices"
)

// Metrics are what is known of a job that has come to its answer. Rules, planners
// and readers see the same ones. Shares are from 0 to 1.
type Metrics struct {
	Shards       ShardMetrics        `json:"shards"`
	Times        TimeMetrics         `json:"times"`
	Sizes        SizeMetrics         `json:"sizes"`
	Verification VerificationMetrics `json:"verification"`
	Aggregate    AggregateMetrics    `json:"aggregate"`
	Findings     FindingMetrics      `json:"findings"`
}

// ShardMetrics say the outcome of the shards.
type ShardMetrics struct {
	Total         int64   `json:"total"`
	Accepted      int64   `json:"accepted"`
	Failed        int64   `json:"failed"`
	Flagged       int64   `json:"flagged" doc:"Shards that a flag of the job is about, resolved or not."`
	Flags         int64   `json:"flags" doc:"Flags of the job, those included that are about an agent or the whole job."`
	AcceptedShare float64 `json:"accepted_share"`
	FailedShare   float64 `json:"failed_share"`
	FlaggedShare  float64 `json:"flagged_share"`
}

// TimeMetrics say how long things took, in seconds.
type TimeMetrics struct {
	Elapsed float64 `json:"elapsed" doc:"Seconds from the submission to the end."`
	Wall    float64 `json:"wall" doc:"Seconds that all executions took together, those of servers included."`
	CPU     float64 `json:"cpu" doc:"Seconds of processor time of all executions together."`
	WallP50 float64 `json:"wall_p50" doc:"Half of the executions that gave an answer took at most so many seconds. Quantiles are bounds of buckets that grow by the square root of two from a millisecond on, so they are up to 42 % too high."`
	WallP90 float64 `json:"wall_p90" doc:"As wall_p50, for nine in ten."`
	WallP99 float64 `json:"wall_p99" doc:"As wall_p50, for 99 in 100."`
}

// SizeMetrics say how large the results are, in bytes.
type SizeMetrics struct {
	Outputs    int64   `json:"outputs" doc:"Bytes of all accepted outputs together."`
	OutputMean float64 `json:"output_mean" doc:"Bytes of an accepted output, on average."`
}

// VerificationMetrics say what the answers cost and what they are worth.
type VerificationMetrics struct {
	Executions         int64   `json:"executions" doc:"Attempts by agents and servers."`
	ExecutionsPerShard float64 `json:"executions_per_shard"`
	ErrorBound         float64 `json:"error_bound" doc:"The largest share of wrong results that is to be expected, with the shares of the owners as they came out; 1 where the policy promises no number, as a quorum does."`
	AnswerRisk         float64 `json:"answer_risk" doc:"The largest probability with which any result is wrong; 1 where the policy promises no number."`
	AuditsPassed       int64   `json:"audits_passed"`
	AuditsFailed       int64   `json:"audits_failed"`
	Rechecks           int64   `json:"rechecks" doc:"Shards that a server has executed."`
	Incidents          int64   `json:"incidents" doc:"Agents that were caught after results of theirs had become final in this job."`
}

// AggregateMetrics are about the answer.
type AggregateMetrics struct {
	Count   int64              `json:"count" doc:"Accepted results in the answer."`
	LeftOut int64              `json:"left_out" doc:"Values that a limit of the aggregator left out."`
	Bytes   int64              `json:"bytes" doc:"Bytes of the answer as JSON; 0 where it is an object."`
	Numbers map[string]float64 `json:"numbers" doc:"The numbers of the answer: its fields that are numbers, the first 64 by name, or value where it is one itself. They are rounded to doubles."`
}

// FindingMetrics say what heuristics found in the results.
type FindingMetrics struct {
	Count   int64   `json:"count"`
	Shards  int64   `json:"shards" doc:"Shards that a finding is about."`
	Highest float64 `json:"highest" doc:"The highest score; 0 where nothing was found."`
}

// MaxMetricNumbers is how many numbers of an answer are among its metrics.
const MaxMetricNumbers = 64

// named gives each metric the name that expressions see it by.
func (m Metrics) named() map[string]any {
	return map[string]any{
		"metrics.shards.total":                      m.Shards.Total,
		"metrics.shards.accepted":                   m.Shards.Accepted,
		"metrics.shards.failed":                     m.Shards.Failed,
		"metrics.shards.flagged":                    m.Shards.Flagged,
		"metrics.shards.flags":                      m.Shards.Flags,
		"metrics.shards.accepted_share":             m.Shards.AcceptedShare,
		"metrics.shards.failed_share":               m.Shards.FailedShare,
		"metrics.shards.flagged_share":              m.Shards.FlaggedShare,
		"metrics.times.elapsed":                     m.Times.Elapsed,
		"metrics.times.wall":                        m.Times.Wall,
		"metrics.times.cpu":                         m.Times.CPU,
		"metrics.times.wall_p50":                    m.Times.WallP50,
		"metrics.times.wall_p90":                    m.Times.WallP90,
		"metrics.times.wall_p99":                    m.Times.WallP99,
		"metrics.sizes.outputs":                     m.Sizes.Outputs,
		"metrics.sizes.output_mean":                 m.Sizes.OutputMean,
		"metrics.verification.executions":           m.Verification.Executions,
		"metrics.verification.executions_per_shard": m.Verification.ExecutionsPerShard,
		"metrics.verification.error_bound":          m.Verification.ErrorBound,
		"metrics.verification.answer_risk":          m.Verification.AnswerRisk,
		"metrics.verification.audits_passed":        m.Verification.AuditsPassed,
		"metrics.verification.audits_failed":        m.Verification.AuditsFailed,
		"metrics.verification.rechecks":             m.Verification.Rechecks,
		"metrics.verification.incidents":            m.Verification.Incidents,
		"metrics.aggregate.count":                   m.Aggregate.Count,
		"metrics.aggregate.left_out":                m.Aggregate.LeftOut,
		"metrics.aggregate.bytes":                   m.Aggregate.Bytes,
		"metrics.aggregate.numbers":                 m.Aggregate.Numbers,
		"metrics.findings.count":                    m.Findings.Count,
		"metrics.findings.shards":                   m.Findings.Shards,
		"metrics.findings.highest":                  m.Findings.Highest,
	}
}

// NumbersOf are the numbers of an answer.
func NumbersOf(value json.RawMessage) map[string]float64 {
	numbers := map[string]float64{}
	var whole float64
	if len(value) > 0 && string(value) != "null" && json.Unmarshal(value, &whole) == nil {
		numbers["value"] = whole
		return numbers
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(value, &fields) != nil {
		return numbers
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		var x *float64
		if len(numbers) < MaxMetricNumbers && json.Unmarshal(fields[name], &x) == nil && x != nil {
			numbers[name] = *x
		}
	}
	return numbers
}
