// Package process is the isolation level `process`: rlimits, time limits and a
// temporary directory.
//
// It is not a security boundary. Code of a function runs as the user who runs
// this program: it can read that user's files, open sockets, see other
// processes and send them signals. It keeps honest functions from disturbing
// one another and contains accidents. Use it for your own functions, and a
// stronger level for all others.
//
// What it does promise: each lease has a private directory (0700), each shard
// starts in an empty one, limits end a shard that passes them, and neither
// processes nor files are left after Close. Disk use outside $OSTRAKA_OUTPUT is
// bounded per file, not in sum.
//
// On macOS and Windows it is the only level for Python: each shard gets an
// interpreter of its own there. [github.com/ostraka/ostraka/runtime/harness.Walls]
// says what holds it back, and what does not.
package process
