//go:build linux

package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	w "github.com/ostraka/ostraka/wasm/internal/wasmtest"
)

func TestMain(m *testing.M) {
	MaybeRun()
	_ = os.Unsetenv("RACE_WASM_RUNNER") // here the race detector sees runners too
	if os.Getenv(filteredProbe) != "" {
		runFilteredProbe()
		return
	}
	goleak.VerifyTestMain(m)
}

// loaded starts a runner with a module, compiled into the test's own cache.
func loaded(t *testing.T, module []byte, change func(*Setup)) (*Process, error) {
	t.Helper()
	s := NewSpawner()
	t.Cleanup(s.Stop)
	dir := t.TempDir()
	setup := Setup{CacheDir: dir, Memory: 1 << 20, Data: 1 << 30, CPU: 100, FileSize: 1 << 20}
	if change != nil {
		change(&setup)
	}
	p, err := s.Start()
	require.NoError(t, err)
	t.Cleanup(func() { p.Close() })
	return p, p.Load(t.Context(), setup, module)
}

// A runner has nothing that it does not need: not even a descriptor that the
// server itself inherited without knowing.
func TestRunnerIsConfined(t *testing.T) {
	leaked, err := unix.Open("/etc/passwd", unix.O_RDONLY, 0) // no O_CLOEXEC
	require.NoError(t, err)
	defer unix.Close(leaked)
	t.Setenv("OSTRAKA_SECRET", "do not tell")

	p, err := loaded(t, w.Print("1").Bytes(), nil)
	require.NoError(t, err)
	proc := filepath.Join("/proc", fmt.Sprint(p.Pid()))
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(proc, name))
		require.NoError(t, err)
		return string(text)
	}
	require.Empty(t, read("environ"))
	require.Equal(t, "1000\n", read("oom_score_adj"))
	require.Contains(t, read("status"), "NoNewPrivs:\t1")
	limits := read("limits")
	for name, value := range map[string]string{
		"Max core file size": "0", "Max open files": "32", "Max data size": fmt.Sprint(dataFactor << 30), "Max cpu time": "100", "Max file size": "1048576",
	} {
		require.Regexp(t, name+` +`+value+` +`+value+` `, limits)
	}
	fds, err := os.ReadDir(filepath.Join(proc, "fd"))
	require.NoError(t, err)
	for _, fd := range fds {
		target, err := os.Readlink(filepath.Join(proc, "fd", fd.Name()))
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(target, "pipe:") || strings.HasPrefix(target, "anon_inode:"), "descriptor %s is %s", fd.Name(), target)
	}
	group, err := unix.Getpgid(p.Pid())
	require.NoError(t, err)
	require.Equal(t, p.Pid(), group)
	cwd, err := os.Readlink(filepath.Join(proc, "cwd"))
	require.NoError(t, err)
	require.Equal(t, "/", cwd)
}

// The limit of data ends a compile that needs more, and tells why.
func TestCompileOutOfMemory(t *testing.T) {
	module := w.Command(nil)
	for range 10_000 {
		module.Funcs = append(module.Funcs, w.Func{Locals: w.Vec(w.Cat(w.U(100), []byte{w.I64}))})
	}
	_, err := loaded(t, module.Bytes(), func(s *Setup) { s.Data = 20 << 20 })
	var died *Died
	require.ErrorAs(t, err, &died)
	require.True(t, died.Memory, "%v", died)
}

// A runner that only loads may not write: what is missing from the cache is not
// put there by the process that runs the module.
func TestRunnerCannotFillTheCache(t *testing.T) {
	var dir string
	_, err := loaded(t, w.Print("1").Bytes(), func(s *Setup) { s.FileSize, dir = 0, s.CacheDir })
	require.Error(t, err)
	var files []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	}))
	require.Empty(t, files)
}

// A guest that is refused memory does not learn why. Its own limit is the same
// on every machine; what the machine does not have is told apart.
func TestMachineWithoutMemory(t *testing.T) {
	for _, c := range []struct {
		memory uint64
		data   uint64
		pages  int32
		want   Exceeded
	}{
		{1 << 20, 1 << 30, 1, ""},
		{1 << 20, 1 << 30, 16, ExceededMemory},
		{4 << 30, 3 << 30 / dataFactor, 65_000, ExceededMachine},
	} {
		grow := w.Cat(w.Const(c.pages), []byte{0x40, 0x00, 0x1a})
		p, err := loaded(t, w.Command(grow).Bytes(), func(s *Setup) { s.Memory, s.Data = c.memory, c.data })
		require.NoError(t, err)
		o, err := p.Call(t.Context(), Batch{MaxOutput: 10, MaxLine: 10}, nil, func([]byte) error { return nil })
		require.NoError(t, err)
		require.False(t, o.Unsuccessful(), "%+v", o)
		require.Equal(t, c.want, o.Exceeded, c.pages)
	}
}

func TestRunnerRefusesWhatIsNotTheProtocol(t *testing.T) {
	s := NewSpawner()
	defer s.Stop()
	p, err := s.Start()
	require.NoError(t, err)
	defer p.Close()
	_, err = p.in.WriteString("GET / HTTP/1.1\r\n\r\n")
	require.NoError(t, err)
	require.NoError(t, p.in.Flush())
	_, err = p.out.ReadByte()
	require.Error(t, err, "it ends without an answer")
	require.NotZero(t, p.Close().ExitCode())
	p.Kill() // after the end: nothing happens
	p.Close()
}

func TestLoadIsCancelled(t *testing.T) {
	s := NewSpawner()
	defer s.Stop()
	p, err := s.Start()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.Load(ctx, Setup{}, nil), context.Canceled)
}

func TestSpawnerStopped(t *testing.T) {
	s := NewSpawner()
	s.Stop()
	s.Stop()
	_, err := s.Start()
	require.ErrorIs(t, err, errStopped)
}
