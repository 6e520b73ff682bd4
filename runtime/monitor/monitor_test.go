package monitor

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/monitor/threshold"
	"github.com/ostraka/ostraka/testenv"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// family starts a shell with so many children that all stay until the test ends.
func family(t *testing.T, children int) int {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", strings.Repeat("cat <&3 >/dev/null & ", children)+"echo here; cat <&3 >/dev/null; wait")
	r, w, err := os.Pipe()
	require.NoError(t, err)
	cmd.ExtraFiles = []*os.File{r}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.NoError(t, r.Close())
	t.Cleanup(func() {
		require.NoError(t, w.Close()) // all of them read the end
		_ = cmd.Wait()
	})
	_, err = io.ReadFull(out, make([]byte, len("here\n")))
	require.NoError(t, err)
	return cmd.Process.Pid
}

func plan(t *testing.T, r threshold.Rules) threshold.Plan {
	t.Helper()
	p, err := threshold.Merge(threshold.Limits{MemoryBytes: 1 << 30, Processes: 100}, threshold.Source{Name: "the test", Rules: &r})
	require.NoError(t, err)
	return p
}

// box is a sandbox for tests.
func box(id string, pid int, dir string, p threshold.Plan, kill func(string)) Sandbox {
	return Sandbox{
		ID: id, Plan: p, Kill: kill, OutputBytes: func() int64 { return 7 },
		Target: func() Target { return Target{ID: id, PID: pid, Workspace: dir} },
	}
}

// heard collects events.
type heard struct {
	mu     sync.Mutex
	events []Event
}

func (*heard) Name() string { return "test" }

func (h *heard) Handle(_ context.Context, e Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
	return nil
}

func (h *heard) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.events)
}

func run(t *testing.T, m *Monitor) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}

// TestWhatASampleShows looks at real processes and a real workspace.
func TestWhatASampleShows(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "b", "f"), make([]byte, 1<<20), 0o600))
	require.NoError(t, os.Symlink("/usr", filepath.Join(dir, "link")))
	m := New(Options{Log: quiet()})
	end := m.Watch(box("one", family(t, 3), dir, plan(t, threshold.Rules{}), nil))
	m.look(newLooker("/proc", quiet()), m.all())
	s, found := m.State("one")
	require.True(t, found)
	require.True(t, s.Sampled)
	require.GreaterOrEqual(t, s.Sample.Processes, int64(4), "the shell and three cats")
	require.Positive(t, s.Sample.MemoryBytes)
	require.Less(t, s.Sample.MemoryBytes, int64(100<<20))
	require.GreaterOrEqual(t, s.Sample.WorkspaceBytes, int64(1<<20))
	require.Less(t, s.Sample.WorkspaceBytes, int64(2<<20), "what a link points to is not the sandbox's")
	require.Equal(t, threshold.NetworkShared, s.Sample.Network)
	require.Equal(t, int64(7), s.Sample.OutputBytes)
	end()
	_, found = m.State("one")
	require.True(t, found, "what was seen last stays")
	_, found = m.State("two")
	require.False(t, found)
}

// TestProcessorTime has a process that does nothing but count.
func TestProcessorTime(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "while :; do :; done")
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
	})
	m := New(Options{Log: quiet(), Interval: 50 * time.Millisecond})
	m.Watch(box("busy", cmd.Process.Pid, "", plan(t, threshold.Rules{}), nil))
	run(t, m)
	testenv.Eventually(t, func() bool {
		s, _ := m.State("busy")
		return s.Sample.CPUPercent > 10
	}, "the monitor sees that it is busy")
}

