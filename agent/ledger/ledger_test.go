package ledger_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/ledger"
)

var (
	noon    = time.Date(2026, 11, 24, 12, 0, 0, 0, time.Local)
	project = uuid.MustParse("0190a5d4-0000-7000-8000-000000000001")
)

func open(t *testing.T, path string) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(path)
	require.NoError(t, err)
	return l
}

func read(t *testing.T, path string) []ledger.Entry {
	t.Helper()
	entries, err := ledger.Read(path)
	require.NoError(t, err)
	return entries
}

func TestWorkIsCountedByDayAndFunctionAndKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.json")
	require.Empty(t, read(t, path))
	l := open(t, path)
	one := ledger.Work{Shards: 1, CPUMicros: 10, WallMicros: 20, OutputBytes: 30}
	l.Add(noon, project, "f", 1, one)
	l.Add(noon, project, "f", 1, ledger.Work{Shards: 1, Failed: 1, CPUMicros: 1})
	l.Add(noon, project, "f", 2, ledger.Work{Shards: 1, CPUMicros: 99})
	l.Add(noon.AddDate(0, 0, -1), project, "f", 1, one)
	require.NoError(t, l.Keep(noon))
	want := []ledger.Entry{
		{"2026-11-24", project, "f", 2, ledger.Work{Shards: 1, CPUMicros: 99}},
		{"2026-11-24", project, "f", 1, ledger.Work{Shards: 2, Failed: 1, CPUMicros: 11, WallMicros: 20, OutputBytes: 30}},
		{"2026-11-23", project, "f", 1, one},
	}
	require.Equal(t, want, read(t, path))
	again := open(t, path)
	again.Add(noon, project, "f", 2, ledger.Work{Shards: 1})
	require.NoError(t, again.Keep(noon))
	want[0].Shards = 2
	require.Equal(t, want, read(t, path))
	require.Equal(t, int64(4), ledger.Since(want, noon).Shards)
	require.Equal(t, int64(5), ledger.Since(want, noon.AddDate(0, 0, -1)).Shards)
	require.Zero(t, ledger.Since(want, noon.AddDate(0, 0, 1)))
}

func TestWhatIsTooLongAgoIsForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.json")
	l := open(t, path)
	for _, ago := range []int{0, ledger.KeptDays - 1, ledger.KeptDays} {
		l.Add(noon.AddDate(0, 0, -ago), project, "f", 1, ledger.Work{Shards: 1})
	}
	require.NoError(t, l.Keep(noon))
	require.Len(t, read(t, path), 2)
}

func TestADayTellsOnlySoManyFunctionsApart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.json")
	l := open(t, path)
	for n := range ledger.MaxEntries + 1 {
		l.Add(noon, project, fmt.Sprintf("f%d", n), 1, ledger.Work{Shards: 1})
	}
	l.Add(noon, project, "f0", 1, ledger.Work{Shards: 1}) // it is known already
	l.Add(noon.AddDate(0, 0, 1), project, "new", 1, ledger.Work{Shards: 1})
	require.NoError(t, l.Keep(noon))
	entries := read(t, path)
	require.Len(t, entries, ledger.MaxEntries+1)
	require.Contains(t, entries, ledger.Entry{Day: "2026-11-24", Function: ledger.Others, Work: ledger.Work{Shards: 2}})
	require.Equal(t, int64(ledger.MaxEntries+3), ledger.Since(entries, noon).Shards)
	require.NoError(t, open(t, path).Keep(noon), "nothing has changed")
}

func TestAFileThatCannotBeReadIsPutAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.json")
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	l, err := ledger.Open(path)
	require.ErrorContains(t, err, "it is kept as history.json.damaged")
	require.FileExists(t, path+".damaged")
	l.Add(noon, project, "f", 1, ledger.Work{Shards: 1})
	require.NoError(t, l.Keep(noon))
	require.Len(t, read(t, path), 1)
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	_, err = ledger.Read(path)
	require.Error(t, err)
}
