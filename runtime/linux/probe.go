//go:build linux

package linux

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// probeArgument is how our binary knows that it is to try the walls and to say
// how that went.
const probeArgument = "__ostraka-sandbox-probe"

// probeTime is how long that may take.
const probeTime = 30 * time.Second

// Probe tries every layer, in a process of its own, and says what is missing
// and how to get it. A layer that it reports as there, it has built.
func Probe(ctx context.Context) Report {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	m := machine()
	tried, err := runProbe(ctx, true)
	var report Report
	if err != nil {
		report.Layers = append(report.Layers, m.withoutUser(err))
		if tried, err = runProbe(ctx, false); err != nil {
			tried = map[string]string{}
		}
		for _, name := range []string{LayerMount, LayerPID, LayerNetwork, LayerIPC, LayerUTS, LayerCgroupNS, LayerRoot} {
			report.Layers = append(report.Layers, Layer{Name: name, State: StateMissing, Detail: "needs a user namespace"})
		}
	} else {
		report.Layers = append(report.Layers, Layer{Name: LayerUser, State: StateOK, Detail: m.user()})
		for _, name := range []string{LayerMount, LayerPID, LayerNetwork, LayerIPC, LayerUTS, LayerCgroupNS, LayerRoot} {
			report.Layers = append(report.Layers, m.layer(name, tried))
		}
	}
	report.Layers = append(report.Layers, m.cgroups()...)
	for _, name := range []string{LayerLandlock, LayerSeccomp, LayerPrivilege, LayerLimits} {
		report.Layers = append(report.Layers, m.layer(name, tried))
	}
	return report
}

// runProbe starts the probe, in a user namespace or without one.
func runProbe(ctx context.Context, namespace bool) (map[string]string, error) {
	if !hooked.Load() {
		return nil, errNotHooked
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", probeArgument)
	cmd.Args[0], cmd.Env = "ostraka-sandbox", []string{}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if namespace {
		user, err := probeUser()
		if err != nil {
			return nil, err
		}
		defer user.release()
		(&Runner{}).attributes(cmd.SysProcAttr, user)
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
	}
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w %s", err, strings.TrimSpace(stderr.String()))
	}
	tried := map[string]string{}
	if err := json.Unmarshal(out, &tried); err != nil {
		return nil, fmt.Errorf("reading what the probe says: %w", err)
	}
	return tried, nil
}

func probeUser() (*slot, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	return takeSlot()
}

// probeMain tries the layers and prints, for each, why it failed, or nothing.
func probeMain() {
	tried := map[string]string{}
	try := func(name string, err error) {
		tried[name] = ""
		if err != nil {
			tried[name] = err.Error()
		}
	}
	for _, ns := range []struct {
		name string
		flag int
	}{
		{LayerIPC, unix.CLONE_NEWIPC},
		{LayerUTS, unix.CLONE_NEWUTS},
		{LayerCgroupNS, unix.CLONE_NEWCGROUP},
		{LayerNetwork, unix.CLONE_NEWNET},
		{LayerPID, unix.CLONE_NEWPID},
		{LayerMount, unix.CLONE_NEWNS},
	} {
		try(ns.name, unix.Unshare(ns.flag))
	}
	if tried[LayerMount] == "" {
		try(LayerRoot, probeRoot())
	} else {
		try(LayerRoot, errors.New("needs a mount namespace"))
	}
	try(LayerPrivilege, unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	try(LayerLimits, lower(rlimit{Resource: unix.RLIMIT_CORE}))
	try(LayerLandlock, probeLandlock())
	try(LayerSeccomp, probeSeccomp())
	if err := json.NewEncoder(os.Stdout).Encode(tried); err != nil {
		os.Exit(exitBroken) //nolint:forbidigo // see MaybeLaunch
	}
	os.Exit(0) //nolint:forbidigo // see MaybeLaunch
}

// probeRoot builds a root and moves into it.
func probeRoot() error {
	l := launcher{order: &order{
		Namespaces: true, Workspace: quota{Bytes: 1 << 20, Inodes: 64},
		Binds: []bind{{Source: "/dev/null", Target: "/dev/null", Device: true}},
	}}
	if err := l.separate(); err != nil {
		return err
	}
	return l.root()
}

func probeLandlock() error {
	abi, err := landlockABI()
	switch {
	case err != nil:
		return err
	case abi < minLandlock:
		return fmt.Errorf("version %d; %d is needed", abi, minLandlock)
	}
	l := launcher{order: &order{Writable: "/"}}
	if err := l.rules(); err != nil {
		return err
	}
	if _, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(l.ruleset), 0, 0); e != 0 {
		return e
	}
	return nil
}

// probeSeccomp installs a filter that refuses one call, and tries the call.
func probeSeccomp() error {
	var p program
	p.start()
	p.on(refuse(unix.EXDEV), unix.SYS_PERSONALITY)
	p.ret(verdictAllow)
	f := finish{filter: unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}}
	if e := f.load(); e != 0 {
		return e
	}
	if _, _, e := unix.RawSyscall(unix.SYS_PERSONALITY, 0xffffffff, 0, 0); e != unix.EXDEV {
		return errors.New("a filter was taken and does nothing")
	}
	return nil
}
