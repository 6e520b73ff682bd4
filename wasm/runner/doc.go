// Package runner runs WebAssembly modules in a process of their own.
//
// The compiler of a stranger's module may take minutes or gigabytes whatever
// its context says, and native code cannot be preempted: in the server's own
// process it would stop the garbage collector, and with it everything. So the
// server starts its own binary again, as a runner that holds one module, has an
// empty environment, three descriptors and hard resource limits, and can be
// killed at any moment at the cost of its restart alone.
//
// A process that starts runners must call MaybeRun first thing in main
// (tests: in TestMain). Both sides of the protocol live here: guest.go and
// child.go run in the runner, process.go in the server.
package runner
