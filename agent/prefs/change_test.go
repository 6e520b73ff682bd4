package prefs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/prefs"
)

func TestOfChangesAtATimeNoneIsLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent", prefs.FileName)
	names := []string{"sandboxes", "cores", "busy_above", "keep_free", "memory", "disk"}
	values := []string{"2", "3", "80", "1Gi", "4Gi", "5Gi"}
	var all sync.WaitGroup
	errs := make([]error, len(names))
	for i := range names {
		all.Go(func() {
			errs[i] = prefs.Change(path, func(content []byte) ([]byte, error) { return prefs.Set(content, names[i], values[i]) })
		})
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
	content, err := prefs.Read(path)
	require.NoError(t, err)
	p, err := prefs.Parse(content)
	require.NoError(t, err, string(content))
	require.Equal(t, []string{"2", "3", "80"}, []string{strconv.Itoa(p.Sandboxes), strconv.Itoa(p.Cores), strconv.Itoa(p.BusyAbove)})
	require.Equal(t, []int64{1 << 30, 4 << 30, 5 << 30}, []int64{p.KeepFreeBytes, p.MemoryBytes, p.DiskBytes})
}

func TestAChangeThatIsNoneLeavesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), prefs.FileName)
	require.NoError(t, os.WriteFile(path, []byte("cores = 2\n"), 0o600))
	for name, how := range map[string]func([]byte) ([]byte, error){
		"refused": func([]byte) ([]byte, error) { return []byte("cores = 3\n"), os.ErrInvalid },
		"wrong":   func([]byte) ([]byte, error) { return []byte("colour = 3\n"), nil },
	} {
		require.Error(t, prefs.Change(path, how), name)
		content, err := prefs.Read(path)
		require.NoError(t, err)
		require.Equal(t, "cores = 2\n", string(content), name)
	}
}
