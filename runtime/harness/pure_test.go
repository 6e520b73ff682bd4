//go:build linux

package harness

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
)

func outputFrame(s string) frame {
	return frame{kind: frameOutput, size: uint64(len(s)), data: []byte(s)}
}

func TestDecide(t *testing.T) {
	l := bundle.DefaultLimits()
	long := l.CPUSeconds * 1_000_000
	tests := []struct {
		name string
		e    ending
		want Status
	}{
		{"a result", ending{frame: outputFrame("1")}, StatusOK},
		{"wall outweighs a result", ending{stop: stopWall, frame: outputFrame("1")}, StatusTimeout},
		{"a death outweighs a result", ending{signal: syscall.SIGSEGV, frame: outputFrame("1")}, StatusKilled},
		{"an exit code outweighs a result", ending{exitCode: 1, frame: outputFrame("1")}, StatusError},
		{"a lost template outweighs a result", ending{lost: true, frame: outputFrame("1")}, StatusKilled},
		{"wall outweighs a lost template", ending{stop: stopWall, lost: true}, StatusTimeout},
		{"output", ending{stop: stopOutput, signal: syscall.SIGKILL}, StatusOutputLimit},
		{"memory", ending{stop: stopMemory, signal: syscall.SIGKILL}, StatusMemory},
		{"pids", ending{stop: stopPids, signal: syscall.SIGKILL}, StatusProcessLimit},
		{"a mapped file for which no room is left", ending{signal: sigBUS, quota: quota{own: true, full: true}}, StatusDiskLimit},
		{"a mapped file that was made shorter", ending{signal: sigBUS, quota: quota{own: true}}, StatusKilled},
		{"a bomb that catches the refusals", ending{stop: stopWall, refused: ManyRefused}, StatusProcessLimit},
		{"a bomb that spends its processor time", ending{signal: syscall.SIGXCPU, refused: ManyRefused}, StatusProcessLimit},
		{"a pool that makes do with fewer", ending{stop: stopWall, refused: ManyRefused - 1}, StatusTimeout},
		{"a result in spite of refusals", ending{refused: ManyRefused, frame: outputFrame("1")}, StatusOK},
		{"SIGXCPU", ending{signal: syscall.SIGXCPU}, StatusCPULimit},
		{"SIGKILL by the processor limit", ending{signal: syscall.SIGKILL, cpu: long}, StatusCPULimit},
		{"SIGKILL before it", ending{signal: syscall.SIGKILL, cpu: long - 1}, StatusKilled},
		{"nothing", ending{}, StatusError},
		{"not canonical", ending{frame: outputFrame("1 ")}, StatusError},
		{"two frames", ending{frame: frame{kind: frameOutput, problem: "more"}}, StatusError},
		{"exception", ending{frame: frame{kind: frameException, data: []byte(`{"type":"E"}`)}}, StatusError},
		{"lack of memory", ending{frame: frame{kind: frameException, data: []byte(`{"type":"E","limit":"memory"}`)}}, StatusMemory},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.e.limits = l
			v := decide(test.e)
			require.Equal(t, test.want, v.status)
			require.Equal(t, v.status == StatusOK, v.exception == nil)
			require.Equal(t, v.status == StatusOK, v.output != nil)
		})
	}
}

// TestTailProperty: whatever the pieces, counts and digests are of the whole,
// and the tail is its end.
func TestTailProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(0, 40).Draw(t, "limit")
		tl := newTail(limit)
		var all []byte
		for _, piece := range rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 60)).Draw(t, "pieces") {
			all = append(all, piece...)
			_, err := tl.Write(piece)
			require.NoError(t, err)
		}
		require.Equal(t, int64(len(all)), tl.n)
		require.Equal(t, canonical.Digest(all), tl.digest())
		require.Equal(t, string(all[max(0, len(all)-int(limit)):]), string(tl.kept))
		require.Equal(t, int64(len(all)) <= limit, tl.whole())
		require.LessOrEqual(t, len(tl.text()), int(limit))
	})
}

func TestTextProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		n := rapid.IntRange(0, 50).Draw(t, "n")
		for _, cut := range []string{head(s, n), end(s, n)} {
			require.LessOrEqual(t, len(cut), n)
			require.True(t, utf8.ValidString(cut))
			require.NotContains(t, cut, "\x00")
		}
	})
}

func TestParseStat(t *testing.T) {
	const after = "S 7 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 100 5000 25 1844 1 1"
	p, ok := parseStat(9, []byte("9 (a) b ) "+after))
	require.True(t, ok)
	require.Equal(t, 7, p.parent)
	require.Positive(t, p.rss)
	for _, bad := range []string{"", "9 (a", "9 (a) S 7", "9 (a) " + strings.Replace(after, "7", "x", 1)} {
		_, ok := parseStat(9, []byte(bad))
		require.False(t, ok, bad)
	}
}

func TestBelow(t *testing.T) {
	table := []proc{
		{1, 0, 5, 1}, {10, 1, 5, 2}, {11, 10, 100, 4}, {12, 10, 110, 8}, {13, 12, 150, 16}, {14, 13, 90, 32}, {20, 1, 999, 64},
	}
	u := below(table, 10, 11)
	require.Equal(t, usage{count: 3, rss: 60, ticks: 56}, u)
	require.Equal(t, stopNone, u.over(bundle.Limits{Pids: 3, MemoryBytes: 60, CPUSeconds: 1}))
	require.Equal(t, stopPids, u.over(bundle.Limits{Pids: 2, MemoryBytes: 60, CPUSeconds: 1}))
	require.Equal(t, stopMemory, u.over(bundle.Limits{Pids: 3, MemoryBytes: 59, CPUSeconds: 1}))
}

func FuzzReadFrame(f *testing.F) {
	f.Add([]byte("O\x00\x00\x00\x00\x00\x00\x00\x011"))
	f.Add([]byte("O\x00\x00\x00\x00\x00\x00\x00\x0111"))
	f.Add([]byte("O\xff\xff\xff\xff\xff\xff\xff\xff1"))
	f.Add([]byte("E\x00\x00\x00\x00\x00\x00\x00\x02{}"))
	f.Add([]byte("O\x00"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, stream []byte) {
		const limit = 1000
		in := bytes.NewReader(stream)
		fr := readFrame(in, limit, func() {})
		require.Zero(t, in.Len(), "the pipe is read to its end")
		require.LessOrEqual(t, len(fr.data), maxExceptionFrame)
		l := bundle.DefaultLimits()
		l.OutputBytes = limit
		v := decide(ending{frame: fr, limits: l})
		if v.status == StatusOK {
			want := append([]byte("O\x00\x00\x00\x00\x00\x00"), byte(len(v.output)>>8), byte(len(v.output)))
			require.Equal(t, append(want, v.output...), stream)
		}
	})
}

func TestOutputCallsOnceItIsOverItsLimit(t *testing.T) {
	for n, want := range map[int]int{0: 0, 5: 0, 6: 1, 200_000: 1} {
		calls := 0
		o, w, err := newOutput(5, func() { calls++ })
		require.NoError(t, err)
		if n > 64<<10 {
			o.start() // it does not fit into the pipe
		}
		end := os.NewFile(uintptr(w), "end")
		_, err = end.Write(bytes.Repeat([]byte("x"), n))
		require.NoError(t, err)
		require.NoError(t, end.Close())
		require.Equal(t, int64(n), o.finish(time.Now().Add(drainGrace)).n)
		require.Equal(t, want, calls)
	}
}
