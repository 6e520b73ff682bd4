package engine_test

import (
	"regexp"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

// commits counts what a server may have changed for good. A statement that no transaction is around changes for itself.
type commits struct {
	mu   sync.Mutex
	open map[*pgx.Conn]bool // the transactions under way, and whether they have written
	last map[*pgx.Conn]bool // whether the statement under way ends one that has written
	n    int
}

// count is how many there were so far.
func (c *commits) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// begin is a statement that a connection is about to be asked.
func (c *commits) begin(conn *pgx.Conn, sql string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open, c.last = map[*pgx.Conn]bool{}, map[*pgx.Conn]bool{}
	}
	wrote, within := c.open[conn]
	switch word, rest, _ := strings.Cut(sql, " "); {
	case strings.EqualFold(strings.TrimSuffix(word, ";"), "begin"):
		c.open[conn] = false
	case strings.EqualFold(word, "rollback") && rest == "": // and not to a savepoint: what was written before that stays
		delete(c.open, conn)
	case strings.EqualFold(word, "commit"):
		delete(c.open, conn)
		c.last[conn] = wrote
	case within:
		c.open[conn] = wrote || writes(sql)
	default:
		c.last[conn] = writes(sql)
	}
}

// end is the end of that statement. One that Postgres refused, or has never seen, has changed nothing.
func (c *commits) end(conn *pgx.Conn, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last[conn] && err == nil {
		c.n++
	}
	delete(c.last, conn)
}

var (
	remarks = regexp.MustCompile(`--[^\n]*`)
	// reading statements begin so, and setting ones: what they set is the transaction's. No function of the schemas writes.
	reading = regexp.MustCompile(`(?i)^\s*(select|with|set|show|values|savepoint|release|rollback)\b`)
	// writing words are in all that changes rows, wherever they stand.
	writing = regexp.MustCompile(`(?i)\b(insert|update|delete|merge|into|nextval|setval)\b`)
	locking = regexp.MustCompile(`(?i)\bfor\s+(no\s+key\s+)?update\b`)
	// changes is what is known of statements, by their text. It is global because what a text says is the same everywhere.
	changes sync.Map
)

// writes says whether a statement may change anything.
func writes(sql string) bool {
	if known, is := changes.Load(sql); is {
		return known.(bool)
	}
	text := remarks.ReplaceAllString(sql, "")
	w := !reading.MatchString(text) || writing.MatchString(locking.ReplaceAllString(text, ""))
	changes.Store(sql, w)
	return w
}
