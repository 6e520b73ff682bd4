package functions

import (
	"context"
	"time"
)

// ShortcutLimit is how long a request carries out steps at most; what is left then is for workers.
const ShortcutLimit = 5 * time.Second

// Shortcut lets a request carry out the steps that follow from it, where its job is small: each would wait for its worker otherwise. The
// queue keeps them all the same, for later: should this server die, another carries them out.
type Shortcut struct {
	// Open says that the job is small. Who knows the job says so, before it enqueues anything.
	Open bool
	// Kept are the steps that the queue has kept and this request is to carry out, in their order. A transaction that was rolled back and
	// run again leaves some that do not exist; carried out they find nothing to do.
	Kept []KeptStep
	// Relaxed says that the step that is carried out now is followed by one whose commit waits for the disk, so that its own need not.
	Relaxed bool
}

// KeptStep is a step with its number in the queue.
type KeptStep struct {
	Step Step
	ID   int64
}

type shortcutKey struct{}

// WithShortcut returns a context in which steps may be kept for its request.
func WithShortcut(ctx context.Context) (context.Context, *Shortcut) {
	s := &Shortcut{}
	return context.WithValue(ctx, shortcutKey{}, s), s
}

// ShortcutOf is the shortcut of a request; nil where it has none.
func ShortcutOf(ctx context.Context) *Shortcut {
	s, _ := ctx.Value(shortcutKey{}).(*Shortcut)
	return s
}
