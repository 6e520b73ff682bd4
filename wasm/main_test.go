package wasm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ostraka/ostraka/wasm"
	w "github.com/ostraka/ostraka/wasm/internal/wasmtest"
	"github.com/ostraka/ostraka/wasm/runner"
)

func TestMain(m *testing.M) {
	runner.MaybeRun()
	_ = os.Unsetenv("RACE_WASM_RUNNER") // here the race detector sees runners too
	if dir := os.Getenv(doomedServer); dir != "" {
		runDoomedServer(dir)
	}
	goleak.VerifyTestMain(m)
}

// How long a test waits for something that must happen, and how often it looks.
const (
	waitFor = 10 * time.Minute
	tick    = 5 * time.Millisecond
)

// newPool makes a pool with a cache of its own, and closes it after the test.
func newPool(t testing.TB, change func(*wasm.Options)) *wasm.Pool {
	t.Helper()
	o := wasm.Options{CacheDir: filepath.Join(t.TempDir(), "modules")}
	if change != nil {
		change(&o)
	}
	p, err := wasm.NewPool(o)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

// childrenOf lists the runners that a process has started and that still run.
func childrenOf(t testing.TB, pid int) (children []string) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it ended meanwhile
		}
		// pid (name) state ppid …; the name may hold anything.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if fields[1] == fmt.Sprint(pid) && strings.HasPrefix(string(cmdline), "ostraka-wasm-runner") {
			children = append(children, filepath.Base(filepath.Dir(path)))
		}
	}
	return children
}

// doomedServer names the environment variable that makes the test binary a
// server which is to be killed.
const doomedServer = "OSTRAKA_TEST_DOOMED_SERVER"

func runDoomedServer(dir string) {
	p, err := wasm.NewPool(wasm.Options{CacheDir: dir})
	if err != nil {
		panic(err)
	}
	records := func(func([]byte, error) bool) { fmt.Println("running") }
	_, err = p.Run(testContext, "p", wasm.FromBytes(w.Command(w.Forever(nil)).Bytes()), header, records, nil)
	panic(err)
}
