package determinism

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"time"
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

const (
	// MaxSuspects is how many lines Scan names: more than anybody reads.
	MaxSuspects = 50
	// scanLimit is how long reading the source may take.
	scanLimit = 30 * time.Second
)

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
	ctx, cancel := context.WithTimeoutCause(ctx, scanLimit, fmt.Errorf("not done after %s", scanLimit))
	defer cancel()
	in, err := json.Marshal(files)
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	cmd := exec.CommandContext(ctx, interpreter, "-I", "-S", "-B", "-X", "utf8", "-W", "ignore", "-c", scanProgram)
	cmd.Env, cmd.Stdin = []string{}, bytes.NewReader(in)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return parseSuspects(out)
}

func parseSuspects(out []byte) (suspects []Suspect, err error) {
	var rows [][4]any
	if err := json.Unmarshal(out, &rows); err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	for _, row := range rows[:min(len(rows), MaxSuspects)] {
		path, _ := row[0].(string)
		line, _ := row[1].(float64)
		kind, _ := row[2].(string)
		code, _ := row[3].(string)
		suspects = append(suspects, Suspect{Path: path, Line: int(line), Kind: kind, Code: code})
	}
	return suspects, nil
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
