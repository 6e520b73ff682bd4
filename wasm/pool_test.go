package wasm_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/builtin"
	w "github.com/ostraka/ostraka/wasm/internal/wasmtest"
)

var testContext = context.Background()

func discard([]byte) error { return nil }

// A million results go through in constant memory: neither the records nor the
// server hold more than a few of them at once.
func TestStreamingKeepsMemoryFlat(t *testing.T) {
	const count, everyN, allowed = 1_000_000, 50_000, 16 << 20
	p := newPool(t, nil)
	a := wasm.Aggregation{Use: wasm.Use{Pool: p, Project: "p", Job: "j", Module: builtin.Module(), Params: json.RawMessage(`{"op":"sum"}`)}}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, peak := heap(), uint64(0)
	items := func(yield func(wasm.Item, error) bool) {
		for i := range count {
			if i%everyN == 0 {
				peak = max(peak, heap())
			}
			if !yield(wasm.Item{ID: fmt.Sprint(i), Result: fmt.Appendf(nil, `{"passed":%d,"tested":1000}`, i)}, nil) {
				return
			}
		}
	}
	partial, stats, err := a.Fold(t.Context(), items)
	require.NoError(t, err)
	require.EqualValues(t, count, stats.InLines)
	require.Less(t, peak, before+allowed)
	require.Less(t, stats.Memory, int64(8<<20), "the module itself stays small too")
	f, _, err := a.Final(t.Context(), wasm.Each([]wasm.Partial{partial}))
	require.NoError(t, err)
	require.Equal(t, `{"passed":499999500000,"tested":1000000000}`, string(f.Value))
	t.Logf("%d items in %v, heap %d KiB over %d KiB", count, stats.Wall, int64(peak-before)>>10, before>>10)
}

// A module that reads nothing leaves the records unread: they are pulled as it
// asks for them, not before.
func TestRecordsArePulledOnDemand(t *testing.T) {
	const held = 2000 // is more than the pipe and the buffers hold
	p := newPool(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var pulled atomic.Int64
	records := func(yield func([]byte, error) bool) {
		line := []byte(`"` + strings.Repeat("x", 1000) + `"`)
		for yield(line, nil) {
			pulled.Add(1)
		}
	}
	ended := make(chan error, 1)
	go func() {
		_, err := p.Run(ctx, "p", wasm.FromBytes(w.Command(w.Forever(nil)).Bytes()), header, records, discard)
		ended <- err
	}()
	// Until as many have been pulled as there is room for, which takes no time that is known.
	before := int64(0)
	require.Eventually(t, func() bool {
		now := pulled.Load()
		stopped := now > 0 && now == before
		before = now
		return stopped || now >= held
	}, time.Minute, 300*time.Millisecond)
	require.Less(t, pulled.Load(), int64(held))
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}

// A module that ends without reading everything is fine, and the runner serves on.
func TestModuleMayStopReading(t *testing.T) {
	p := newPool(t, nil)
	module := wasm.FromBytes(w.Print("1").Bytes())
	for i := range 3 {
		records := func(yield func([]byte, error) bool) {
			for range 100_000 {
				if !yield([]byte(`"0123456789"`), nil) {
					return
				}
			}
		}
		stats, err := p.Run(t.Context(), "p", module, header, records, discard)
		require.NoError(t, err)
		require.Equal(t, i > 0, stats.Warm)
		require.EqualValues(t, 1, stats.OutLines)
		require.EqualValues(t, 100_000, stats.InLines)
	}
}

func TestEndlessModuleDoesNotStopAnotherProject(t *testing.T) {
	endless := wasm.FromBytes(w.Command(w.Forever(nil)).Bytes())
	t.Run("side by side", func(t *testing.T) {
		p := newPool(t, func(o *wasm.Options) { o.Runners = 2 })
		ctx, cancel := context.WithCancel(t.Context())
		running, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			_, err := p.Run(ctx, "a", endless, header, func(func([]byte, error) bool) { close(running) }, discard)
			ended <- err
		}()
		<-running
		_, err := p.Run(t.Context(), "b", wasm.FromBytes(w.Print("1").Bytes()), header, nil, discard)
		require.NoError(t, err)
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
	})
	t.Run("one after the other", func(t *testing.T) {
		p := newPool(t, func(o *wasm.Options) { o.Runners = 1; o.Limits.Wall = 500 * time.Millisecond })
		var mu sync.Mutex
		var order []string
		var all sync.WaitGroup
		running := make(chan struct{}, 10)
		run := func(project string, m wasm.Module) {
			all.Go(func() {
				_, _ = p.Run(t.Context(), project, m, header, func(func([]byte, error) bool) { running <- struct{}{} }, discard)
				mu.Lock()
				defer mu.Unlock()
				order = append(order, project)
			})
		}
		for range 5 {
			run("a", endless)
		}
		<-running
		run("b", wasm.FromBytes(w.Print("1").Bytes()))
		all.Wait()
		require.Len(t, order, 6)
		require.Contains(t, order[:4], "b", "a's queue is not served before b's turn: %v", order)
	})
}

