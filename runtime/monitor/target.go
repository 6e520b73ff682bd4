package monitor

// Target is where the monitor finds a sandbox on this machine.
type Target struct {
	ID        string // the sandbox's
	PID       int    // the process that all others of the sandbox descend from; 0 while there is none
	Cgroup    string // absolute path of its cgroup, of version 2 or of any controller of version 1; "" where it has none
	Workspace string // absolute path of its workspace as this process can open it; "" where there is none
}
