//go:build linux

package linux

import (
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/ostraka/ostraka/runtime/volume"
)

// order is what the launcher is told. Paths are the host's unless they say
// otherwise.
type order struct {
	Namespaces bool     `json:"namespaces"` // the launcher runs in its own and builds a root
	Contained  bool     `json:"contained"`  // a container around it has them: bundle, workspace and interpreter stand where a root would show them
	Binds      []bind   `json:"binds"`      // what the root shows of the host, read-only
	Workspace  quota    `json:"workspace"`
	Writable   string   `json:"writable"` // without namespaces: the workspace's folder on the host
	Limits     []rlimit `json:"limits"`
	Cgroups    int      `json:"cgroups"` // how many descriptors of cgroup.procs come with the order
	Program    string   `json:"program"` // the interpreter as the sandbox sees it
	Args       []string `json:"args"`
	Env        []string `json:"env"`
	Dir        string   `json:"dir"` // where it starts, as the sandbox sees it
}

// bind shows one file or folder of the host.
type bind struct {
	Source string `json:"source"`
	Target string `json:"target"` // inside
	Dir    bool   `json:"dir"`
	Device bool   `json:"device"`
	Exec   bool   `json:"exec"` // programs and libraries may be run from it
	// Writable says that files may be made and changed in it: a volume that functions write to.
	Writable bool `json:"writable"`
	// Mount says that a descriptor of a detached mount comes with the order:
	// an agent that is root opens what the sandbox's user could not reach.
	Mount bool `json:"mount"`
	// Held says that a descriptor of the folder comes with the order: the launcher opens Source without following links, and it must be
	// that folder still.
	Held bool `json:"held"`

	folder *volume.Folder // of a volume
}

// quota limits a tmpfs.
type quota struct {
	Bytes  int64 `json:"bytes"`
	Inodes int64 `json:"inodes"`
}

type rlimit struct {
	Resource int    `json:"resource"`
	Soft     uint64 `json:"soft"`
	Hard     uint64 `json:"hard"`
}

// answer is what the launcher says before it becomes the interpreter. A
// descriptor of the workspace comes with it.
type answer struct {
	Step     string `json:"step,omitempty"` // that failed
	Error    string `json:"error,omitempty"`
	Errno    int    `json:"errno,omitempty"`
	Landlock int    `json:"landlock"` // version of the ABI in force
}

const (
	// maxOrder bounds an order as JSON: a few dozen paths.
	maxOrder = 256 << 10
	// maxDescriptors is what one control message of the kernel carries
	// (SCM_MAX_FD).
	maxDescriptors = 253
)

// sendPacket writes one message with descriptors beside it.
func sendPacket(socket int, message any, fds ...int) error {
	data, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	if len(data) > maxOrder || len(fds) > maxDescriptors {
		return fmt.Errorf("a message of %d bytes with %d descriptors: at most %d and %d are possible", len(data), len(fds), maxOrder, maxDescriptors)
	}
	var beside []byte
	if len(fds) > 0 {
		beside = unix.UnixRights(fds...)
	}
	if err := unix.Sendmsg(socket, data, beside, nil, unix.MSG_NOSIGNAL); err != nil {
		return fmt.Errorf("sending a message: %w", err)
	}
	return nil
}

// errEnd says that the other side has closed the socket.
var errEnd = errors.New("the other side has gone")

// receivePacket reads one message and its descriptors, which close on exec.
func receivePacket(socket int, message any) ([]int, error) {
	data, beside := make([]byte, maxOrder), make([]byte, unix.CmsgSpace(maxDescriptors*4))
	n, nb, flags, _, err := unix.Recvmsg(socket, data, beside, unix.MSG_CMSG_CLOEXEC)
	for errors.Is(err, unix.EINTR) {
		n, nb, flags, _, err = unix.Recvmsg(socket, data, beside, unix.MSG_CMSG_CLOEXEC)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("receiving a message: %w", err)
	case n == 0:
		return nil, errEnd
	}
	fds, err := descriptors(beside[:nb])
	if err == nil && flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 {
		err = errors.New("receiving a message: it does not fit")
	}
	if err == nil {
		err = json.Unmarshal(data[:n], message)
	}
	if err != nil {
		closeAll(fds)
		return nil, fmt.Errorf("receiving a message: %w", err)
	}
	return fds, nil
}

func descriptors(beside []byte) ([]int, error) {
	messages, err := unix.ParseSocketControlMessage(beside)
	if err != nil {
		return nil, err
	}
	var fds []int
	for i := range messages {
		got, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			closeAll(fds)
			return nil, err
		}
		fds = append(fds, got...)
	}
	return fds, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}
