package audit

import (
	"strconv"
)

// The statements that agents sign with a post of results.
const (
	// StatementOfLease names the lease alone: what it was for is the server's word.
	StatementOfLease = 1
	// StatementOfWork names the project, the job and the function as well: WorkStatement. Servers ask for it with each lease.
	StatementOfWork = 2
)

// MaxWorkLines is how many results an agent signs at once at most: as many as a lease has shards.
const MaxWorkLines = 1024

// Work is what results that an agent signs together are about. All of them are names without a line feed.
type Work struct {
	Project, Job string
	Function     string // SHA-256 of the bundle that was executed, in hex
	Lease        string
}

// WorkLine is what an agent says about one shard.
type WorkLine struct {
	Shard   int64
	Status  string
	Outcome string // SHA-256 in hex of all that agents must agree on
	Output  string // SHA-256 in hex of the output of a result that is ok
}

// Leaf is the hash of a line: its shard, status and outcome, and the output where that is not the outcome, divided by blanks.
func (l WorkLine) Leaf() Hash {
	b := make([]byte, 0, 160)
	b = strconv.AppendInt(b, l.Shard, 10)
	b = append(append(b, ' '), l.Status...)
	b = append(append(b, ' '), l.Outcome...)
	if l.Output != "" && l.Output != l.Outcome {
		b = append(append(b, ' '), l.Output...)
	}
	return Leaf(b)
}

// WorkStatement is what an agent signs with each post of results, in the order of the shards: what they are about, how many there are, and the RFC
// 6962 root of the tree over them, so that each of them can be proven without the others.
func WorkStatement(w Work, lines []WorkLine) []byte {
	var tree Peaks
	for _, l := range lines {
		tree.Add(l.Leaf())
	}
	return w.statement(len(lines), tree.Root())
}

func (w Work) statement(results int, root Hash) []byte {
	const names = 36 + 36 + 64 + 36
	b := make([]byte, 0, names+128)
	b = append(b, "ostraka-results/2\n"...)
	for _, field := range [...]string{w.Project, w.Job, w.Function, w.Lease} {
		b = append(append(b, field...), '\n')
	}
	b = append(strconv.AppendInt(b, int64(results), 10), '\n')
	return append(append(b, hexOf(root)...), '\n')
}
