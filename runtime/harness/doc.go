// Package harness runs a Python function over shards: one interpreter a lease,
// one fork a shard.
//
// # Who does what
//
//	Go (this package)      trusted   decides, keeps time, reads all output, checks and hashes
//	└─ zygote (python)     trusted   never runs user code; kills, waits, measures
//	   ├─ template         user code imports the function once, forks when asked
//	   └─ shard            user code runs the handler once, then is gone
//
// The control socket joins Go and the zygote only; neither user process holds
// it. The template forks twice for each shard and the process in between leaves
// at once, so the kernel hands the shard to the zygote, which is the subreaper.
// It is therefore the zygote that waits for the shard (wait4), and exit code,
// signal, processor time and peak memory come from the kernel through a process
// that user code has never touched. The template says which process is the
// shard; the zygote believes it only for a child of its own, and counts the
// time of every process it collects, so a false name hides nothing. What is
// left when the shard ends is killed before the next one starts: whatever a
// shard starts is a descendant of the zygote, however often it forks.
//
// Go makes four pipes a shard (input, stdout, stderr, result), passes one end
// of each down, and reads the others itself, so counting, capping and hashing
// never happen where user code could reach them. On the result pipe stands one
// frame, a kind, a length and as many bytes; user code may write it, since the
// result is its own to choose, but anything before, after or instead of it is a
// [StatusError]. Control messages are single packets (SOCK_SEQPACKET), so their
// lengths are the kernel's. Go decides when to stop a shard (time, output,
// memory, processes, context) and the zygote carries it out; when the zygote
// does not answer, Go kills it and looks for its processes by a mark in their
// environment. (The zygote and the template are not dumpable, so that a shard
// cannot trace them; of what the import of a function started, this search
// therefore finds nothing unless Go runs as root.) When Go dies, the zygote sees the end of the socket and ends
// everything; shards and template also ask the kernel to die with the zygote.
//
// # What this does not do
//
// None of this is a security boundary by itself. All these processes have one
// user id: user code can send signals to the zygote (the session then reports
// the shard as killed and starts again), to Go, and to everything else of that
// user; as root it can do anything. It can read and write files, and open
// sockets. Code that runs at import shares one process, the template, with
// nothing but the function's own later shards, and could make them depend on
// one another (an open file, a thread); processor time of programs that the
// import starts and waits for is not counted. Memory limits are per process,
// with a watchdog for the sum. Sandboxes close these gaps from outside:
// [Config.Prepare] sees the command before it starts.
package harness
