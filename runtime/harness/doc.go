// Package harness runs a Python function over shards: one interpreter for the
// shards of a lease, and of further leases of the function, one fork a shard.
//
// # Who does what
//
//	Go (this package)      trusted   decides, keeps time, reads all output, checks and hashes
//	└─ zygote (python)     trusted   never runs user code; kills, waits, measures
//	   ├─ template         user code imports the function once, forks when asked
//	   └─ shard            user code runs the handler once, then is gone
//
// The control socket joins Go and the zygote only; neither user process holds
// it. The template forks each shard as its own sibling (clone with CLONE_PARENT;
// where that is unavailable, or the template has threads, by forking twice,
// and the kernel hands the shard to the zygote, which is the subreaper). It is
// therefore the zygote that waits for the shard (wait4), and exit code, signal,
// processor time and peak memory come from the kernel through a process that
// user code has never touched.
//
// A new shard reports to the zygote with one end of a channel that it has just
// made. The kernel tells the zygote who sends (SO_PASSCRED), and it believes
// only a child of its own, one at a time, that it has asked for; any other message
// ends the template and what it serves. The zygote passes the
// channel to Go, and Go sends the order with the shard's ends of the pipes on
// it. So no process that has run user code before ever holds a descriptor of a
// shard: neither threads of the import, nor what it registered to run at forks,
// nor an earlier shard. The next shard is asked for only when nothing is left of
// the last: every process that a shard starts is a descendant of the zygote,
// however often it forks, and has a number that was given out since.
//
// Go keeps the reading ends, so counting, capping and hashing never happen where
// user code could reach them. The result pipe carries one frame, a kind, a
// length and as many bytes; user code may write it, since the result is its own
// to choose, but anything before, after or instead of it is a [StatusError].
// Control messages are single packets (SOCK_SEQPACKET), so their lengths are the
// kernel's. Go decides when to stop a shard and the zygote carries it out; when
// the zygote does not answer, Go kills it and looks for its processes by a mark
// in their environment. (The zygote and the template are not dumpable, so that a
// shard cannot trace them, and an agent that is not root cannot read the environment of
// processes that the import of a function started: Go ends those first, while the
// zygote is still above them.) When Go dies, the zygote sees the end of the
// socket and ends everything; where there is no namespace that ends with it, it
// stays until nothing is left. Shards and template also ask the kernel to die
// with the zygote.
//
// # Ahead of time
//
// An interpreter can be started before its function is known ([Load]): then Python
// and this package's program are in memory, and it waits on its control socket. A
// process keeps the environment that it was started with, so a session with
// another hash seed or time zone starts its own.
//
// # Limits
//
// Every limit has a status of its own ([Statuses]). Those that the kernel
// refuses to pass (memory, open files, the size of a file, where there is a
// cgroup or a file system of its own also processes and the workspace) reach the
// function as an exception. One that it catches does no harm; one that ends the
// shard becomes the limit's status. The exception is the shard's own claim, which
// is good enough: it could only make its own failure look like another failure. A
// full disk counts as the function's doing only if the file system is as large as
// its limit; otherwise Run returns an error. Go enforces the other limits (time,
// sums over processes, output, stdout and stderr, the workspace): it looks while
// the shard runs and again when it is over.
//
// # Determinism
//
// Environment, umask, hash seed and time zone are the same everywhere unless
// [Settings] say otherwise, and each shard has a [Seed], with which Python's
// random module is seeded before the handler runs (with 0 before the import).
//
// # What this does not do
//
// None of this is a security boundary by itself. All these processes have one
// user id: user code can send signals to the zygote (the session then reports
// the shard as killed and starts again), to Go, and to everything else of that
// user; as root it can do anything. It can read and write files, and open
// sockets. In a workspace that is a folder of the machine, files that are open
// and have no name any more are bounded each, not in sum.
//
// Code that runs at import shares one process, the template, with nothing but
// the function's own later shards. It can replace the handler, and this
// program's Python with it: what a shard computes is then the import's choice,
// and it could make shards depend on one another (an open file, a thread). It
// cannot touch its measurements, its status or the results of other functions.
// Processor time of programs that the import starts and waits for is not
// counted. Sandboxes close these gaps from outside: [Config.Prepare] sees the
// command before it starts.
package harness
