package isolation

import (
	"context"
	"fmt"
	"os"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/runtime/python"
)

// Examination is what a machine can do to isolate functions.
type Examination struct {
	Level  bundle.Isolation `json:"level"` // the strongest that holds
	Levels []LevelExamined  `json:"levels"`
	Layers []linux.Layer    `json:"layers"`
}

// LevelExamined is how one level stood against a canary.
type LevelExamined struct {
	Level bundle.Isolation `json:"level"`
	Holds bool             `json:"holds"`
	Why   string           `json:"why,omitempty"` // it does not
}

// Isolated says whether there is any level with walls.
func (e Examination) Isolated() bool { return e.Level != bundle.Process }

// Examine tries every layer, and every level with a canary. The interpreter is the file of one; empty: the one that the
// program carries. It leaves nothing behind but the interpreter that it unpacks.
func Examine(ctx context.Context, interpreter string) (Examination, error) {
	cache, err := python.DefaultDir()
	if err != nil {
		return Examination{}, fmt.Errorf("finding a folder for the interpreter: %w", err)
	}
	tree, err := python.Open(ctx, python.Options{Python: interpreter, Dir: cache})
	if err != nil {
		return Examination{}, fmt.Errorf("preparing the interpreter: %w", err)
	}
	work, err := os.MkdirTemp("", "ostraka-doctor-")
	if err != nil {
		return Examination{}, fmt.Errorf("making a folder for the examination: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }() // nothing of worth is in it
	e := Examination{Level: bundle.Process, Layers: layers(ctx)}
	for _, level := range isolationLevels() {
		_, err := prove(ctx, level, tree, work)
		found := LevelExamined{Level: level, Holds: err == nil}
		if err != nil {
			found.Why = err.Error()
		}
		if ctx.Err() != nil {
			return Examination{}, context.Cause(ctx)
		}
		if found.Holds && e.Level == bundle.Process {
			e.Level = level
		}
		e.Levels = append(e.Levels, found)
	}
	e.Levels = append(e.Levels, LevelExamined{Level: bundle.Process, Holds: true, Why: "no walls: functions run as this user"})
	return e, nil
}
