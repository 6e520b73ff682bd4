package fleet

import (
	"github.com/ostraka/ostraka/functions"
)

// What an agent is refused with, beside the errors of package functions.
var (
	ErrDuplicateInstance = &functions.Error{
		Kind: functions.KindConflict, Code: "duplicate_instance", Message: "another process works with this agent's key",
		Hint: "give each machine a data directory of its own: stop this agent, delete the copied directory and enrol anew; where the other process has ended, start this one a minute later",
	}
	// ErrInstanceLate is for a request that may come from a dead process, which reads no answer.
	ErrInstanceLate = &functions.Error{
		Kind: functions.KindUnavailable, Code: "instance_late", Message: "another process of this agent has spoken since this one did",
		Hint: "ask again in some seconds: who still speaks then is refused with duplicate_instance",
	}
	// ErrBadNonce is for an enrolment whose nonce is not one, or not one any more. The agent asks for another.
	ErrBadNonce = &functions.Error{
		Kind: functions.KindUnavailable, Code: "bad_nonce", Message: "the nonce was not given by this server",
		Hint: "ask for another with GET /v1/enrolment-challenge and enrol within a minute",
	}
	ErrEnrolmentReplayed = &functions.Error{
		Kind: functions.KindUnavailable, Code: "enrolment_replayed", Message: "the agent has enrolled with this nonce, or with a later one",
		Hint: "ask for another with GET /v1/enrolment-challenge; who sends an enrolment again that was heard on the way gets nothing by it",
	}
	ErrAgentOutdated = &functions.Error{
		Kind: functions.KindForbidden, Code: "agent_outdated", Message: "an agent with this key has enrolled already, and this program is too old to do it again safely",
		Hint: "install the version of ostraka that the server has, and start the agent again: it goes on as the same agent",
	}
	ErrOtherServer = &functions.Error{
		Kind: functions.KindForbidden, Code: "other_server", Message: "the enrolment is for another server",
		Hint: "give the agent a URL of this server, or have the operator name the one that it uses: ostraka server --agent-url",
	}
	ErrAgentState = &functions.Error{
		Kind: functions.KindConflict, Code: "agent_state", Message: "the agent is not in a state in which this can be done",
		Hint: "look at its state: ostraka agent show",
	}
	ErrEULAMismatch = &functions.Error{
		Kind: functions.KindConflict, Code: "eula_mismatch", Message: "the agreement that was accepted is not the one in force",
		Hint: "read the one in force with GET /v1/eula, and accept that",
	}
)
