package spool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func open(t testing.TB, dir string, most int64) *Spool {
	t.Helper()
	s, err := Open(dir, most)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func TestWhatWasWrittenIsThereAfterARestart(t *testing.T) {
	dir, id := t.TempDir(), uuid.New()
	s := open(t, dir, DefaultBytes)
	l, err := s.Begin(id, []byte(`{"lease":1}`))
	require.NoError(t, err)
	large := bytes.Repeat([]byte("x"), 1<<20)
	require.NoError(t, l.Output(digest(large), large))
	for shard := range int64(5) {
		require.NoError(t, l.Result(shard, fmt.Appendf(nil, `{"n":%d}`, shard)))
	}
	require.NoError(t, l.Reported([]int64{0, 3}))
	require.NoError(t, l.Adopted())
	kept, err := l.ReadOutput(digest(large))
	require.NoError(t, err)
	require.Equal(t, large, kept)
	_, err = s.Begin(id, nil)
	require.ErrorIs(t, err, os.ErrExist)

	// The process dies here: nothing is closed.
	again := open(t, dir, DefaultBytes)
	logs, dropped, err := again.Leftovers(time.Now())
	require.NoError(t, err)
	require.Empty(t, dropped)
	require.Len(t, logs, 1)
	l = logs[0]
	require.JSONEq(t, `{"lease":1}`, string(l.Lease))
	require.Equal(t, map[int64][]byte{1: []byte(`{"n":1}`), 2: []byte(`{"n":2}`), 4: []byte(`{"n":4}`)}, l.Results)
	require.Equal(t, []int64{0, 3}, l.Known)
	require.Equal(t, 1, l.Adoptions)
	require.Zero(t, l.Torn)
	kept, err = l.ReadOutput(digest(large))
	require.NoError(t, err)
	require.Equal(t, large, kept)
	_, err = l.ReadOutput(digest(nil))
	require.ErrorContains(t, err, "not there")
	require.Equal(t, s.Used(), again.Used())

	require.NoError(t, l.Result(4, []byte(`{"n":5}`)), "it goes on")
	require.NoError(t, l.Remove())
	require.Zero(t, again.Used())
	logs, _, err = again.Leftovers(time.Now())
	require.NoError(t, err)
	require.Empty(t, logs)
}

func TestTheSpoolIsBounded(t *testing.T) {
	s := open(t, t.TempDir(), 1000)
	l, err := s.Begin(uuid.New(), []byte("{}"))
	require.NoError(t, err)
	room := 1000 - s.Used() - head - 8
	require.ErrorIs(t, l.Result(1, make([]byte, room+1)), ErrFull)
	require.NoError(t, l.Result(1, make([]byte, room)))
	require.EqualValues(t, 1000, s.Used())
	require.ErrorIs(t, l.Reported(nil), ErrFull)
	_, err = s.Begin(uuid.New(), []byte("{}"))
	require.ErrorIs(t, err, ErrFull)
	s.Limit(2000)
	require.NoError(t, l.Reported(nil))
	require.Error(t, l.append(kindOutput, make([]byte, MaxRecord+1)))
	require.NoError(t, l.Remove())
	require.Zero(t, s.Used())
}

func TestWhatIsNoLogIsDropped(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(outside, []byte(magic), 0o600))
	put := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	put("notes.txt", "mine")
	put(uuid.NewString()+".log", "something else, long enough to be read")
	put(uuid.NewString()+".log", "")
	put(uuid.NewString()+".log", magic)
	put(uuid.NewString()+".log", magic+string(record('R', "12345678{}")))
	put(uuid.NewString()+".log", magic+string(record('L', "{}"))+string(record('?', "")))
	put(uuid.NewString()+".log", magic+string(record('L', "{}"))+string(record('K', "no")))
	old := put(uuid.NewString()+".log", magic+string(record('L', "{}")))
	require.NoError(t, os.Chtimes(old, time.Time{}, time.Now().Add(-MaxAge-time.Hour)))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, uuid.NewString()+".log")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, uuid.NewString()+".log"), 0o700))
	good := put(uuid.NewString()+".log", magic+string(record('L', "{}")))
	s := open(t, dir, DefaultBytes)
	logs, dropped, err := s.Leftovers(time.Now())
	require.NoError(t, err)
	require.Len(t, logs, 1)
	require.Len(t, dropped, 10)
	require.FileExists(t, outside)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, filepath.Base(good), entries[0].Name())
}

func record(kind byte, content string) []byte {
	r := []byte{0, 0, byte(len(content) >> 8), byte(len(content))}
	r = append(r, digestOf(kind, []byte(content))...)
	return append(append(r, kind), content...)
}

