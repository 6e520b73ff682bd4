package partition

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ostraka/ostraka/runtime/canonical"
)

func zipped(t testing.TB, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.String()
}

func allLines(t testing.TB, text string, spec Lines) (inputs []string) {
	t.Helper()
	r := NewLineReader(strings.NewReader(text), spec)
	for {
		input, err := r.Next()
		if errors.Is(err, io.EOF) {
			return inputs
		}
		require.NoError(t, err)
		inputs = append(inputs, string(input))
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	two := Lines{Object: someDigest, PerShard: 2}
	for _, c := range []struct {
		name, text string
		spec       Lines
		want       []string
	}{
		{"two a shard", "a\nb\nc\n", two, []string{`{"first":0,"lines":["a","b"]}`, `{"first":2,"lines":["c"]}`}},
		{"no last end", "a\nb", two, []string{`{"first":0,"lines":["a","b"]}`}},
		{"CRLF and a mark", "\xef\xbb\xbfa\r\nb\r\n", two, []string{`{"first":0,"lines":["a","b"]}`}},
		{"empty lines are lines", "\n\n\nx", two, []string{`{"first":0,"lines":["",""]}`, `{"first":2,"lines":["","x"]}`}},
		{"text is escaped", "\"<é>\\\t\n", two, []string{`{"first":0,"lines":["\"<é>\\\t"]}`}},
		{"gzip", zipped(t, "a\nb\nc\n"), two, []string{`{"first":0,"lines":["a","b"]}`, `{"first":2,"lines":["c"]}`}},
		{"gzip members", zipped(t, "a\n") + zipped(t, "b\nc"), two, []string{`{"first":0,"lines":["a","b"]}`, `{"first":2,"lines":["c"]}`}},
		{"gzip in gzip is text once", zipped(t, "\x1fx\n"), two, []string{`{"first":0,"lines":["\u001fx"]}`}},
		{"bytes", "aa\nbb\nc\ndddddddd\ne\n", Lines{Bytes: 6}, []string{`{"first":0,"lines":["aa","bb"]}`, `{"first":2,"lines":["c"]}`, `{"first":3,"lines":["dddddddd"]}`, `{"first":4,"lines":["e"]}`}},
		{"bytes, no last end", "aa\nbb", Lines{Bytes: 5}, []string{`{"first":0,"lines":["aa","bb"]}`}},
	} {
		require.Equal(t, c.want, allLines(t, c.text, c.spec), c.name)
	}
}

// TestLinesResume stops after any shard and goes on with another reader.
func TestLinesResume(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`([a-zé ]{0,12}(\n|\r\n)){1,30}[a-z]{0,3}`).Draw(rt, "text")
		spec := Lines{PerShard: rapid.Int64Range(1, 7).Draw(rt, "lines")}
		if rapid.Bool().Draw(rt, "by bytes") {
			spec = Lines{Bytes: rapid.Int64Range(1, 40).Draw(rt, "bytes")}
		}
		stored := text
		if rapid.Bool().Draw(rt, "gzip") {
			stored = zipped(t, text)
		}
		want := allLines(t, stored, spec)
		var lines []string
		for _, input := range want {
			require.NoError(t, canonical.Valid([]byte(input), MaxItemBytes))
			var got struct {
				First int      `json:"first"`
				Lines []string `json:"lines"`
			}
			require.NoError(t, json.Unmarshal([]byte(input), &got))
			require.Equal(t, len(lines), got.First)
			lines = append(lines, got.Lines...)
		}
		plain := strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
		require.Equal(t, strings.Split(plain, "\n"), lines, "no line is lost or repeated")

		stop := rapid.IntRange(0, len(want)).Draw(rt, "stop")
		first := NewLineReader(strings.NewReader(stored), spec)
		for range stop {
			_, err := first.Next()
			require.NoError(t, err)
		}
		rest, err := Spec{Kind: KindLines, Lines: spec}.Resume(strings.NewReader(stored), first.Offset(), int64(stop))
		require.NoError(t, err)
		for _, w := range want[stop:] {
			input, err := rest.Next()
			require.NoError(t, err)
			require.Equal(t, w, string(input))
		}
		_, err = rest.Next()
		if stop < len(want) || stop > 0 {
			require.ErrorIs(t, err, io.EOF)
		}
		require.Equal(t, int64(len(want)), rest.Count())
	})
}

