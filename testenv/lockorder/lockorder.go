// Package lockorder proves in tests that transactions take their locks in one order, so that no two wait for one another in a circle. It
// reads the statements that a connection is given, knows from their text what they lock, and finds a transaction that takes a lock after one
// that comes later in the order.
//
// It sees tables, not rows: the statement must lock the rows of a table in the order of their numbers. A transaction may lock a table again
// of which it has rows already.
package lockorder

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

// Order is the order of the domain's locks (see package functions), each a table of a project's schema or of the server's, or a lock by
// name. What is not here is locked alone, or by who has nothing else that others wait for.
var Order = []Lock{
	{Project, "workflow_runs"},
	{Project, "leases"},
	{Project, "shards"},
	{Project, "audits of a job"},
	{Project, "trust"},
	{Project, "windows"},
	{Project, "pages"},
	{Project, "jobs"},
	{Project, "flags"},
	{Project, "webhooks' deliveries"},
	{Project, "webhooks"},
	{Project, "the gate of rechecks"},
	{Server, "leases"},
	{Server, "open_jobs"},
	{Server, "project_turns"},
}

// Side is whose schema a table is in.
type Side string

// The sides.
const (
	Project Side = "project"
	Server  Side = "server"
)

// Lock is what transactions wait for.
type Lock struct {
	Side Side
	Name string
}

func (l Lock) String() string { return string(l.Side) + " " + l.Name }

// Watch looks at the transactions of connections.
type Watch struct {
	// Last are statements that are the last of their transactions where they lock anything.
	Last []string

	mu     sync.Mutex
	open   map[*pgx.Conn]*transaction
	breaks []string
}

type transaction struct {
	side Side
	held []taken
}

type taken struct {
	lock Lock
	by   string // the statement
}

// Statement is what a connection is about to be asked.
func (w *Watch) Statement(conn *pgx.Conn, sql string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = map[*pgx.Conn]*transaction{}
	}
	text := strings.TrimSpace(sql)
	switch {
	case begins(text, "begin"):
		w.open[conn] = &transaction{side: sideOf(text, Server)}
	case begins(text, "commit"), begins(text, "rollback"):
		delete(w.open, conn)
	case w.open[conn] == nil: // a transaction of one statement
	case begins(text, "set local role"):
		w.open[conn].side = sideOf(text, w.open[conn].side)
	default:
		w.take(w.open[conn], sql)
	}
}

// begins says whether a statement begins with words.
func begins(text, words string) bool {
	return len(text) >= len(words) && strings.EqualFold(text[:len(words)], words)
}

// Breaks are the transactions that did not keep to the order so far.
func (w *Watch) Breaks() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.breaks)
}

func (w *Watch) take(tx *transaction, sql string) {
	if slices.Contains(w.Last, sql) {
		return
	}
	for _, l := range known(sql) {
		lock := Lock{tx.side, l.Name}
		place := slices.Index(Order, lock)
		if place < 0 || slices.ContainsFunc(tx.held, func(t taken) bool { return t.lock == lock }) {
			continue
		}
		for _, t := range tx.held {
			if !l.Waits || slices.Index(Order, t.lock) < place {
				continue
			}
			said := fmt.Sprintf("%s is locked after %s:\n%s\n-- after --\n%s", lock, t.lock, strings.TrimSpace(sql), strings.TrimSpace(t.by))
			if !slices.Contains(w.breaks, said) {
				w.breaks = append(w.breaks, said)
			}
			break
		}
		tx.held = append(tx.held, taken{lock, sql})
	}
}

func sideOf(text string, otherwise Side) Side {
	text = strings.ToLower(text)
	switch {
	case strings.Contains(text, "role project_"):
		return Project
	case strings.Contains(text, "role none"):
		return Server
	default:
		return otherwise
	}
}
