package functions

import (
	"encoding/json"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/verify"
)

// Call is the outcome of one call of a function: a job of one shard. Without an output it continues, or waits for a person.
type Call struct {
	Job          uuid.UUID       `json:"job" doc:"The job that the call is."`
	State        JobState        `json:"state" doc:"finished with an output; anything else: the answer is not there yet."`
	Function     string          `json:"function"`
	Version      int             `json:"version"`
	Output       json.RawMessage `json:"output,omitempty" doc:"What the function returned, verified; missing until then, and where it is stored as an object under output_object."`
	OutputObject string          `json:"output_object,omitempty" doc:"Digest of the stored object that holds the output, when it is larger than 64 KiB."`
	Policy       verify.Policy   `json:"policy" doc:"How the output was verified, or will be."`
	Executions   int64           `json:"executions" doc:"How often the call was executed so far, by agents and the server."`
	// Bound is nil where the policy states none.
	Bound *float64 `json:"bound,omitempty" doc:"The largest probability with which the output is wrong; 0 where the server has executed the call itself. Left out where the policy states no bound: with a quorum, and where the first answer is believed."`
}

// ErrCallFailed is for a call whose job gave no output.
var ErrCallFailed = &Error{
	Kind: KindInvalid, Code: "call_failed", Message: "the call has no output: its job failed, or was cancelled",
	Hint: "GET on the shard 0 of the job shows what the function said (ostraka job shard JOB 0); a function may refuse an input by raising",
}
