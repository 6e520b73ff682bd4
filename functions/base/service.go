// Package base is what every room of functions works with: transactions in a project's schema or the control schema, steps that are
// enqueued in them, events and audit records, nudges to those who wait, pages of lists, and the texts that several rooms tell.
//
// It knows no subject, and no room below it but the words of functions.
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
