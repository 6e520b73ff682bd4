package recheck

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/inputdir"
	"github.com/ostraka/ostraka/runtime/inputfile"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/runtime/tree"
)

// MaxShards is how many shards one batch holds: their inputs and results are in
// memory together. It is a page of a job.
const MaxShards = 1024

// Batch is shards of one job, executed one after the other in one sandbox, which
// serves nothing but batches of the same function and project before and afterwards.
type Batch struct {
	Project uuid.UUID
	Job     uuid.UUID
	Bundle  *bundle.Bundle // verified; its manifest has the limits
	// HashSeed is Python's PYTHONHASHSEED. Agents have 0; another one finds functions whose
	// results depend on the order of sets.
	HashSeed uint32
	Shards   []Shard
	// Open opens the bytes of the shards' files; it may be nil where there are none. An error of it ends the batch.
	Open inputdir.Open
	// Runtime opens the objects of the runtime that the function names; it may be nil where it names none.
	Runtime tree.Fetch
	// Tree is that runtime, unpacked; nil: the function runs in what executors have. The caller of an executor fills it in.
	Tree *python.Tree
	// Ended is called when a shard has ended; it may be nil. To end a batch between two shards, end its context in it.
	Ended func()
}

// NoteEnd says that a shard has ended.
func (b *Batch) NoteEnd() {
	if b.Ended != nil {
		b.Ended()
	}
}

// Shard is one run of the function. Its seed follows from the bundle, the job and the number (see harness.Seed).
type Shard struct {
	Number int64
	Input  []byte // JSON, as agents get it
	// Files are what the shard finds below $OSTRAKA_INPUT; none where its job cuts no objects.
	Files []inputfile.File
}

// Settings are what the harness is told, exactly as an agent tells it.
func (b *Batch) Settings() harness.Settings {
	return harness.Settings{Job: b.Job.String(), HashSeed: b.HashSeed}
}

// Check refuses a batch that no sandbox can execute: a mistake of the caller.
func (b *Batch) Check() error {
	switch {
	case b.Project == uuid.Nil || b.Job == uuid.Nil:
		return errors.New("checking a batch: it names no project or no job")
	case b.Bundle == nil:
		return errors.New("checking a batch: it has no bundle")
	case len(b.Shards) == 0 || len(b.Shards) > MaxShards:
		return fmt.Errorf("checking a batch: it has %d shards, 1 to %d are possible", len(b.Shards), MaxShards)
	}
	for _, s := range b.Shards {
		if err := canonical.Valid(s.Input, harness.MaxInputBytes); err != nil {
			return fmt.Errorf("checking a batch: shard %d: %w: %w", s.Number, harness.ErrInput, err)
		}
		if len(s.Files) == 0 {
			continue
		}
		if err := inputfile.Check(s.Files); err != nil {
			return fmt.Errorf("checking a batch: shard %d: %w", s.Number, err)
		}
		if b.Open == nil {
			return fmt.Errorf("checking a batch: shard %d has files, and nothing opens them", s.Number)
		}
	}
	return nil
}

// Limit is how long a whole batch may take at most: every shard its time, and as much again as a slow machine needs around it.
func (b *Batch) Limit() time.Duration {
	wall := time.Duration(b.Bundle.Manifest.Limits.WallSeconds) * time.Second
	return time.Duration(len(b.Shards)+1)*(wall+shardGrace) + startGrace
}

const (
	shardGrace = 30 * time.Second // for ending a shard that does not want to end, and starting the interpreter again
	startGrace = 2 * time.Minute  // for a sandbox on a busy machine
)

// Executor executes batches on the server. Several batches may be under way at a time; those that find no room wait.
type Executor interface {
	// Describe says what the results are made in.
	Describe() Description
	// Recheck executes a batch. It returns the results in the order of the shards. An error is operational, never a verdict: it is an *Error, or the
	// context's; the results before it, of the shards that had ended, are as good as any.
	Recheck(ctx context.Context, batch Batch) ([]harness.Result, error)
	// Health asks whether a batch could be executed now; its error says what an operator does about it.
	Health(ctx context.Context) error
	// Close ends what is under way and removes all that the executor has.
	Close() error
}

// Description says what results are made in: it is part of every verdict.
type Description struct {
	Level       bundle.Isolation `json:"level"`           // gvisor, container, linux, ...
	Image       string           `json:"image,omitempty"` // digest of the container's image; empty: there is none
	Interpreter string           `json:"interpreter"`     // such as "cpython 3.14.6 (embedded:0123456789abcdef)"
	Libc        string           `json:"libc"`
	Platform    string           `json:"platform"`          // such as "linux x86_64"
	Tree        string           `json:"tree,omitempty"`    // the platform of the runtime with native code that it is made in; empty: none
	Runtime     string           `json:"runtime,omitempty"` // the container runtime, such as "runc" or "runsc", and the daemon's version
}

// String is the description for logs.
func (d Description) String() string {
	s := string(d.Level)
	if d.Runtime != "" {
		s += " by " + d.Runtime
	}
	if d.Image != "" {
		s += ", image " + d.Image
	}
	return s + ", " + d.Interpreter
}
