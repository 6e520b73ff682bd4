package functions

import (
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// Kind says what sort of thing went wrong; api/ has the one table from kinds to HTTP statuses.
type Kind string

// The kinds of error.
const (
	KindInvalid      Kind = "invalid"      // the request can never work as it is
	KindUnauthorized Kind = "unauthorized" // no key, or one that is not valid any more
	KindForbidden    Kind = "forbidden"    // the key is valid but its role may not do this
	KindNotFound     Kind = "not_found"    // there is no such thing, or it belongs to somebody else
	KindConflict     Kind = "conflict"     // it cannot be done in the present state
	KindGone         Kind = "gone"         // it was there, and was deleted
	KindPrecondition Kind = "precondition" // the document has changed since it was read
	KindTooLarge     Kind = "too_large"    // a stated limit was passed
	KindExhausted    Kind = "exhausted"    // a limit of the project or its key is reached; the same call may work later
	KindUnavailable  Kind = "unavailable"  // something that the server needs is away; the same call may work later
)

// Error is an error for a user: a stable code that programs branch on, a message that says what was wrong and a hint that says
// what to do next. Anything that is not an Error is a fault of the server and is not shown.
type Error struct {
	Kind    Kind
	Code    string
	Message string
	Hint    string
	Err     error          // the cause, for the log only
	Quota   *QuotaExceeded // of KindExhausted
	Job     uuid.UUID      // that was not found: it may have been deleted
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Err)
	}
	return e.Code + ": " + e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// Is makes two errors with the same code equal, so that callers can compare with errors.Is(err, ErrLeaseExpired).
func (e *Error) Is(target error) bool {
	var t *Error
	return errors.As(target, &t) && t.Code == e.Code
}

// With returns a copy of a sentinel that says which thing it is about.
func (e *Error) With(format string, args ...any) *Error {
	c := *e
	c.Message = fmt.Sprintf(format, args...)
	return &c
}

// NotFound is the answer for what does not exist and for what belongs to another project: the two must not be told apart.
func NotFound(what, id string) *Error {
	return &Error{
		Kind: KindNotFound, Code: "not_found", Message: fmt.Sprintf("there is no %s %q here", what, id),
		Hint: "check the name or ID and the project; `ostraka COMMAND list`, or GET on the collection, shows what there is",
	}
}

// Invalid is an error in what the client sent.
func Invalid(code, message, hint string) *Error {
	return &Error{Kind: KindInvalid, Code: code, Message: message, Hint: hint}
}

// The errors of the agent protocol and of documents that people edit. Agents branch on them.
var (
	ErrLeaseExpired = &Error{
		Kind: KindConflict, Code: "lease_expired", Message: "the lease has expired and its shards were lent again",
		Hint: "drop these results and ask for a new lease; send heartbeats to keep a lease alive",
	}
	ErrLeaseEnded = &Error{
		Kind: KindConflict, Code: "lease_ended", Message: "the lease has ended already",
		Hint: "drop these results and ask for a new lease",
	}
	ErrLeaseRevoked = &Error{
		Kind: KindConflict, Code: "lease_revoked", Message: "the lease was revoked",
		Hint: "drop these results; ask the project's owner why this agent is not lent work",
	}
	ErrBadSignature = &Error{
		Kind: KindForbidden, Code: "bad_signature", Message: "the signature does not match the results and the agent's key",
		Hint: "sign the statement of the submission with the key that the agent enrolled with",
	}
	ErrBadResult = &Error{
		Kind: KindInvalid, Code: "bad_result", Message: "a result is not acceptable",
		Hint: "nothing of this submission was recorded; correct the result that is named and send it again",
	}
	// ErrObjectDamaged says that the object store has other bytes than it was given.
	ErrObjectDamaged = &Error{
		Kind: KindUnavailable, Code: "object_damaged", Message: "a stored object is damaged",
		Hint: "nothing but the object store is wrong: an operator restores the object from a backup, after which the same call works",
	}
	// ErrServerOutdated says that other servers have migrated the projects' schemas past what this one knows.
	ErrServerOutdated = &Error{
		Kind: KindUnavailable, Code: "server_outdated", Message: "newer servers have migrated the database, and this one cannot make a project that they can use",
		Hint: "ask one of the newer servers, or wait until this one is upgraded",
	}
	ErrResultConflict = &Error{
		Kind: KindConflict, Code: "result_conflict", Message: "another result of this agent for the shard is recorded already",
		Hint: "the first result counts; drop this one",
	}
	ErrNotEnrolled = &Error{
		Kind: KindForbidden, Code: "agent_not_active", Message: "the agent is not active",
		Hint: "it waits for approval, is drained or is quarantined: its heartbeats say which; ask for work again when they say active",
	}
	ErrAgentRevoked = &Error{
		Kind: KindForbidden, Code: "agent_revoked", Message: "the agent was revoked",
		Hint: "this is final for its key; ask the operator of the server, who may let the machine enrol with a new key",
	}
	ErrEULARequired = &Error{
		Kind: KindForbidden, Code: "eula_required", Message: "the agent's owner has not accepted the agreement that is in force",
		Hint: "read it with GET /v1/eula, and accept it: ostraka agent eula accept",
	}
	ErrRevision = &Error{
		Kind: KindPrecondition, Code: "revision_changed", Message: "the document has changed since it was read",
		Hint: "read it again, apply the change to what you read and send its new ETag in If-Match",
	}
	ErrIdempotencyMismatch = &Error{
		Kind: KindInvalid, Code: "idempotency_mismatch", Message: "this Idempotency-Key was used with another request",
		Hint: "use a new key for a new request; the same key only repeats the same request",
	}
	ErrJobEnded = &Error{
		Kind: KindConflict, Code: "job_ended", Message: "the job has ended already",
		Hint: "submit a new job",
	}
)

// ErrJobDeleted is for a job that is being deleted, or was: nothing of it can be read.
var ErrJobDeleted = &Error{
	Kind: KindGone, Code: "job_deleted", Message: "the job was deleted",
	Hint: "nothing of it is kept but that it was deleted; submit a new job",
}

// ErrReplayed rolls back what a repeated request has made again.
var ErrReplayed = errors.New("the request is a replay")
