package guests_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/wasm"
	w "github.com/ostraka/ostraka/wasm/internal/wasmtest"
)

// buildGo builds a program of testdata for WASI.
func buildGo(t *testing.T, name string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "module.wasm")
	cmd := exec.Command("go", "build", "-o", out, filepath.Join("testdata", name, "main.go"))
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", text)
	module, err := os.ReadFile(out)
	require.NoError(t, err)
	return module
}

// What a module sees is the same in every run, and nothing of the machine.
func TestModuleSeesNothingOfTheMachine(t *testing.T) {
	t.Setenv("OSTRAKA_SECRET", "do not tell")
	p := newPool(t, func(o *wasm.Options) { o.Limits.Compile = wasm.MaxCompile })
	probe := wasm.FromBytes(buildGo(t, "probe"))
	var seen []string
	for _, project := range []string{"a", "a", "b"} {
		h := header
		h.Project = "same"
		_, err := p.Run(t.Context(), project, probe, h, func(yield func([]byte, error) bool) { yield([]byte(`{}`), nil) }, func(line []byte) error {
			seen = append(seen, string(line))
			return nil
		})
		require.NoError(t, err)
	}
	require.Equal(t, seen[0], seen[1], "in the same runner")
	require.Equal(t, seen[0], seen[2], "in another runner")
	var got struct {
		Args, Environ           []string
		Now                     string
		Slept                   bool
		Rest                    int
		Open, Create, Dir, Dial string
	}
	require.NoError(t, json.Unmarshal([]byte(seen[0]), &got))
	require.Equal(t, []string{"module"}, got.Args)
	require.Empty(t, got.Environ)
	require.Equal(t, "2026-01-01T00:00:00Z", got.Now)
	require.True(t, got.Slept, "two hours passed at once")
	require.Equal(t, 3, got.Rest)
	for _, failure := range []string{got.Open, got.Create, got.Dir, got.Dial} {
		require.NotEqual(t, "<nil>", failure)
	}
}

// The fuel does not depend on how the records arrive.
func TestFuelIsTheSameHoweverRecordsArrive(t *testing.T) {
	p := newPool(t, func(o *wasm.Options) { o.Limits.Compile = wasm.MaxCompile })
	probe := wasm.FromBytes(buildGo(t, "probe"))
	record := []byte(`"` + strings.Repeat("x", 700) + `"`)
	var seen []int64
	for _, pause := range []int{0, 1, 7} {
		records := func(yield func([]byte, error) bool) {
			for i := range 300 {
				if pause > 0 && i%pause == 0 {
					// Another batch takes its time meanwhile.
					_, err := p.Run(t.Context(), "other", wasm.FromBytes(w.Print("1").Bytes()), header, nil, discard)
					require.NoError(t, err)
				}
				if !yield(record, nil) {
					return
				}
			}
		}
		stats, err := p.Run(t.Context(), "p", probe, header, records, discard)
		require.NoError(t, err)
		require.Positive(t, stats.Fuel)
		seen = append(seen, stats.Fuel)
	}
	require.Equal(t, seen[0], seen[1])
	require.Equal(t, seen[0], seen[2])
}
