// Package liar makes agents that cheat, each in one of the ways in which real ones would. It exists to test the system and to show it
// at work: a project's policy must find these agents out, and its answer must be right all the same.
//
// A liar is a real agent whose results are changed after they are made and before they are signed, so that everything around them
// holds; only a replaying one forges requests, which the server must refuse. Nothing but the command line of the agent's own process
// makes it a liar.
package liar

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/ostraka/ostraka/agent"
	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/client"
)

// Kind is a way to cheat.
type Kind string

// The ways.
const (
	Patient   Kind = "patient"   // honest for a while, and then wrong
	Constant  Kind = "constant"  // the same wrong answer for every shard
	Colluding Kind = "colluding" // the same wrong answer as other liars of its kind
	Random    Kind = "random"    // a wrong answer that no other agent gives
	Lazy      Kind = "lazy"      // does not compute: gives an answer that it gave before
	Replay    Kind = "replay"    // sends results and signatures of an earlier lease again
)

// Kinds lists the ways.
func Kinds() []Kind { return []Kind{Patient, Constant, Colluding, Random, Lazy, Replay} }

// DefaultAfter is for how many results a patient liar is honest: more than a newcomer's results are looked at closely, and few enough
// that a person sees the change.
const DefaultAfter = 50

// MaxAfter is the longest time for which a liar is honest, in results.
const MaxAfter = 1 << 40

// Options say how an agent cheats.
type Options struct {
	Kind Kind // none: random
	// Probability is how often it lies, 0 to 1, once it does.
	Probability float64
	// After is for how many results it is honest first; 0: DefaultAfter for a patient one, and none for the others.
	After int64
	// Seed decides which shards it lies about, and what it says. Colluding liars do not use it: that is what makes them agree.
	Seed uint64
	Log  *slog.Logger // nil: slog.Default()
}

// complete fills in the defaults and refuses what cannot be meant.
func (o *Options) complete() error {
	o.Kind = cmp.Or(o.Kind, Random)
	if o.Kind == Patient {
		o.After = cmp.Or(o.After, DefaultAfter)
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	switch {
	case !slices.Contains(Kinds(), o.Kind):
		return fmt.Errorf("there is no liar of kind %q: choose %s", o.Kind, kindList())
	case !(o.Probability >= 0 && o.Probability <= 1):
		return fmt.Errorf("a liar cannot lie with probability %v: choose 0 to 1", o.Probability)
	case o.After < 0 || o.After > MaxAfter:
		return fmt.Errorf("a liar cannot be honest for %d results: choose 0 to %d", o.After, int64(MaxAfter))
	default:
		return nil
	}
}

func kindList() string {
	names := make([]string, len(Kinds()))
	for i, k := range Kinds() {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

// New makes what turns an agent into a liar.
func New(o Options) (*agent.Cheat, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	cheat := &agent.Cheat{Does: fmt.Sprintf("it gives wrong answers on purpose (%s)", o.Kind)}
	if o.Kind == Replay {
		cheat.Requests = func(next client.HttpRequestDoer) client.HttpRequestDoer { return &replayer{next: next, options: o} }
		return cheat, nil
	}
	cheat.Sandbox = func(s isolation.Sandbox) isolation.Sandbox { return &sandbox{Sandbox: s, mind: &mind{options: o}} }
	return cheat, nil
}

// lie decides about one shard of a function: whether to lie, and random bits to make the lie of. It depends on nothing else, so that a
// liar that is asked again says the same, and colluding ones agree.
func (o Options) lie(function string, shard int64) (random uint64, lies bool) {
	seed := o.Seed
	if o.Kind == Colluding {
		seed = 0
	}
	h := sha256.New()
	fmt.Fprintf(h, "ostraka-liar/2\n%s\n%d\n%s\n%d\n", o.Kind, seed, function, shard)
	sum := h.Sum(nil)
	chance := float64(binary.BigEndian.Uint64(sum)>>11) / (1 << 53)
	return binary.BigEndian.Uint64(sum[8:]), chance < o.Probability
}
