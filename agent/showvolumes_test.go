//go:build linux

package agent

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/agent/ledger"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/volume"
)

// writingSession is a sandbox whose function writes to a folder, and goes on until it is ended where it writes too much.
type writingSession struct {
	isolation.Session
	path   string
	most   int
	closed chan struct{}
}

func (s *writingSession) Run(ctx context.Context, _ int64, input []byte) (harness.Result, error) {
	if err := os.WriteFile(filepath.Join(s.path, "kept"), input, 0o600); err != nil {
		return harness.Result{}, err
	}
	if len(input) > s.most {
		<-ctx.Done()
		return harness.Result{}, ctx.Err()
	}
	return harness.Result{Status: harness.StatusOK}, nil
}

func (s *writingSession) Close() error {
	close(s.closed)
	return nil
}

// A function that keeps more in a volume than the owner allows is ended while it runs, the lease goes back by a code of its own, and what it has kept is
// removed; what others keep within their bounds stays, and the owner can look up how much it is.
func TestVolumeSessionEndsWhatWritesTooMuch(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.json")
	history, err := ledger.Open(file)
	require.NoError(t, err)
	a := &agent{log: slog.New(slog.DiscardHandler), ledger: history}
	m := volume.Mapping{Name: "cache", Path: t.TempDir(), Mode: volume.ReadWrite, MaxBytes: 10}
	w, lease := volume.NewWritable(slog.New(slog.DiscardHandler)), &client.Lease{Project: uuid.New(), Function: "f", Version: 1}
	session := func() (*volumeSession, string) {
		folder, err := w.Lend(m, lease.Project, "f", volume.NewBlocklist())
		require.NoError(t, err)
		folders := []*volume.Folder{folder}
		guarded, stop := volume.Guard(t.Context(), folders)
		inner := &writingSession{path: folder.Path(), most: 10, closed: make(chan struct{})}
		return newVolumeSession(guarded, inner, a, lease, folders, stop), folder.Path()
	}
	s, path := session()
	r, err := s.Run(t.Context(), 0, make([]byte, 10))
	require.NoError(t, err)
	require.Equal(t, harness.StatusOK, r.Status)
	require.NoError(t, s.Close())
	require.FileExists(t, filepath.Join(path, "kept"))

	s, path = session()
	_, err = s.Run(t.Context(), 1, make([]byte, 11))
	require.Equal(t, refusedVolume, refusalOf(err).Code)
	require.Contains(t, refusalOf(err).Text, "volume cache: functions keep more in it than the owner of this machine allows: 11 bytes of at most 10")
	require.NoError(t, s.Close())
	require.NoFileExists(t, filepath.Join(path, "kept"))

	s, path = session()
	require.NoError(t, os.WriteFile(filepath.Join(path, "between"), make([]byte, 11), 0o600), "by a thread that it has left")
	<-s.Session.(*writingSession).closed // no shard runs
	_, err = s.Run(t.Context(), 2, nil)
	require.Equal(t, refusedVolume, refusalOf(err).Code)
	require.NoError(t, s.Close())
	require.NoFileExists(t, filepath.Join(path, "between"))

	s, path = session()
	require.NoError(t, os.WriteFile(filepath.Join(path, "late"), make([]byte, 11), 0o600))
	require.Equal(t, refusedVolume, refusalOf(s.Close()).Code, "no shard has said so")
	require.NoFileExists(t, filepath.Join(path, "late"))

	require.NoError(t, history.Keep(time.Now()))
	entries, err := ledger.Read(file)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, ledger.Work{WrittenFiles: 4, WrittenBytes: 43}, entries[0].Work)
}

// A function that writes too much while it is imported is ended then, and nothing of it stays.
func TestVolumesAreGuardedDuringTheImport(t *testing.T) {
	a, lease := &agent{log: slog.New(slog.DiscardHandler)}, &client.Lease{Project: uuid.New(), Function: "f", Version: 1}
	m := volume.Mapping{Name: "cache", Path: t.TempDir(), Mode: volume.ReadWrite, MaxBytes: 10}
	folder, err := volume.NewWritable(slog.New(slog.DiscardHandler)).Lend(m, lease.Project, "f", volume.NewBlocklist())
	require.NoError(t, err)
	kept := filepath.Join(folder.Path(), "kept")
	_, _, err = a.openGuarded(t.Context(), lease, []*volume.Folder{folder}, func(ctx context.Context) (isolation.Session, func(), error) {
		if err := os.WriteFile(kept, make([]byte, 11), 0o600); err != nil {
			return nil, nil, err
		}
		<-ctx.Done() // it would never end by itself
		return nil, nil, context.Cause(ctx)
	})
	require.Equal(t, refusedVolume, refusalOf(err).Code)
	require.NoFileExists(t, kept)
}
