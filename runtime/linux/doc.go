// Package linux holds the isolation levels `linux`, `linux-nocgroup` and
// `landlock`: walls of the kernel around the harness, without any program but
// our own and without privileges.
//
// # How a sandbox comes up
//
// Our binary is started again as a launcher ([MaybeLaunch]), in new user,
// mount, pid, network, ipc and uts namespaces. The user namespace knows one
// user: the agent's own, or, when the agent is root, an unprivileged number
// that no other sandbox of the machine has at that time. The launcher
//
//  1. receives an order from the agent over a socket pair, with descriptors that
//     only the agent can open,
//  2. builds a root of its own in a tmpfs: the interpreter, the C library and
//     the bundle read-only, a workspace limited in bytes and inodes, five
//     devices, nothing else; no /proc, no /etc, no file of the host,
//  3. makes it its root by pivot_root and detaches the old one,
//  4. hands the workspace's descriptor to the agent, who collects artifacts
//     and wipes it through that, never through a path,
//  5. joins its cgroup, drops every capability, takes on no_new_privs, Landlock,
//     rlimits and a seccomp allow-list, closes what it does not pass on,
//  6. becomes the interpreter: the harness' zygote, process 1 of the namespace.
//
// Process 1 cannot be killed, stopped or traced from inside its namespace, and
// when it ends the kernel ends everything else: nothing outlives it. Shards add
// a Landlock domain of their own, so that they cannot send signals to the
// template either.
//
// # The levels
//
//   - linux: all of it. cgroup limits hold for all processes together.
//   - linux-nocgroup: no cgroup available. Shards get a second seccomp filter:
//     threads, but no further process, so that limits of one process are limits
//     of all.
//   - landlock: no user namespaces available. The same filters, Landlock rules
//     that show the interpreter, the bundle and the workspace only, rlimits.
//     Other processes are visible by number; signals to them are refused.
//
// A level is offered only when a canary has failed to escape from it ([Prove]).
package linux
