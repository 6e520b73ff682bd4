package linux

// State says how a layer of the sandbox stands.
type State string

// The states of a layer.
const (
	StateOK      State = "ok"
	StateMissing State = "missing"
)

// Names of the layers.
const (
	LayerUser      = "user namespace"
	LayerMount     = "mount namespace"
	LayerPID       = "pid namespace"
	LayerNetwork   = "network namespace"
	LayerIPC       = "ipc namespace"
	LayerUTS       = "uts namespace"
	LayerCgroupNS  = "cgroup namespace"
	LayerRoot      = "root of its own"
	LayerMemory    = "cgroup memory"
	LayerPids      = "cgroup pids"
	LayerCPU       = "cgroup cpu"
	LayerLandlock  = "Landlock"
	LayerSeccomp   = "seccomp"
	LayerPrivilege = "no_new_privs"
	LayerLimits    = "resource limits"
)

// Layer is one wall, as the kernel lets this program build it.
type Layer struct {
	Name   string `json:"name"`
	State  State  `json:"state"`
	Detail string `json:"detail,omitempty"` // what there is, or why it is not
	Fix    string `json:"fix,omitempty"`    // the command that fixes it
}

// Report is what a probe found.
type Report struct {
	Layers []Layer `json:"layers"`
}