func TestLinesRefuse(t *testing.T) {
	t.Parallel()
	one := Lines{PerShard: 1}
	frame := len(`{"first":0,"lines":[""]}`)
	require.Len(t, allLines(t, strings.Repeat("x", MaxItemBytes-frame), one), 1, "at the limit")
	gz := zipped(t, "some text\n")
	for _, c := range []struct {
		name, text string
		spec       Lines
		code       Code
		line       int64
		says       string
	}{
		{"nothing", "", one, CodeNoItems, 0, "no lines"},
		{"not UTF-8", "a\n\xff\n", one, CodeItemSyntax, 2, "UTF-8"},
		{"NUL", "a\x00", one, CodeItemSyntax, 1, "NUL"},
		{"a long line", "a\n" + strings.Repeat("x", MaxItemBytes-frame+1), one, CodeItemTooLarge, 2, "65536"},
		{"an endless line", strings.Repeat("x", 3*MaxItemBytes), one, CodeItemTooLarge, 1, "65536"},
		{"too many in a shard", strings.Repeat("xxxxxxxxxxxxxxxxx\n", 4096), Lines{PerShard: 4096}, CodeItemTooLarge, 3276, "fewer lines"},
		{"cut gzip", gz[:len(gz)-6], one, CodeItemSyntax, 0, "gzip"},
		{"changed gzip", gz[:len(gz)-6] + "\x00" + gz[len(gz)-5:], one, CodeItemSyntax, 0, "gzip"},
		{"corrupt gzip", "\x1f\x8b\x08\x00" + strings.Repeat("\xff", 50), one, CodeItemSyntax, 0, "gzip"},
		{"far too good a gzip", zipped(t, strings.Repeat(strings.Repeat("\n", 1024), 17<<10)), Lines{PerShard: 10_000}, CodeItemTooLarge, 0, "byte of gzip"},
		{"too many lines for a gzip", zipped(t, strings.Repeat("\n", gzipFreeLines+1)), Lines{PerShard: 10_000}, CodeItemTooLarge, 0, "lines for each byte of gzip"},
		{"no gzip", "\x1f\x8bhello", one, CodeItemSyntax, 0, "gzip"},
	} {
		r := NewLineReader(strings.NewReader(c.text), c.spec)
		var err error
		for err == nil {
			_, err = r.Next()
		}
		var refused *Error
		require.ErrorAs(t, err, &refused, c.name)
		require.Equal(t, c.code, refused.Code, "%s: %v", c.name, err)
		require.Equal(t, c.line, refused.Line, "%s: %v", c.name, err)
		require.Contains(t, err.Error(), c.says, c.name)
		_, again := r.Next()
		require.Equal(t, err, again, "an error is final")
	}
}

func TestLinesSpec(t *testing.T) {
	t.Parallel()
	spec := func(rest string) string { return `{"kind":"lines","object":"` + someDigest + `"` + rest + `}` }
	for _, fine := range []string{spec(`,"lines":"1"`), spec(`,"lines":"21845"`), spec(`,"bytes":"65536"`)} {
		var s Spec
		require.NoError(t, s.UnmarshalJSON([]byte(fine)))
		again, err := s.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, fine, string(again))
		require.Equal(t, someDigest, s.Source())
		_, known := s.Count()
		require.False(t, known)
	}
	for _, bad := range []string{
		spec(``), spec(`,"lines":"1","bytes":"1"`), spec(`,"lines":"0"`), spec(`,"lines":"-1"`), spec(`,"lines":"21846"`), spec(`,"bytes":"65537"`),
		spec(`,"lines":1`), spec(`,"lines":"99999999999999999999"`), spec(`,"size":"1"`), `{"kind":"lines","lines":"1"}`, `{"kind":"lines","object":"ab","lines":"1"}`,
	} {
		var refused *Error
		require.ErrorAs(t, new(Spec).UnmarshalJSON([]byte(bad)), &refused, bad)
		require.NotEmpty(t, refused.Hint)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nc"), int64(2), false)
	f.Add([]byte("\x1f\x8b\x08"), int64(1), true)
	f.Fuzz(func(t *testing.T, text []byte, size int64, byBytes bool) {
		spec := Lines{Object: someDigest, PerShard: size}
		if byBytes {
			spec = Lines{Object: someDigest, Bytes: size}
		}
		if spec.Validate() != nil || len(text) > 1<<16 {
			return
		}
		r := NewLineReader(bytes.NewReader(text), spec)
		for {
			input, err := r.Next()
			if err != nil {
				return
			}
			if err := canonical.Valid(input, MaxItemBytes); err != nil {
				t.Fatalf("%q: %v", input, err)
			}
		}
	})
}

// TestGzipsAtTheirBounds: as much as is free is counted, however well it was packed; a line more is not.
func TestGzipsAtTheirBounds(t *testing.T) {
	long := strings.Repeat("a", 1023) + "\n"
	for name, c := range map[string]struct {
		free string
		more string
	}{"text": {strings.Repeat(long, gzipFree/len(long)), long}, "lines": {strings.Repeat("\n", gzipFreeLines), "\n"}} {
		count := func(text string) error {
			r := Spec{Kind: KindLines, Lines: Lines{Object: strings.Repeat("0", 64), PerShard: 16}}.Read(strings.NewReader(zipped(t, text)))
			for {
				if _, err := r.Next(); err != nil {
					return err
				}
			}
		}
		require.ErrorIs(t, count(c.free), io.EOF, name)
		var bad *Error
		require.ErrorAs(t, count(c.free+c.more), &bad, name)
		require.Equal(t, CodeItemTooLarge, bad.Code, name)
	}
}
