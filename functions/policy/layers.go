package policy

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/policy/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

// maxLayers is how many projects' compiled rules a server keeps: some hundred kilobytes each. What it drops is compiled again.
const maxLayers = 64

// layer are the rules of a project, or of the operators, as of one version. It never changes.
type layer struct {
	version   int64
	fourEyes  bool
	rules     []*guardian.Compiled
	overrides []guardian.Override
	used      time.Time
}

// head is how far the rules of a layer have changed.
type head struct {
	Version  int64
	FourEyes bool
}

// layerOf reads the layer as it is in the transaction, which has its role: the project's, or, for the nil ID, the server's. Rules that were
// compiled before are taken only where the version is the same.
func (s *Service) layerOf(ctx context.Context, tx *store.Tx, project uuid.UUID) (*layer, error) {
	h, _, err := store.One[head](ctx, tx, sql.PolicyHead)
	if err != nil {
		return nil, err
	}
	if known := s.known(project, h.Version); known != nil {
		return known, nil
	}
	l := &layer{version: h.Version, fourEyes: h.FourEyes}
	if h.Version == 0 {
		return l, nil
	}
	name := guardian.ProjectLayer
	if project == uuid.Nil {
		name = guardian.OperatorLayer
	}
	rows, err := store.Many[ruleRow](ctx, tx, sql.CurrentRules)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		l.rules = append(l.rules, r.compiled(name))
	}
	inForce, err := store.Many[overrideRow](ctx, tx, sql.OverridesInForce, s.now(), MaxOverrides)
	if err != nil {
		return nil, err
	}
	for _, o := range inForce {
		l.overrides = append(l.overrides, o.override(name, project))
	}
	s.keep(project, l)
	return l, nil
}

// known is the layer that was compiled of this version; nil: none is kept.
func (s *Service) known(project uuid.UUID, version int64) *layer {
	if version == 0 {
		return &layer{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.layers[project]
	if l == nil || l.version != version {
		return nil
	}
	l.used = time.Now()
	return l
}

func (s *Service) keep(project uuid.UUID, l *layer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.used = time.Now()
	s.layers[project] = l
	if len(s.layers) <= maxLayers {
		return
	}
	oldest := project
	for id, other := range s.layers {
		if id != uuid.Nil && other.used.Before(s.layers[oldest].used) {
			oldest = id
		}
	}
	delete(s.layers, oldest)
}

// compiled is the rule as it decides. One that this program does not understand denies all that it is about, and says so.
func (r ruleRow) compiled(name guardian.Layer) *guardian.Compiled {
	rule := r.rule(name)
	c, err := guardian.Compile(rule)
	if err == nil {
		return c
	}
	rule.When, rule.Then, rule.Conditions, rule.Risk = "", guardian.Deny, guardian.Conditions{}, ""
	rule.On = knownKinds(rule.On)
	rule.Reason = cut(fmt.Sprintf("the rule cannot be read by this server, and so denies: %v", err), guardian.MaxReason)
	c, err = guardian.Compile(rule)
	if err != nil { // its name is what the table checks, so that nothing is left that could be wrong
		panic(fmt.Sprintf("a rule that denies does not compile: %v", err))
	}
	return c
}

// knownKinds leaves out operations that there are not; of none that is left it is all of them.
func knownKinds(kinds []guardian.Kind) (known []guardian.Kind) {
	for _, k := range kinds {
		if _, is := guardian.Describe(k); is {
			known = append(known, k)
		}
	}
	return known
}
