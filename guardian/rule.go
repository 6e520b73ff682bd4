package guardian

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Layer is whose rule it is.
type Layer string

// The layers. The strictest rule wins, whatever its layer; the layer says who can take it away.
const (
	Builtin       Layer = "builtin"  // ships with the program
	OperatorLayer Layer = "operator" // who runs the server
	ProjectLayer  Layer = "project"  // who owns the project
	OwnerLayer    Layer = "owner"    // who owns the machine of an agent
)

var layers = []Layer{Builtin, OperatorLayer, ProjectLayer, OwnerLayer}

// Verdict is what a rule says, and what is decided.
type Verdict string

// The verdicts, each stricter than the one before. To allow with conditions is to allow, and to have conditions.
const (
	Allow Verdict = "allow"
	Ask   Verdict = "ask" // a person must say yes first
	Deny  Verdict = "deny"
)

var verdicts = []Verdict{Allow, Ask, Deny}

// Rule says what follows when an operation is as its condition says.
type Rule struct {
	ID      string `json:"id"`   // where it is kept; the built-in ones have their name
	Name    string `json:"name"` // unique in its layer
	Version int64  `json:"version"`
	Layer   Layer  `json:"layer"`
	// On are the operations that it is about; empty: all. When can name the facts that all of them have.
	On []Kind `json:"on,omitempty"`
	// When is a CEL expression of type bool; empty: always.
	When string `json:"when,omitempty"`
	// Risk raises the risk of the operation; empty: it stays.
	Risk       Risk       `json:"risk,omitempty"`
	Then       Verdict    `json:"then"`
	Conditions Conditions `json:"conditions,omitzero"`
	Reason     string     `json:"reason"`
	Enabled    bool       `json:"enabled"`
}

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)

// check refuses a rule whose fields make no sense.
func (r Rule) check() error {
	for i, kind := range r.On {
		if _, known := Describe(kind); !known {
			return &RuleError{Field: "on", Detail: fmt.Sprintf("there is no operation %.80q%s", kind, Nearest(string(kind), kindNames())), Hint: "docs/guardian.md lists them"}
		}
		if slices.Contains(r.On[:i], kind) {
			return &RuleError{Field: "on", Detail: fmt.Sprintf("%q is named twice", kind), Hint: "name it once"}
		}
	}
	switch {
	case !namePattern.MatchString(r.Name):
		return &RuleError{Field: "name", Detail: fmt.Sprintf("%.80q is no name", r.Name), Hint: "use a lower-case letter and up to 62 more of a-z, 0-9 and -"}
	case !slices.Contains(layers, r.Layer):
		return &RuleError{Field: "layer", Detail: fmt.Sprintf("there is no layer %.80q", r.Layer), Hint: "use operator, project or owner"}
	case !slices.Contains(verdicts, r.Then):
		return &RuleError{Field: "then", Detail: fmt.Sprintf("there is no verdict %.80q", r.Then), Hint: "use allow, ask or deny; to allow with conditions is allow, and conditions"}
	case r.Risk != "" && !r.Risk.Known():
		return &RuleError{Field: "risk", Detail: fmt.Sprintf("there is no risk %.80q", r.Risk), Hint: "use LOW, MEDIUM, HIGH or CRITICAL, or leave it out"}
	case strings.TrimSpace(r.Reason) == "" || len(r.Reason) > MaxReason:
		return &RuleError{Field: "reason", Detail: fmt.Sprintf("the reason has %d bytes", len(r.Reason)), Hint: fmt.Sprintf("say why in 1 to %d bytes: people read it when the rule applies", MaxReason)}
	case r.Then == Deny && !r.Conditions.Empty():
		return &RuleError{Field: "conditions", Detail: "what is denied keeps to no conditions", Hint: "leave them out, or allow with them"}
	}
	return r.Conditions.check()
}

func (c Conditions) check() error {
	bad := func(field, detail, hint string) error {
		return &RuleError{Field: "conditions." + field, Detail: detail, Hint: hint}
	}
	if c.Isolation != "" && !slices.Contains(levels, c.Isolation) {
		return bad("isolation", fmt.Sprintf("there is no level %.80q%s", c.Isolation, Nearest(c.Isolation, levels)), "use one of "+strings.Join(levels, ", "))
	}
	for _, n := range []struct {
		field string
		value int64
	}{{"cpu_seconds", c.CPUSeconds}, {"wall_seconds", c.WallSeconds}, {"memory_bytes", c.MemoryBytes}, {"pids", c.Pids}, {"quorum", c.Quorum}, {"shards", c.Shards}} {
		if n.value < 0 {
			return bad(n.field, fmt.Sprintf("it is %d", n.value), "use a number from 1, or leave it out")
		}
	}
	switch {
	case c.Quorum > MaxQuorum:
		return bad("quorum", fmt.Sprintf("it is %d", c.Quorum), fmt.Sprintf("use 1 to %d: no function can have more", MaxQuorum))
	case !(c.TargetError >= 0 && c.TargetError <= 0.5):
		return bad("target_error", fmt.Sprintf("it is %v", c.TargetError), "use a share above 0 and up to 0.5, or leave it out")
	case len(c.Owners) > MaxOwners:
		return bad("owners", fmt.Sprintf("it names %d owners", len(c.Owners)), fmt.Sprintf("name at most %d", MaxOwners))
	}
	return nil
}
