package devdb

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func writeLog(t *testing.T, path string, limit int64, chunks ...string) *boundedLog {
	t.Helper()
	l := &boundedLog{path: path, limit: limit, report: slog.Default()}
	require.NoError(t, l.open())
	for _, c := range chunks {
		require.NoError(t, l.write([]byte(c)))
	}
	require.NoError(t, l.file.Close())
	return l
}

func TestLogAtItsLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	writeLog(t, path, 10, "12345", "67890")
	require.NoFileExists(t, path+".1")

	writeLog(t, path, 10, "x") // one past, and across a restart
	requireFile(t, path, "x")
	requireFile(t, path+".1", "1234567890")

	writeLog(t, path, 10, strings.Repeat("y", 10))
	requireFile(t, path, "yyyyyyyyyy")
	requireFile(t, path+".1", "x")
}

func requireFile(t *testing.T, path, want string) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(b))
}

func TestLogReadsOnWhenItCannotWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	require.NoError(t, os.Mkdir(dir, 0o700))
	var report bytes.Buffer
	l, w, err := openLog(filepath.Join(dir, "log"), slog.New(slog.NewTextHandler(&report, nil)))
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(dir))
	chunk := bytes.Repeat([]byte("z"), 1<<20)
	for range MaxLogBytes/len(chunk) + 2 { // a blocked pipe would hang here
		_, err := w.Write(chunk)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	l.drain(time.Minute)
	require.Equal(t, 1, strings.Count(report.String(), "lines are being lost"), "said once")
	require.Len(t, l.lastWords(), maxReport)
}

func TestLogFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Symlink("/dev/null", filepath.Join(dir, "log")))
	_, _, err := openLog(filepath.Join(dir, "log"), slog.Default())
	require.ErrorContains(t, err, "opening the database's log")
}
