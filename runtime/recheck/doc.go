// Package recheck defines how the server executes shards again: the input of an
// executor, its answer, and its failures. The executors are
// runtime/docker (levels gvisor and container) and [Linux] (the strongest level
// that an agent has on the same kernel). Both run the agents' own harness, so
// that an answer means the same wherever it was made.
package recheck