// TestCriticalKills follows a value that stays critical: the alert, the order to end, the handlers, and that what comes next is judged
// anew.
func TestCriticalKills(t *testing.T) {
	var reasons []string
	var mu sync.Mutex
	h := &heard{}
	m := New(Options{Log: quiet(), Interval: 5 * time.Millisecond, Handlers: []Handler{h}})
	p := plan(t, threshold.Rules{Processes: &threshold.Pair{Warning: "1", Critical: "2"}, Samples: 2})
	sandbox := box("one", family(t, 2), "", p, func(reason string) {
		mu.Lock()
		defer mu.Unlock()
		reasons = append(reasons, reason)
	})
	sandbox.About = About{Job: "a job"}
	m.Watch(sandbox)
	run(t, m)
	testenv.Eventually(t, func() bool { return h.count() >= 2 }, "two shards are ended")
	mu.Lock()
	defer mu.Unlock()
	require.Contains(t, reasons[0], "critical threshold of 2 (the test)")
	h.mu.Lock()
	defer h.mu.Unlock()
	require.Equal(t, "a job", h.events[0].Job)
	require.Equal(t, threshold.Critical, h.events[0].Level)
	require.True(t, h.events[0].Killed)
	s, _ := m.State("one")
	require.NotEmpty(t, s.Alerts)
}

// TestMemoryIsExactWhereItMatters counts what processes share once when the bound is at a threshold, though the guess is below it: these
// have started another program, and share less than forks do.
func TestMemoryIsExactWhereItMatters(t *testing.T) {
	look, pid := newLooker("/proc", quiet()), family(t, 20)
	far := plan(t, threshold.Rules{Memory: &threshold.Pair{Critical: "100%"}})
	near := plan(t, threshold.Rules{Memory: &threshold.Pair{Critical: "1Ki"}})
	between := plan(t, threshold.Rules{Memory: &threshold.Pair{Critical: "12Mi"}})
	testenv.Eventually(t, func() bool { // processes that have just begun grow between the two looks
		look.begin(time.Now())
		sum := look.processes().below(pid)
		require.Equal(t, sum.memory, look.exactly(sum, &far))
		exact := look.exactly(sum, &near)
		return sum.memory < 12<<20 && sum.bound >= 12<<20 && exact > 0 && exact <= sum.bound && exact == look.exactly(sum, &between)
	}, "what is shared is counted once")
}

func TestEndedSandboxesAreBounded(t *testing.T) {
	m := New(Options{Log: quiet()})
	for i := range MaxEnded + 1 {
		m.Watch(box(string(rune('A'+i)), 0, "", threshold.Plan{}, nil))()
	}
	_, found := m.State("A")
	require.False(t, found, "the oldest is forgotten")
	_, found = m.State(string(rune('A' + 1)))
	require.True(t, found)
}

func TestAProcessThatIsGone(t *testing.T) {
	m := New(Options{Log: quiet()})
	m.Watch(box("gone", 1<<22+1, "/no/such/folder", plan(t, threshold.Rules{}), nil))
	m.look(newLooker("/proc", quiet()), m.all())
	s, _ := m.State("gone")
	require.Zero(t, s.Sample.Processes)
	require.Zero(t, s.Sample.MemoryBytes)
	require.Equal(t, threshold.NetworkUnknown, s.Sample.Network)
}

// TestWorkspacesAreCountedWithinReason stops counting at the limit, and says so.
func TestWorkspacesAreCountedWithinReason(t *testing.T) {
	dir := t.TempDir()
	const most = 20
	for i := range most - 1 { // the folder itself is one
		require.NoError(t, os.Mkdir(filepath.Join(dir, string(rune('A'+i))), 0o700))
	}
	_, partial := countWorkspace(dir, most)
	require.False(t, partial)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "one more"), 0o700))
	_, partial = countWorkspace(dir, most)
	require.True(t, partial)
}

