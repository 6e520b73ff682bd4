//go:build linux

package linux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// surroundings decide how to get a missing layer.
type surroundings struct {
	root      bool
	container bool
	apparmor  bool // Ubuntu 23.10 and later: user namespaces without rights
	clone     bool // Debian's switch is off
	none      bool // no user namespaces are allowed at all
	program   string
}

func machine() surroundings {
	s := surroundings{root: os.Geteuid() == 0, container: inContainer()}
	s.apparmor = sysctl("kernel/apparmor_restrict_unprivileged_userns") == 1
	s.clone = sysctl("kernel/unprivileged_userns_clone") == 0
	s.none = sysctl("user/max_user_namespaces") == 0
	s.program = "ostraka"
	if path, err := os.Executable(); err == nil {
		s.program = path
	}
	return s
}

// sysctl is a setting of the kernel, -1 where there is none.
func sysctl(name string) int64 {
	n, err := readNumber("/proc/sys/" + name)
	if err != nil {
		return -1
	}
	return n
}

// inContainer tells by the marks that Docker, Podman and systemd leave. A virtual machine that was made from a container's image bears
// them too, but shares the kernel's own namespaces, which no container does.
func inContainer() bool {
	return containerMarks("/") && !ownsTheMachine(os.Readlink)
}

func containerMarks(root string) bool {
	for _, path := range []string{".dockerenv", "run/.containerenv", "run/systemd/container"} {
		if _, err := os.Stat(filepath.Join(root, path)); err == nil {
			return true
		}
	}
	return false
}

// firstNamespaces are those that the kernel begins with: their numbers are fixed (include/linux/proc_ns.h).
var firstNamespaces = map[string]uint32{"pid": 0xEFFFFFFC, "uts": 0xEFFFFFFE, "ipc": 0xEFFFFFFF, "cgroup": 0xEFFFFFFB}

// ownsTheMachine says whether this process is in all of the first namespaces. One of a container may be left out of some of them
// (docker run --pid=host), not of all.
func ownsTheMachine(readlink func(string) (string, error)) bool {
	for name, number := range firstNamespaces {
		link, err := readlink("/proc/self/ns/" + name)
		if err != nil || link != fmt.Sprintf("%s:[%d]", name, number) {
			return false
		}
	}
	return true
}

func (s surroundings) user() string {
	if s.root {
		return "each sandbox gets a user number of its own"
	}
	return "sandboxes run as this user, without rights"
}

// withoutUser explains why there is no user namespace.
func (s surroundings) withoutUser(err error) Layer {
	l := Layer{Name: LayerUser, State: StateMissing, Detail: err.Error()}
	switch {
	case errors.Is(err, errNotHooked):
		return l
	case s.none:
		l.Detail = "user.max_user_namespaces is 0"
		l.Fix = "echo user.max_user_namespaces=15000 | sudo tee /etc/sysctl.d/60-ostraka.conf && sudo sysctl --system"
	case s.clone && !s.root:
		l.Detail = "kernel.unprivileged_userns_clone is 0"
		l.Fix = "echo kernel.unprivileged_userns_clone=1 | sudo tee /etc/sysctl.d/60-ostraka.conf && sudo sysctl --system"
	case s.apparmor && !s.root:
		l.Detail, l.Fix = s.apparmored()
	case s.container:
		l.Detail = "the container's runtime does not allow it (" + err.Error() + ")"
		l.Fix = "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined …"
	}
	return l
}

// apparmored is Ubuntu's: user namespaces can be made, but give no rights in
// them unless a profile allows the program.
func (s surroundings) apparmored() (detail, fix string) {
	return "AppArmor gives programs without a profile no rights in a user namespace (kernel.apparmor_restrict_unprivileged_userns is 1)",
		fmt.Sprintf(`printf 'abi <abi/4.0>,\ninclude <tunables/global>\nprofile ostraka %s flags=(unconfined) {\n  userns,\n}\n' | sudo tee /etc/apparmor.d/ostraka && sudo apparmor_parser -r /etc/apparmor.d/ostraka`, s.program)
}

// layer explains how a layer that was tried went.
func (s surroundings) layer(name string, tried map[string]string) Layer {
	l := Layer{Name: name, State: StateMissing}
	trouble, ok := tried[name]
	switch {
	case !ok:
		l.Detail = "it could not be tried"
		return l
	case trouble == "":
		l.State, l.Detail = StateOK, s.detail(name)
		return l
	}
	l.Detail = trouble
	switch {
	case name == LayerLandlock:
		l.Fix = landlockFix(trouble)
	case s.apparmor && !s.root:
		l.Detail, l.Fix = s.apparmored()
	case s.container:
		l.Fix = "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined …"
	}
	return l
}

func (s surroundings) detail(name string) string {
	if name != LayerLandlock {
		return ""
	}
	abi, err := landlockABI()
	if err != nil {
		return ""
	}
	if abi < ScopesABI {
		return fmt.Sprintf("ABI %d; from %d on (Linux 6.12) it also keeps signals in", abi, ScopesABI)
	}
	return fmt.Sprintf("ABI %d", abi)
}

func landlockFix(trouble string) string {
	if strings.Contains(trouble, unix.EOPNOTSUPP.Error()) {
		return `add "landlock" to lsm= on the kernel's command line: sudo sed -i 's/^GRUB_CMDLINE_LINUX="/&lsm=landlock,lockdown,yama,apparmor /' /etc/default/grub && sudo update-grub && sudo reboot`
	}
	return "use Linux 6.2 or later with CONFIG_SECURITY_LANDLOCK=y"
}

// cgroups tries to make a cgroup of each controller.
func (s surroundings) cgroups() []Layer {
	names := map[string]string{memoryController: LayerMemory, pidsController: LayerPids, cpuController: LayerCPU}
	h, err := findHierarchy()
	if err == nil {
		err = h.prepare()
	}
	var layers []Layer
	for _, c := range []string{memoryController, pidsController, cpuController} {
		l := Layer{Name: names[c], State: StateMissing}
		switch {
		case err != nil:
			l.Detail = err.Error()
		case h.folder(c) == "":
			l.Detail = "the kernel does not pass this controller on to the agent"
		default:
			if failed := h.try(c); failed != nil {
				l.Detail = failed.Error()
			} else {
				l.State, l.Detail = StateOK, fmt.Sprintf("version %d", h.version(c))
			}
		}
		if l.State != StateOK {
			l.Fix = s.cgroupFix()
		}
		layers = append(layers, l)
	}
	return layers
}

// try makes a group of one controller and removes it.
func (h *hierarchy) try(controller string) error {
	one := &hierarchy{v1: map[string]string{}, v2: h.v2}
	if h.version(controller) == 1 {
		one.v1[controller] = h.v1[controller]
	} else {
		one.in = []string{controller}
	}
	g, err := one.newGroup(groupName(0))
	if err != nil {
		return err
	}
	return g.remove()
}

func (s surroundings) cgroupFix() string {
	switch {
	case s.container:
		return "docker run --privileged --cgroupns=private … (or run the agent on the host)"
	case s.root:
		return "run the agent as a systemd service with Delegate=yes: sudo ostraka agent install"
	}
	return "systemd-run --user --scope -p Delegate=yes " + s.program + " agent start …"
}
