package graph

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"

	"github.com/ostraka/ostraka/functions/partition"
)

// MaxWrongShards is how many wrong shards a check finds before it fails: each of them costs jobs.
const MaxWrongShards = 16

// Identity says that two steps which went through one range come to the same, each in its way.
type Identity struct {
	Left, Right Side
	// Policy is that of the job that executes a differing shard again; the zero value: a quorum of two.
	Policy Policy
}

// Side is a value within the answer of a step.
type Side struct {
	Step string
	Path []string // members of objects, from the outside in; none: the answer itself
}

// String is the side as it is written.
func (s Side) String() string { return strings.Join(append([]string{s.Step}, s.Path...), ".") }

// String is the identity as people read it; nothing where there is none.
func (i *Identity) String() string {
	if i == nil {
		return ""
	}
	return i.Left.String() + " = " + i.Right.String()
}

// Of is one of both sides: 0 is the left one.
func (i Identity) Of(side int) Side {
	if side == 0 {
		return i.Left
	}
	return i.Right
}

// identityTable is an identity as it is written.
type identityTable struct {
	Left  string `toml:"left"`
	Right string `toml:"right"`
}

func (t stepTable) identity(s Step) (*Identity, error) {
	if t.Identity == nil {
		return nil, nil
	}
	const hint = `write for example identity = { left = "search.passed", right = "count.primes" }`
	if t.When != "" {
		return nil, wrong(s.field("identity"), "put one of them into another check", "a check has when or an identity, and not both")
	}
	i := &Identity{}
	for _, side := range []struct {
		field, text string
		to          *Side
	}{{"left", t.Identity.Left, &i.Left}, {"right", t.Identity.Right, &i.Right}} {
		names := strings.Split(side.text, ".")
		for _, name := range names {
			if name == "" || len(side.text) > MaxTextBytes {
				return nil, wrong(s.field("identity."+side.field), hint, "%s is no step with members of its answer", brief(side.text))
			}
		}
		*side.to = Side{Step: names[0], Path: names[1:]}
	}
	if t.Policy != nil {
		i.Policy = *t.Policy
	}
	return i, i.Policy.checkWitnesses(s)
}

// checkWitnesses refuses a policy by which one voice is enough to say that others were wrong: it could be the voice of the one who was.
func (p Policy) checkWitnesses(s Step) error {
	const hint = "leave it out, or give a quorum of two or more: policy = { quorum = 3 }"
	switch {
	case p.None:
		return wrong(s.field("policy.none"), hint, "the job of an identity that executes a shard once more must be verified: agents are charged by it")
	case p.Quorum == 1:
		return wrong(s.field("policy.quorum"), hint, "by the identity's policy one agent alone could have others charged")
	}
	return nil
}

// checkIdentity refuses sides that the server could not run parts of.
func (d *Definition) checkIdentity(s Step) error {
	seen := map[string]bool{}
	for _, name := range d.Seen(s) {
		seen[name] = true
	}
	for side, field := range []string{"left", "right"} {
		name := s.Check.Identity.Of(side).Step
		of := d.Step(name)
		switch {
		case !seen[name]:
			return wrong(s.field("identity."+field), "name a step of the type map that comes before by needs", "there is no step %s before it", brief(name))
		case of.Type != StepMap:
			return wrong(s.field("identity."+field), "name a step of the type map, or write a condition with when", "the step %s is of the type %s", brief(name), of.Type)
		case of.Rolling():
			return wrong(s.field("identity."+field), "let both steps be single jobs, or write a condition with when", "the step %s rolls: the jobs behind its answer may be gone", brief(name))
		case of.Map.Kind != partition.KindRange:
			return wrong(s.field("identity."+field), "give it a range", "the step %s has no range of which parts could be run", brief(name))
		}
	}
	if s.Check.Identity.Left.Step == s.Check.Identity.Right.Step {
		return wrong(s.field("identity"), "name two steps", "both sides are the same step")
	}
	return nil
}

// checkRanges refuses an identity of steps that go through different ranges, with the values of a run.
func (d *Definition) checkRanges(s Step, values Values) error {
	i := s.Check.Identity
	left, err := d.Step(i.Left.Step).Job(values)
	if err != nil {
		return err
	}
	right, err := d.Step(i.Right.Step).Job(values)
	if err != nil {
		return err
	}
	a, b := left.Partition.Range, right.Partition.Range
	if a.From.Cmp(b.From) != 0 || a.To.Cmp(b.To) != 0 {
		return wrong(s.field("identity"), "let both steps go through one range", "the steps %s and %s go through different ranges", i.Left.Step, i.Right.Step)
	}
	return nil
}

// ValueAt is the value of a side in an answer; false: there is none.
func (s Side) ValueAt(answer json.RawMessage) (json.RawMessage, bool) {
	for _, name := range s.Path {
		var members map[string]json.RawMessage
		if json.Unmarshal(answer, &members) != nil {
			return nil, false
		}
		var found bool
		if answer, found = members[name]; !found {
			return nil, false
		}
	}
	return answer, len(answer) > 0
}

// SameValue compares two values: numbers by what they are, also where one is a decimal text, and others by their text.
func SameValue(a, b json.RawMessage) bool {
	x, xIs := number(a)
	y, yIs := number(b)
	if xIs && yIs {
		return x.Cmp(y) == 0
	}
	var left, right bytes.Buffer
	if json.Compact(&left, a) != nil || json.Compact(&right, b) != nil {
		return false
	}
	return bytes.Equal(left.Bytes(), right.Bytes())
}

// maxNumber is how long a number may be that is compared as one, in bytes: 1e999999999 is short, and its value is not.
const maxNumber = 4 << 10

func number(raw json.RawMessage) (*big.Rat, bool) {
	text := strings.Trim(strings.TrimSpace(string(raw)), `"`)
	if text == "" || len(text) > maxNumber || strings.ContainsAny(text, "eE/_xXpP") {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}
