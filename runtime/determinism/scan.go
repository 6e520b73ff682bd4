package determinism

import (
	"context"
	_ "embed"
	"slices"

	"github.com/ostraka/ostraka/runtime/source"
)

// Kinds of source lines that Scan names.
const (
	KindClock    = "clock"
	KindTimeZone = "time_zone"
	KindRandom   = "random"
	KindMachine  = "machine"
	KindListing  = "listing"
	KindThreads  = "threads"
	KindSetOrder = "set_order"
	KindHash     = "hash"
	KindState    = "state"
	KindSyntax   = "syntax" // the file is not Python
)

// MaxSuspects is how many lines Scan names: more than anybody reads.
const MaxSuspects = 50

// Suspect is a line of source whose value may differ between machines or runs.
type Suspect struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Kind string `json:"kind"`
	Code string `json:"code"`
}

// Explain says why a kind of line deserves a look.
func (s Suspect) Explain() string {
	switch s.Kind {
	case KindClock:
		return "the clock: it differs from run to run"
	case KindTimeZone:
		return "local time: it depends on the time zone unless one is given"
	case KindRandom:
		return "random numbers that no seed fixes: use random, which is seeded per shard"
	case KindMachine:
		return "something of the machine or the process"
	case KindListing:
		return "the order of a directory differs between file systems: sort it"
	case KindThreads:
		return "what runs at once may end in any order"
	case KindSetOrder:
		return "the order of a set: sort it"
	case KindHash:
		return "hash() of a text depends on the hash seed: use hashlib"
	case KindState:
		return "state outside the handler"
	case KindSyntax:
		return "this is not Python that the interpreter understands"
	default:
		return s.Kind
	}
}

//go:embed scan.py
var scanProgram string

// Scan lets an interpreter read, not run, Python files: their names and texts.
func Scan(ctx context.Context, interpreter string, files map[string]string) ([]Suspect, error) {
	var rows [][4]any
	if err := source.Ask(ctx, interpreter, scanProgram, files, &rows); err != nil {
		return nil, err
	}
	return readSuspects(rows), nil
}

func readSuspects(rows [][4]any) (suspects []Suspect) {
	for _, row := range rows[:min(len(rows), MaxSuspects)] {
		path, _ := row[0].(string)
		line, _ := row[1].(float64)
		kind, _ := row[2].(string)
		code, _ := row[3].(string)
		suspects = append(suspects, Suspect{Path: path, Line: int(line), Kind: kind, Code: code})
	}
	return suspects
}

// Behind picks the suspects that may stand behind a cause, each line once.
func Behind(cause Cause, suspects []Suspect) (likely []Suspect) {
	kinds := map[Cause][]string{
		CauseUnstable:   {KindClock, KindRandom, KindMachine, KindThreads, KindTimeZone, KindListing},
		CauseHashSeed:   {KindSetOrder, KindHash},
		CauseTimeZone:   {KindTimeZone, KindClock},
		CauseNeighbours: {KindState, KindClock, KindRandom, KindMachine},
		CauseTogether:   {KindRandom, KindThreads, KindClock, KindSetOrder},
	}
	for _, s := range suspects {
		known := slices.ContainsFunc(likely, func(l Suspect) bool { return l.Path == s.Path && l.Line == s.Line })
		if !known && slices.Contains(kinds[cause], s.Kind) {
			likely = append(likely, s)
		}
	}
	return likely
}
