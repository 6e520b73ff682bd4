// Package base serves every room of functions: transactions in a project's schema or the control schema, steps that are
// enqueued in them, events and audit records, notifications to waiting requests, pages of lists, and texts of several rooms.
//
// It knows no subject, and below it only the words of package functions.
package base

import (
	"log/slog"
	"time"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/store"
)

// Env is what a room works with. One is shared by all rooms of a process.
type Env struct {
	Store   *store.Store
	Blobs   functions.Blobs
	Queue   functions.Queue
	Notices *Notices
	Waits   *Waits
	Log     *slog.Logger
	Observe functions.Observer
	// Guardian is asked before anything is changed.
	Guardian Guardian
	// Now is the clock by which what the guardian has allowed ends.
	Now func() time.Time
}
