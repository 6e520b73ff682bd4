// Package docker executes shards again in locked-down containers: the levels
// `container` and `gvisor`.
//
// # Who does what
//
//	this process          decides, keeps the batch, records who ended what
//	└─ Docker Engine      starts a container for the batches of one function
//	   └─ supervisor      our own program, process 1 of the container: the agents' harness
//	      └─ zygote …     the interpreter, under the walls of runtime/linux as well
//
// The image is made here, from the interpreter that agents have, the few
// libraries that it needs and this very program: no shell, no package manager,
// no registry. The same parts make the same bytes, so that the image's digest
// says all of it.
//
// A container has no network, no capability, no file of the host and no
// variable; its root is read-only; the function can write only to two small
// tmpfs. Work comes over its stdin and results leave over its stdout, which only
// the supervisor holds. It is started ahead and waits with the interpreter and
// the harness loaded, before any project's code; it serves the
// batches of one function of one project, rests between them with everything
// stopped, and is removed. If a batch needs another hash seed than the
// usual one, the supervisor ends the waiting interpreter and starts another.
//
// The bundle comes over the stdin of a second process, which belongs to another
// user, writes it and ends before any of it runs: the function can read its code
// and change nothing of it, mode and times included.
//
// A failure outside of a function (an unreachable daemon, a lost container) is a
// [recheck.Error] and never a result.
package docker
