package agent

import (
	"errors"
	"unicode/utf8"

	"github.com/ostraka/ostraka/client"
)

// Why a lease is given back: the codes are stable, the server's owner sees them in `ostraka job explain` and the machine's owner in
// `ostraka agent status`.
const (
	refusedCaps       = "caps"                // the function asks for more than the owner of the machine allows
	refusedRuntime    = "runtime"             // its owner runs nothing of its kind
	refusedIsolation  = "isolation"           // it asks for a stronger sandbox than this machine has
	refusedBundleSize = "bundle_too_large"    // its bundle is larger than the owner allows
	refusedProject    = "project_not_allowed" // the owner does not work for the project
	refusedFunction   = "function_denied"     // the owner does not run this function
	refusedBundle     = "wrong_bundle"        // the bundle is not what the lease promised
	refusedGuardian   = "guardian_denied"     // a rule of the guardian refuses it
	refusedAsk        = "guardian_asks"       // a rule of the guardian wants the owner to allow it first
	refusedCondition  = "guardian_condition"  // it does not keep to a condition of the owner's rules
	refusedUnread     = "guardian_failed"     // the guardian could not read the function
	refusedVolume     = "volume"              // a folder that it wants is not for it, or cannot be shown
	refusedInput      = "input_unavailable"   // a file that a shard reads cannot be had as its digest promises
	returnedFailure   = "sandbox_failed"      // the sandbox does not work
	returnedStopping  = "stopping"            // the agent stops
	returnedOrder     = "ordered"             // the killswitch, or an order to end the sandbox
)

// maxRefusalText is the longest text of a refusal, in characters, as the server has it.
const maxRefusalText = 300

// refusal is an error that says why a lease is given back.
type refusal struct {
	code string
	text string
	// lasting says that the same function would be refused again, so that the server need not offer it for a while.
	lasting bool
}

// Error implements error.
func (r *refusal) Error() string { return r.text }

func refused(code, text string) error { return &refusal{code: code, text: text, lasting: true} }

// pausedWork ends the work on a lease because its owner lets the agent work no more for now.
type pausedWork struct{ why idle }

// Error implements error.
func (p *pausedWork) Error() string { return p.why.Text }

// refusalOf is what the server is told of an error for which a lease is given back. The text of an error that is no refusal stays
// here: it may name paths of this machine.
func refusalOf(err error) client.Refusal {
	var r *refusal
	var paused *pausedWork
	switch {
	case errors.As(err, &paused):
		return client.Refusal{Code: paused.why.Code, Text: "the agent's owner lets it work no more for now"}
	case errors.As(err, &r):
		return client.Refusal{Code: r.code, Text: cutText(r.text, maxRefusalText), Refuses: r.lasting}
	case errors.Is(err, errWrongBundle):
		return client.Refusal{Code: refusedBundle, Text: errWrongBundle.Error()}
	case isOrder(err):
		return client.Refusal{Code: returnedOrder, Text: err.Error()}
	case err != nil:
		return client.Refusal{Code: returnedFailure, Text: "the agent could not run the function; its own log says why"}
	default:
		return client.Refusal{Code: returnedStopping, Text: "the agent stops"}
	}
}

// cutText keeps a text within so many characters, with a mark where it was cut.
func cutText(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}
