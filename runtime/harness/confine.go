package harness

import "encoding/base64"

// Confinement is what every shard puts on itself, irrevocably and before its
// handler runs, beyond what the interpreter as a whole is under. The import of
// a function shares a process with the code that does this, so a hostile import
// can leave it out: whatever must hold against that too is enforced from
// outside, by the kernel or by the watchdog.
type Confinement struct {
	// Filter is a seccomp program in the machine's own byte order; nil: none.
	Filter []byte
	// OwnPID are the offsets in Filter, in bytes, at which the shard writes its
	// process number (32 bits, the machine's own byte order).
	OwnPID []int
	// ScopeSignals keeps the shard and what it starts from sending signals to
	// other processes. It needs a Landlock that knows scopes (Linux 6.12).
	ScopeSignals bool
}

// message is what the template is told of it.
func (c *Confinement) message() map[string]any {
	offsets := c.OwnPID
	if offsets == nil {
		offsets = []int{}
	}
	return map[string]any{"filter": base64.StdEncoding.EncodeToString(c.Filter), "own_pid": offsets, "scope_signals": c.ScopeSignals}
}