// TestTornWrites cuts a log at every byte and flips every byte: what was whole before stays, and nothing wrong is ever read.
func TestTornWrites(t *testing.T) {
	whole := []byte(magic)
	ends := []int{}
	for _, r := range [][]byte{record('L', "{}"), record('R', "\x00\x00\x00\x00\x00\x00\x00\x01one"), record('R', "\x00\x00\x00\x00\x00\x00\x00\x02two"), record('K', "[1]")} {
		whole = append(whole, r...)
		ends = append(ends, len(whole))
	}
	check := func(content []byte, broken int) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, uuid.NewString()+".log"), content, 0o600))
		logs, dropped, err := open(t, dir, DefaultBytes).Leftovers(time.Now())
		require.NoError(t, err)
		if broken < ends[0] {
			require.Empty(t, logs)
			require.Len(t, dropped, 1)
			return
		}
		require.Len(t, logs, 1)
		l := logs[0]
		want := map[int64][]byte{}
		if broken >= ends[1] && broken < ends[3] {
			want[1] = []byte("one")
		}
		if broken >= ends[2] {
			want[2] = []byte("two")
		}
		require.Equal(t, want, l.Results, broken)
		require.NoError(t, l.Result(7, []byte("seven")), "it can be written on")
		logs, _, err = open(t, dir, DefaultBytes).Leftovers(time.Now())
		require.NoError(t, err)
		want[7] = []byte("seven")
		require.Equal(t, want, logs[0].Results, broken)
	}
	for n := range whole {
		check(whole[:n], n)
		flipped := bytes.Clone(whole)
		flipped[n] ^= 0x40
		check(flipped, n)
	}
	check(whole, len(whole))
}

func TestAnOutputThatHasChangedIsNotRead(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, DefaultBytes)
	l, err := s.Begin(uuid.New(), []byte("{}"))
	require.NoError(t, err)
	output := []byte(strings.Repeat("a", 100))
	require.NoError(t, l.Output(digest(output), output))
	path := filepath.Join(dir, l.name)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	content[len(content)-1] ^= 1
	require.NoError(t, os.WriteFile(path, content, 0o600))
	_, err = l.ReadOutput(digest(output))
	require.ErrorContains(t, err, "have changed")
}

func TestAWriteThatFailsLeavesALogThatCanBeRead(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, DefaultBytes)
	l, err := s.Begin(uuid.New(), []byte("{}"))
	require.NoError(t, err)
	require.NoError(t, l.Result(1, []byte("one")))
	used := s.Used()
	readOnly, err := os.Open(filepath.Join(dir, l.name))
	require.NoError(t, err)
	writable := l.file
	l.file = readOnly
	require.Error(t, l.Result(2, []byte("two")))
	require.Equal(t, used, s.Used())
	require.ErrorContains(t, l.Result(3, []byte("three")), "writing the spool", "it is broken for good, as nothing could be cut off")
	l.file = writable
	require.NoError(t, readOnly.Close())
	logs, _, err := open(t, dir, DefaultBytes).Leftovers(time.Now())
	require.NoError(t, err)
	require.Equal(t, map[int64][]byte{1: []byte("one")}, logs[0].Results)
}

func TestLogsAreReadAsTheyWereWritten(t *testing.T) {
	base, runs := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		dir := filepath.Join(base, strconv.Itoa(runs))
		require.NoError(rt, os.Mkdir(dir, 0o700))
		s, err := Open(dir, DefaultBytes)
		require.NoError(rt, err)
		defer s.Close()
		l, err := s.Begin(uuid.New(), []byte("{}"))
		require.NoError(rt, err)
		want := map[int64][]byte{}
		for range rapid.IntRange(0, 20).Draw(rt, "steps") {
			shard := rapid.Int64Range(0, 5).Draw(rt, "shard")
			content := rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(rt, "content")
			require.NoError(rt, l.Result(shard, content))
			want[shard] = content
		}
		require.NoError(rt, l.Close())
		logs, dropped, err := s.Leftovers(time.Now())
		require.NoError(rt, err)
		require.Empty(rt, dropped)
		require.Equal(rt, want, logs[0].Results)
		require.NoError(rt, logs[0].Close())
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(magic))
	f.Add(append([]byte(magic), record('L', "{}")...))
	f.Add(append(append([]byte(magic), record('L', "{}")...), record('R', "12345678{}")...))
	f.Add([]byte(magic + "\xff\xff\xff\xff"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte) {
		name := uuid.NewString() + suffix
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir, DefaultBytes)
		logs, _, err := s.Leftovers(time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range logs {
			if err := l.Remove(); err != nil {
				t.Fatal(err)
			}
		}
		if used := s.Used(); used != 0 {
			t.Fatalf("%d bytes are still counted", used)
		}
	})
}
