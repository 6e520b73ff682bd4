// Package monitor looks at running sandboxes from outside, once a second: processor
// time, memory, workspace, network, processes and output. It compares the
// values with thresholds (package threshold), tells handlers of every alert, and
// ends the work of a sandbox when a value stays critical. The latest values go to
// the server with each heartbeat, which keeps the history.
//
// It is made to watch hundreds of sandboxes. A sandbox with a cgroup costs a few
// small files; for all the others together the table of processes is read once a
// tick. The limits of a function are enforced by the sandbox itself, at once and
// without the monitor: thresholds are for values that somebody wants to hear of,
// or to end, earlier.
package monitor