// TestCgroups reads the files of both versions.
func TestCgroups(t *testing.T) {
	root := t.TempDir()
	write := func(path, text string) {
		path = filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	for path, text := range map[string]string{
		"two/box/cgroup.controllers": "cpu memory pids\n", "two/box/memory.current": "5000\n", "two/box/memory.stat": "anon 1\ninactive_file 1000\n",
		"two/box/cpu.stat": "usage_usec 42\nuser_usec 1\n", "two/box/pids.current": "3\n",
		"memory/a/box/memory.usage_in_bytes": "5000\n", "memory/a/box/memory.stat": "inactive_file 9\ntotal_inactive_file 1000\n",
		"cpu,cpuacct/a/box/cpuacct.usage": "42000\n", "pids/a/box/pids.current": "3\n",
	} {
		write(path, text)
	}
	for _, dir := range []string{"two/box", "memory/a/box", "pids/a/box", "cpu,cpuacct/a/box"} {
		c, read := findCgroup(filepath.Join(root, dir)), newReader()
		require.NotContains(t, []string{c.memory, c.cpu, c.pids}, "", dir)
		memory, ok := c.memoryBytes(read)
		require.True(t, ok)
		require.Equal(t, int64(4000), memory, dir)
		micros, ok := c.cpuMicros(read)
		require.True(t, ok)
		require.Equal(t, int64(42), micros, dir)
		pids, ok := read.number(c.pids)
		require.True(t, ok)
		require.Equal(t, int64(3), pids, dir)
	}
	none := findCgroup(filepath.Join(root, "none"))
	require.Equal(t, []string{"", "", ""}, []string{none.memory, none.cpu, none.pids})
	_, ok := none.memoryBytes(newReader())
	require.False(t, ok)
}

func TestNetworkFigures(t *testing.T) {
	const head = "Inter-|   Receive                                                |  Transmit\n face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n"
	for name, c := range map[string]struct {
		text       string
		carried    int64
		interfaces int
		ok         bool
	}{
		"nothing":            {"", 0, 0, false},
		"the loopback alone": {head + "    lo: 100 1 0 0 0 0 0 0 100 1 0 0 0 0 0 0\n", 0, 0, true},
		"an interface":       {head + "    lo: 100 1 0 0 0 0 0 0 100 1 0 0 0 0 0 0\n  eth0:200 1 0 0 0 0 0 0 30 1 0 0 0 0 0 0\n", 230, 1, true},
		"cut off":            {head + "  eth0: 200 1", 0, 0, true},
	} {
		carried, interfaces, ok := parseNetDev([]byte(c.text))
		require.Equal(t, []any{c.carried, c.interfaces, c.ok}, []any{carried, interfaces, ok}, name)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("1 (a) b) S 0 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9 10 11 18446744073709551615"))
	f.Add([]byte("1 ("))
	f.Fuzz(func(_ *testing.T, text []byte) {
		parseStat(text)
		parseNetDev(text)
	})
}

func TestParseStat(t *testing.T) {
	p, ok := parseStat([]byte("12 (a) b) S 7 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9 10 11 18446744073709551615\n"))
	require.True(t, ok)
	require.Equal(t, process{parent: 7, ticks: 5 + 6 + 7 + 8, started: 9, rss: 11 * int64(os.Getpagesize())}, p)
	_, ok = parseStat([]byte("12 (a) S 7"))
	require.False(t, ok)
}

// failing is a handler that never gets anywhere.
type failing struct{ begun chan struct{} } // holds one

func (f failing) Name() string { return "failing" }

func (f failing) Handle(ctx context.Context, _ Event) error {
	select {
	case f.begun <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return errors.New("in vain")
}

// TestAHandlerThatHangsHoldsUpNobody goes on looking while one hangs, and leaves out what does not fit.
func TestAHandlerThatHangsHoldsUpNobody(t *testing.T) {
	f := failing{make(chan struct{}, 1)}
	m := New(Options{Log: quiet(), Interval: time.Millisecond, Handlers: []Handler{f}})
	run(t, m)
	for range MaxWaiting + 2 {
		m.bells[0].ring(Event{})
	}
	<-f.begun
	m.Watch(box("one", os.Getpid(), "", plan(t, threshold.Rules{}), nil))
	testenv.Eventually(t, func() bool { s, _ := m.State("one"); return s.Sampled }, "the monitor goes on")
}
