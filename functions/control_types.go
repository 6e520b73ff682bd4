package functions

import "encoding/json"

// Control is a shard with a known answer that a job brings along, to find out who lies.
type Control struct {
	// Shard is the shard of the job whose answer is known; nil: Input says what is to be computed.
	Shard *int64 `json:"shard,omitempty" minimum:"0" doc:"The shard of the job whose answer is known. Either this or an input is given."`
	// Input is that of a shard which the job does not have, of the shape of its items.
	Input json.RawMessage `json:"input,omitempty" doc:"What is to be computed, which is none of the job's own items and looks like one: for a partition of items only. It is lent at a place that the server draws."`
	// Output is the known answer, or OutputSHA256 the digest of its canonical bytes, in hexadecimal.
	Output       json.RawMessage `json:"output,omitempty" doc:"The known answer. Either this or its digest is given."`
	OutputSHA256 string          `json:"output_sha256,omitempty" pattern:"^[0-9a-f]{64}$" doc:"The SHA-256 of the known answer in canonical JSON, in hexadecimal."`
}

// JobControls counts the controls of a job.
type JobControls struct {
	Total     int64 `json:"total" doc:"Shards with known answers that the job brought."`
	Given     int64 `json:"given" doc:"Those that some agent has answered."`
	Right     int64 `json:"right" doc:"Those that were answered as known, and never otherwise."`
	Wrong     int64 `json:"wrong" doc:"Those to which an owner gave another answer that is proven wrong: others gave the known one."`
	Void      int64 `json:"void" doc:"Those whose known answer is not believed: three owners or more agree on another one. Nobody is charged."`
	Unsettled int64 `json:"unsettled" doc:"Those that found nothing out: attempts ended without an answer, or nobody was left to give a second opinion."`
	Answers   int64 `json:"answers" doc:"Executions that the controls took. They are not among the job's attempts."`
}
