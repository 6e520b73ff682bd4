package harness

import "fmt"

// Accounting is what the kernel counts for all processes of a session together;
// a cgroup has it.
type Accounting interface {
	// Account reads the counters as they stand.
	Account() (Account, error)
}

// Account are counters. Those that only grow are compared from before a shard
// to after it.
type Account struct {
	CPUMicros   int64 // processor time so far
	OOMKills    int64 // processes that the kernel has killed for lack of memory so far
	PidsRefused int64 // processes and threads that the kernel has refused to start so far
	Memory      int64 // bytes held now, files of the workspace and caches included
	MemoryPeak  int64 // the most bytes held so far
	Processes   int64 // processes and threads now, the interpreter's own included
}

// account reads the counters, where there are any.
func account(cfg *Config) (Account, error) {
	if cfg.Accounting == nil {
		return Account{}, nil
	}
	a, err := cfg.Accounting.Account()
	if err != nil {
		return Account{}, fmt.Errorf("reading the counters of the sandbox: %w", err)
	}
	return a, nil
}
