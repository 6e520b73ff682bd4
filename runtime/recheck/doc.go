// Package recheck says what it is to execute shards again on the server: what
// an executor is given, what it answers, and how it fails. The executors are
// runtime/docker (levels gvisor and container) and [Linux] (the strongest level
// that an agent has on the same kernel). Both run the agents' own harness, so
// that an answer means the same wherever it was made.
package recheck
