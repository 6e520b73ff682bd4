package base

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

// Guardian decides about operations before they happen; the room policy is one.
type Guardian interface {
	// Decide asks the rules about an operation, in the transaction that is about to carry it out, and records the decision there, so that
	// the operation happens only where its record is written. The error of an operation that may not happen is a *Refused, and the
	// transaction must end with it.
	Decide(ctx context.Context, tx *store.Tx, op guardian.Operation) (guardian.Decision, error)
	// Judge is Decide for a transaction that has read the versions of the rules and writes the record itself: it asks Postgres for nothing
	// where this server knows the rules, and none of them asks for a person's yes.
	Judge(ctx context.Context, tx *store.Tx, read RuleVersions, op guardian.Operation) (Judgement, error)
	// AskFor keeps what a job is to wait for, in the transaction that makes it, and says until when it waits: root
	// is the first job of its chain, whose submitter wants it; by is who submits the job where it begins one.
	AskFor(ctx context.Context, tx *store.Tx, op guardian.Operation, d guardian.Decision, job, root uuid.UUID, by string) (approval uuid.UUID, until time.Time, err error)
}

// RuleVersions are those of the operators' rules and of a project's.
type RuleVersions struct {
	Operator int64 `json:"operator"`
	Project  int64 `json:"project"`
}

// UnknownVersion says that a transaction has not read a version.
const UnknownVersion = -1

// Judgement is a decision with what is to be written into the log.
type Judgement struct {
	guardian.Decision
	By     RuleVersions
	Actor  string
	Action string
	Detail json.RawMessage
}

// Refused ends the transaction of an operation that may not happen. Project and Control record that, once nothing is left of it.
type Refused struct {
	Err      *functions.Error // for the caller
	Decision guardian.Decision
	Record   func(ctx context.Context) error
}

// Error implements error.
func (r *Refused) Error() string { return r.Err.Error() }

// Unwrap gives what the caller is told.
func (r *Refused) Unwrap() error { return r.Err }

// Unrecorded is a refusal whose record could not be written. The operation has not happened all the same.
type Unrecorded struct {
	Refused *Refused
	Failed  error
}

// Error implements error.
func (u *Unrecorded) Error() string {
	return "recording what the guardian has refused: " + u.Failed.Error()
}

// Unwrap gives what the caller is told: a refusal is one where it is recorded.
func (u *Unrecorded) Unwrap() error { return u.Failed }

// RefusalOf is the refusal that a transaction has ended with, recorded or not; nil: it was not refused.
func RefusalOf(err error) *Refused {
	var refused *Refused
	var unrecorded *Unrecorded
	switch {
	case errors.As(err, &unrecorded):
		return unrecorded.Refused
	case errors.As(err, &refused):
		return refused
	default:
		return nil
	}
}

// refusalTime bounds how long the record of a refusal may take to be written: the caller may be gone by then.
const refusalTime = 10 * time.Second

// recorded records the refusal that a transaction has ended with, if it has.
func recorded(ctx context.Context, err error) error {
	var refused *Refused
	if !errors.As(err, &refused) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refusalTime)
	defer cancel()
	if failed := refused.Record(ctx); failed != nil {
		return &Unrecorded{Refused: refused, Failed: failed}
	}
	return err
}

// Intent is an operation as the rooms speak of it.
type Intent struct {
	By      functions.Principal
	Step    string    // which of the server's steps has it happen; then By is nobody
	Project uuid.UUID // nil: it is about the whole installation
	Kind    guardian.Kind
	Subject string
	Facts   guardian.Facts
	// Asked is what is asked for where the facts do not say all of it: a yes is bound to it. It becomes JSON, which people see before they
	// say yes. It holds no secret, and nothing that is another with each try, such as an ID that is made again.
	Asked any
}

// Operation is the intent in the words of the guardian.
func (i Intent) Operation() (guardian.Operation, error) {
	op := guardian.Operation{Kind: i.Kind, Actor: ActorOf(i.By, i.Step), Subject: i.Subject, Facts: i.Facts}
	if i.Project != uuid.Nil {
		op.Project = i.Project.String()
	}
	if i.Asked == nil {
		return op, nil
	}
	text, err := json.Marshal(i.Asked)
	if err != nil {
		return op, fmt.Errorf("encoding what is asked for by %s: %w", i.Kind, err)
	}
	if string(text) != "null" {
		op.Asked = text
	}
	return op, nil
}

// ActorOf is who has something happen, in the words of the guardian.
func ActorOf(by functions.Principal, step string) guardian.Actor {
	a := guardian.Actor{Kind: "key", ID: by.KeyID.String(), Role: string(by.Role)}
	switch {
	case step != "":
		return guardian.Actor{Kind: "step", ID: step}
	case by.Role == functions.RoleAgent:
		a.Kind, a.ID = "agent", by.Agent.String()
	case by.Subject != "":
		a.Kind, a.ID = "session", by.Subject
	case by.Session != uuid.Nil:
		a.Kind = "session"
	}
	return a
}

// Decide asks the guardian about what the transaction is about to do. Afterwards it has the role that it had.
func (e *Env) Decide(ctx context.Context, tx *store.Tx, i Intent) (guardian.Decision, error) {
	op, err := i.Operation()
	if err != nil {
		return guardian.Decision{}, err
	}
	return e.Guardian.Decide(ctx, tx, op)
}

// Ask is Decide for what has no conditions that matter.
func (e *Env) Ask(ctx context.Context, tx *store.Tx, i Intent) error {
	_, err := e.Decide(ctx, tx, i)
	return err
}

// AskControl is Ask in a transaction on the control schema.
func (e *Env) AskControl(ctx context.Context, tx pgx.Tx, i Intent) error {
	return e.Ask(ctx, store.Of(tx, i.Project), i)
}

// Do runs fn in one transaction of the project, after the guardian has allowed there what fn does.
func (e *Env) Do(ctx context.Context, i Intent, fn func(tx *store.Tx) error) error {
	return e.Project(ctx, i.Project, func(tx *store.Tx) error {
		if err := e.Ask(ctx, tx, i); err != nil {
			return err
		}
		return fn(tx)
	})
}

// DoControl is Do on the control schema.
func (e *Env) DoControl(ctx context.Context, i Intent, fn func(tx pgx.Tx) error) error {
	return e.Control(ctx, func(tx pgx.Tx) error {
		if err := e.AskControl(ctx, tx, i); err != nil {
			return err
		}
		return fn(tx)
	})
}
