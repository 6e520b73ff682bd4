package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/ostraka/ostraka/runtime/monitor"
	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

const (
	// watchedTrees is how many sandboxes are watched, and treeSize of how many processes each is: a launcher, a template and a shard.
	watchedTrees, treeSize = 200, 3
	// watchFor is how long: a tick a second.
	watchFor = 10 * time.Second
)

// monitor measures what it costs to watch sandboxes without cgroups, which is the dearer way.
func (b *bench) monitor(ctx context.Context) (figures []figure, err error) {
	m := monitor.New(monitor.Options{Log: slog.New(slog.DiscardHandler)})
	rules := threshold.Rules{Memory: &threshold.Pair{Warning: "80%", Critical: "95%"}, Processes: &threshold.Pair{Critical: "90%"}}
	plan, err := threshold.Merge(threshold.Limits{MemoryBytes: 256 << 20, Processes: 32}, threshold.Source{Name: "bench", Rules: &rules})
	if err != nil {
		return nil, err
	}
	for i := range watchedTrees {
		tree, err := startTree()
		if err != nil {
			return nil, err
		}
		defer tree.end()
		dir, err := os.MkdirTemp(b.dir, "workspace")
		if err != nil {
			return nil, err
		}
		id := fmt.Sprintf("box %d", i)
		m.Watch(monitor.Sandbox{
			ID: id, Plan: plan, OutputBytes: func() int64 { return 0 },
			Target: func() monitor.Target { return monitor.Target{ID: id, PID: tree.cmd.Process.Pid, Workspace: dir} },
		})
	}
	limited, cancel := context.WithTimeout(ctx, watchFor)
	defer cancel()
	before, err := processorTime()
	if err != nil {
		return nil, err
	}
	m.Run(limited)
	after, err := processorTime()
	if err != nil {
		return nil, err
	}
	busy, looks := m.Cost()
	percent := (after - before).Seconds() / watchFor.Seconds() * 100
	each := (after - before).Seconds() * 1e6 / float64(max(looks, 1))
	say("monitor: %d sandboxes of %d processes, %d looks: %.2f%% of a processor, %.0f us a look (%v on the clock)", watchedTrees, treeSize, looks, percent, each, busy)
	if s, _ := m.State("box 0"); s.Sample.Processes != treeSize {
		return nil, fmt.Errorf("the monitor saw %d processes in a tree of %d", s.Sample.Processes, treeSize)
	}
	return []figure{{"monitor_cpu_percent_200", percent}, {"monitor_us_per_look", each}}, ctx.Err()
}

// processorTime is what this process has used.
func processorTime() (time.Duration, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0, fmt.Errorf("reading the processor time: %w", err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), nil
}

// tree is a few processes that wait.
type tree struct {
	cmd  *exec.Cmd
	hold io.Closer
}

func startTree() (*tree, error) {
	cmd := exec.Command("/bin/sh", "-c", strings.Repeat("cat <&3 & ", treeSize-1)+"echo; wait")
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd.ExtraFiles = []*os.File{r}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting processes to watch: %w", err), w.Close())
	}
	_, err = io.ReadFull(out, make([]byte, 1))
	return &tree{cmd, w}, err
}

// end lets all of them read the end of their input.
func (t *tree) end() {
	_ = t.hold.Close()
	_ = t.cmd.Wait()
}