func TestWarmRunners(t *testing.T) {
	p := newPool(t, func(o *wasm.Options) { o.IdleFor = time.Hour })
	run := func(project, text string) wasm.Stats {
		stats, err := p.Run(t.Context(), project, wasm.FromBytes(w.Print(text).Bytes()), header, nil, discard)
		require.NoError(t, err)
		return stats
	}
	require.False(t, run("a", "1").Warm)
	require.True(t, run("a", "1").Warm)
	require.False(t, run("a", "2").Warm, "one module per runner")
	require.False(t, run("b", "1").Warm, "one project per runner")
	require.Len(t, childrenOf(t, os.Getpid()), 3)
	for i := range wasm.MaxIdle + 2 {
		run(fmt.Sprint(i), "1")
	}
	require.Len(t, childrenOf(t, os.Getpid()), wasm.MaxIdle)
	p.Close()
	require.Empty(t, childrenOf(t, os.Getpid()))
	_, err := p.Run(t.Context(), "a", wasm.FromBytes(w.Print("1").Bytes()), header, nil, discard)
	require.ErrorIs(t, err, wasm.ErrClosed)
	p.Close()
}

func TestIdleRunnersEnd(t *testing.T) {
	p := newPool(t, func(o *wasm.Options) { o.IdleFor = time.Millisecond })
	_, err := p.Run(t.Context(), "a", wasm.FromBytes(w.Print("1").Bytes()), header, nil, discard)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(childrenOf(t, os.Getpid())) == 0 }, waitFor, tick)
}

func TestRunnersAreReplacedAfterManyJobs(t *testing.T) {
	p := newPool(t, nil)
	module := wasm.FromBytes(w.Print("1").Bytes())
	cold := 0
	for range wasm.MaxJobs + 1 {
		stats, err := p.Run(t.Context(), "a", module, header, nil, discard)
		require.NoError(t, err)
		if !stats.Warm {
			cold++
		}
	}
	require.Equal(t, 2, cold)
}

func TestCloseEndsRunningBatches(t *testing.T) {
	p := newPool(t, nil)
	running, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := p.Run(t.Context(), "a", wasm.FromBytes(w.Command(w.Forever(nil)).Bytes()), header, func(func([]byte, error) bool) { close(running) }, discard)
		ended <- err
	}()
	<-running
	p.Close()
	require.ErrorIs(t, <-ended, wasm.ErrClosed)
	require.Empty(t, childrenOf(t, os.Getpid()))
}

// A server that is killed leaves no runner behind, not even a busy one.
func TestRunnersDieWithTheServer(t *testing.T) {
	server := exec.Command("/proc/self/exe")
	server.Env = append(os.Environ(), doomedServer+"="+filepath.Join(t.TempDir(), "modules"))
	out, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "running\n", line)
	children := childrenOf(t, server.Process.Pid)
	require.Len(t, children, 1)
	require.NoError(t, server.Process.Kill())
	_ = server.Wait() // killed
	require.Eventually(t, func() bool {
		_, err := os.Stat("/proc/" + children[0])
		return errors.Is(err, os.ErrNotExist)
	}, waitFor, tick)
}

func TestErrorsOfTheCaller(t *testing.T) {
	p := newPool(t, nil)
	module := wasm.FromBytes(w.Print("1\n2\n").Bytes())
	mine := errors.New("the database is gone")
	for name, c := range map[string]struct {
		records []string
		err     error
		out     error
		want    string
	}{
		"records fail":    {[]string{`1`}, mine, nil, "record 2: the database is gone"},
		"out fails":       {nil, nil, mine, "the database is gone"},
		"two lines":       {[]string{"1\n2"}, nil, nil, "record 1: it is more than one line"},
		"record too long": {[]string{`"` + strings.Repeat("x", wasm.MaxLine) + `"`}, nil, nil, "at most 8388608"},
	} {
		t.Run(name, func(t *testing.T) {
			records := func(yield func([]byte, error) bool) {
				for _, r := range c.records {
					if !yield([]byte(r), nil) {
						return
					}
				}
				if c.err != nil {
					yield(nil, c.err)
				}
			}
			_, err := p.Run(t.Context(), "p", module, header, records, func([]byte) error { return c.out })
			var e *wasm.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, wasm.ClassHost, e.Class)
			require.True(t, e.Operational())
			require.Contains(t, e.Message, c.want)
			if c.err != nil || c.out != nil {
				require.ErrorIs(t, err, mine)
			}
		})
	}
	_, err := p.Run(t.Context(), "p", module, header, nil, discard)
	require.NoError(t, err)
}

func TestStoredBytesAreHeldAgainstTheDigest(t *testing.T) {
	p := newPool(t, nil)
	m := wasm.FromBytes(w.Print("1").Bytes())
	m.Open = func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("other")), nil }
	_, err := p.Run(t.Context(), "p", m, header, nil, discard)
	require.ErrorContains(t, err, "the stored bytes have digest")
}

// A cold cache, as after a restart on another machine, is filled again; a warm
// one saves compiling.
func TestCacheSurvivesThePool(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "modules")
	for range 2 {
		p := newPool(t, func(o *wasm.Options) { o.CacheDir = dir })
		_, err := p.Run(t.Context(), "p", builtin.Module(), header, nil, discard)
		require.NoError(t, err)
		p.Close()
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, entries, 1)
	}
	require.NoError(t, os.RemoveAll(dir))
	p := newPool(t, func(o *wasm.Options) { o.CacheDir = dir })
	_, err := p.Run(t.Context(), "p", builtin.Module(), header, nil, discard)
	require.NoError(t, err)
}
