//go:build linux

package docker

import (
	_ "embed"
	"fmt"
	"maps"
	"strconv"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/strslice"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/inputfile"
	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/runtime/recheck"
	"github.com/ostraka/ostraka/runtime/volume"
)

//go:embed seccomp.json
var seccompProfile string

const (
	// supervisorMemory is what process 1 may hold beside the function: its heap, its program and what passes through it.
	supervisorMemory = 192 << 20
	// bundleStep is in what steps the room for a bundle grows, so that most
	// functions fit containers that were started ahead.
	bundleStep = 8 << 20
	// inputStep is the same for the files of shards.
	inputStep = 64 << 20
	// inputInodes is what they can be at most.
	inputInodes = inputfile.MaxFiles * inputDepth
	inputDepth  = 64
	// spareTasks is by how much the limit of a user's processes is above that of the container: it is the cgroup that refuses, and counts.
	spareTasks = 64
	// page is what a file takes at least.
	page = 4096
	// bundleInodes is what a bundle can hold at most: files and the folders above each.
	bundleInodes = bundle.MaxFiles * (bundle.MaxPathDepth + 1)
	// gvisorTasks is what gVisor's own kernel needs beside what it runs; with 16 it does not start.
	gvisorTasks = 128
	// oneProcessor is one processor as Docker counts them.
	oneProcessor = 1_000_000_000
	// preferredVictim is how the kernel of the host ranks containers when it is out of memory: before the server.
	preferredVictim = 500
)

// shape is all of a container that depends on the function. Containers are started ahead for a shape.
type shape struct {
	image                                                       string // empty: the usual one
	memory, workspace, inodes, bundle, inputs, pids, processors int64
}

// shapeOf is what a function needs, for shards with so many bytes of files at most.
func shapeOf(b *bundle.Bundle, inputs int64) shape {
	l, mounts := b.Manifest.Limits, linux.ContainerMounts(b.Manifest)
	room := b.UnpackedBytes + int64(len(b.Files))*page
	s := shape{
		workspace: mounts.Limits.Bytes, inodes: mounts.Limits.Inodes, pids: l.Pids,
		bundle: max(1, (room+bundleStep-1)/bundleStep) * bundleStep,
		// A function that may use more processor time than passes counts on several processors.
		processors: max(1, (l.CPUSeconds+l.WallSeconds-1)/l.WallSeconds),
	}
	if inputs > 0 {
		s.inputs = (inputs + inputStep - 1) / inputStep * inputStep
	}
	s.memory = linux.ContainerMemory(b.Manifest) + s.bundle + s.inputs + supervisorMemory
	return s
}

// inputsOf is how much room the files of a batch's largest shard take.
func inputsOf(batch recheck.Batch) (most int64) {
	for _, s := range batch.Shards {
		var sum int64
		for _, f := range s.Files {
			sum += (f.Size + page - 1) / page * page
		}
		most = max(most, sum)
	}
	return most
}

// defaultShape is that of a function which states no limits.
func defaultShape() shape {
	return shapeOf(&bundle.Bundle{Manifest: bundle.Manifest{Entrypoint: "main:handler", Limits: bundle.DefaultLimits()}}, 0)
}

// user of a container: no other user of the machine has the number.
type user int

func (u user) String() string { return strconv.Itoa(int(u)) + ":" + strconv.Itoa(int(u)) }

// writer is who writes the bundle.
func (u user) writer() user { return u + 1 }

// tmpfs are the options of a mount that only the user can read and write.
func (u user) tmpfs(bytes, inodes int64) string { return u.mount(bytes, inodes, "0700") }

// readable are those of a mount that others can read.
func (u user) readable(bytes, inodes int64) string { return u.mount(bytes, inodes, "0755") }

func (u user) mount(bytes, inodes int64, mode string) string {
	return fmt.Sprintf("rw,noexec,nosuid,nodev,size=%d,nr_inodes=%d,mode=%s,uid=%d,gid=%d", bytes, inodes, mode, u, u)
}

// hostConfig is every wall that Docker puts up.
func (e *engine) hostConfig(s shape, u user, folders ...*volume.Folder) *container.HostConfig {
	never, noInit, noSwap := false, false, int64(0)
	pids := s.pids + linux.ContainerTasks
	if e.level == bundle.GVisor {
		pids += gvisorTasks
	}
	mounts := linux.ContainerMounts(bundle.Manifest{})
	h := &container.HostConfig{
		NetworkMode:    "none",
		IpcMode:        container.IPCModeNone,
		CgroupnsMode:   container.CgroupnsModePrivate,
		ReadonlyRootfs: true,
		CapDrop:        strslice.StrSlice{"ALL"},
		SecurityOpt:    []string{"no-new-privileges", "seccomp=" + seccompProfile},
		LogConfig:      container.LogConfig{Type: "none"},
		RestartPolicy:  container.RestartPolicy{Name: container.RestartPolicyDisabled},
		Init:           &noInit,
		OomScoreAdj:    preferredVictim,
		Runtime:        e.runtime,
		Mounts:         mountsOf(folders),
		Tmpfs: map[string]string{
			mounts.Bundle: u.writer().readable(s.bundle, bundleInodes), mounts.Inputs: u.tmpfs(max(s.inputs, page), inputInodes),
		},
		MaskedPaths: []string{
			"/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats",
			"/proc/sched_debug", "/proc/scsi", "/sys/firmware", "/sys/devices", "/sys/class", "/sys/block", "/sys/bus", "/sys/module", "/sys/kernel", "/sys/power", "/sys/dev",
		},
		ReadonlyPaths: []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"},
		Resources: container.Resources{
			Memory: s.memory, MemorySwap: s.memory, // together: no swap
			NanoCPUs: min(s.processors, int64(e.processors)) * oneProcessor, PidsLimit: &pids, OomKillDisable: &never,
			Ulimits: []*container.Ulimit{
				ulimit("core", 0), ulimit("memlock", 0), ulimit("msgqueue", 0), ulimit("nice", 0), ulimit("rtprio", 0), ulimit("sigpending", 256),
				ulimit("nofile", bundle.MaxLimits().OpenFiles), ulimit("nproc", pids+spareTasks), ulimit("fsize", max(s.workspace, s.bundle, s.inputs)), ulimit("stack", 8<<20),
			},
		},
	}
	for _, dir := range append([]string{mounts.Workspace}, mounts.Beside...) {
		h.Tmpfs[dir] = u.tmpfs(s.workspace, s.inodes)
	}
	maps.Copy(h.Tmpfs, emptyVolumes(u, folders))
	if e.cgroups == "1" {
		h.MemorySwappiness = &noSwap
	}
	return h
}

func ulimit(name string, n int64) *container.Ulimit {
	return &container.Ulimit{Name: name, Soft: n, Hard: n}
}
