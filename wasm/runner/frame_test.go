package runner

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero/sys"
)

func TestInputFillsTheGuestsBuffer(t *testing.T) {
	var pipe bytes.Buffer
	for _, part := range []string{"he", "", "llo wor", "ld"} {
		require.NoError(t, writeFrame(&pipe, frameInput, []byte(part)))
	}
	require.NoError(t, writeFrame(&pipe, frameEnd, nil))
	pipe.WriteString("next")
	r := &inputReader{frames: bufio.NewReader(&pipe)}
	buf := make([]byte, 8)
	n, err := r.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "hello wo", string(buf[:n]))
	n, err = r.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "rld", string(buf[:n]))
	_, err = r.Read(buf)
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, r.drain())
	rest, err := io.ReadAll(r.frames)
	require.NoError(t, err)
	require.Equal(t, "next", string(rest), "what follows belongs to the next batch")
}

func TestDrainLeavesThePipeAtTheNextBatch(t *testing.T) {
	var pipe bytes.Buffer
	require.NoError(t, writeFrame(&pipe, frameInput, []byte("unread")))
	require.NoError(t, writeFrame(&pipe, frameEnd, nil))
	require.NoError(t, writeFrame(&pipe, frameBatch, []byte("{}")))
	r := &inputReader{frames: bufio.NewReader(&pipe)}
	_, err := r.Read(make([]byte, 2))
	require.NoError(t, err)
	require.NoError(t, r.drain())
	_, err = expect(r.frames, frameBatch, maxControl)
	require.NoError(t, err)
}

func TestOutputLimits(t *testing.T) {
	for name, c := range map[string]struct {
		writes []string
		want   Exceeded
	}{
		"within":              {[]string{"1234\n", "123", "4\n"}, ""},
		"a line too long":     {[]string{"12345\n"}, ExceededLine},
		"in pieces":           {[]string{"123", "45"}, ExceededLine},
		"the second one":      {[]string{"1\n12345"}, ExceededLine},
		"too much":            {[]string{"1234\n", "1234\n", "\n"}, ExceededOutput},
		"the last byte":       {[]string{"1234\n", "1234\n"}, ""},
		"nothing at all":      {nil, ""},
		"a long line at once": {[]string{strings.Repeat("x", 11)}, ExceededOutput},
	} {
		t.Run(name, func(t *testing.T) {
			w := &outputWriter{frames: bufio.NewWriter(io.Discard), maxOutput: 10, maxLine: 4}
			defer func() {
				require.Equal(t, c.want, w.exceeded)
				if p := recover(); p != nil {
					require.IsType(t, &sys.ExitError{}, p)
				}
			}()
			for _, text := range c.writes {
				_, err := w.Write([]byte(text))
				require.NoError(t, err)
			}
		})
	}
}

func TestTailKeepsTheLastBytes(t *testing.T) {
	whole := ""
	tl := &tail{max: 5}
	for _, text := range []string{"", "ab", "cde", "f", "ghijklmnop", "q", strings.Repeat("z", 100), "12"} {
		n, err := tl.Write([]byte(text))
		require.NoError(t, err)
		require.Equal(t, len(text), n)
		whole += text
		require.Equal(t, whole[max(0, len(whole)-5):], string(tl.bytes()))
		require.LessOrEqual(t, len(tl.buf), 10)
	}
}

func TestParseTrap(t *testing.T) {
	reason, frames := parseTrap("wasm error: unreachable\nwasm stack trace:\n\t.abort()\n\t.main.main(i32)\n" + strings.Repeat("\t.deep()\n", 40))
	require.Equal(t, "unreachable", reason)
	require.Equal(t, []string{".abort()", ".main.main(i32)"}, frames[:2])
	require.Len(t, frames, MaxFrames)
	reason, frames = parseTrap("data[0]: out of bounds memory access")
	require.Equal(t, "data[0]: out of bounds memory access", reason)
	require.Empty(t, frames)
}

func TestClockMovesByItself(t *testing.T) {
	c := &clock{}
	a := c.nano()
	require.Greater(t, c.nano(), a)
	c.sleep(2e9)
	require.Greater(t, c.nano(), a+2e9)
	for range 10 {
		c.sleep(1 << 62)
	}
	c.sleep(-5)
	last := c.nano()
	require.Positive(t, last)
	require.Greater(t, c.nano(), last)
}

// FuzzFrames feeds the server's reader what a runner that was taken over might send.
func FuzzFrames(f *testing.F) {
	var good bytes.Buffer
	require.NoError(f, writeFrame(&good, frameOutput, []byte("1\n")))
	require.NoError(f, writeJSON(&good, frameDone, Outcome{Trap: "x"}))
	f.Add(good.Bytes())
	f.Add([]byte{'O', 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{'D', 0, 0, 0, 2, '[', ']'})
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &Process{out: bufio.NewReader(bytes.NewReader(data)), buf: make([]byte, MaxChunk)}
		total := 0
		_, err := p.collect(func(chunk []byte) error { total += len(chunk); return nil })
		require.LessOrEqual(t, total, len(data))
		if err == nil {
			require.Contains(t, string(data), "D")
		}
	})
}
