package partition

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func readAll(r io.Reader) (items []string, err error) {
	in := NewItems(r)
	for {
		item, err := in.Next()
		if errors.Is(err, io.EOF) {
			return items, nil
		}
		if err != nil {
			return items, err
		}
		items = append(items, string(item))
	}
}

func TestItems(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"lines", "1\n{\"a\": 2}\n[]\n", []string{"1", `{"a": 2}`, "[]"}},
		{"no last line end", "1\n2", []string{"1", "2"}},
		{"CRLF", "1\r\n2\r\n", []string{"1", "2"}},
		{"byte-order mark", utf8BOM + "1\n2\n", []string{"1", "2"}},
		{"blank lines", "\n\n1\n \t\n2\n\n", []string{"1", "2"}},
		{"white space around, not within", "  { \"a\" : 1 }\t\n", []string{`{ "a" : 1 }`}},
		{"numbers stay as they are", "123456789012345678901234567890\n1.50\n1e5\n", []string{"123456789012345678901234567890", "1.50", "1e5"}},
		{"escapes", `"\ud83d\ude00 \\u0000 \n"` + "\n", []string{`"\ud83d\ude00 \\u0000 \n"`}},
		{"same key in different objects", `[{"a":{"a":1}},{"a":1}]`, []string{`[{"a":{"a":1}},{"a":1}]`}},
		{"keys that are values too", `{"a":"b","b":"a"}`, []string{`{"a":"b","b":"a"}`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			items, err := readAll(strings.NewReader(tc.text))
			require.NoError(t, err)
			require.Equal(t, tc.want, items)
			items, err = readAll(iotest.OneByteReader(strings.NewReader(tc.text)))
			require.NoError(t, err)
			require.Equal(t, tc.want, items)
		})
	}
}

func TestItemsRefuse(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	_, err := readAll(strings.NewReader(deep(MaxItemDepth)))
	require.NoError(t, err, "at the limit")

	for _, tc := range []struct {
		name, text string
		line       int64
		code       Code
		says       string
	}{
		{"nothing", "", 0, CodeNoItems, "no items"},
		{"only blank lines", "\n \n", 0, CodeNoItems, "no items"},
		{"not JSON", "1\n\n{a}\n", 3, CodeItemSyntax, "byte 1"},
		{"two values", "1 2\n", 1, CodeItemSyntax, "byte 2"},
		{"pretty-printed", "[\n1]\n", 1, CodeItemSyntax, "document ends"},
		{"NaN", "NaN\n", 1, CodeItemSyntax, "no NaN"},
		{"invalid UTF-8", "\"\xff\"\n", 1, CodeItemSyntax, "UTF-8"},
		{"UTF-16", "\xff\xfe1\x00\n\x00", 1, CodeItemSyntax, "UTF-8"},
		{"byte-order mark later", "1\n" + utf8BOM + "2\n", 2, CodeItemSyntax, "cannot start a value"},
		{"NUL byte", "1\n\x00\n", 2, CodeItemSyntax, `\x00`},
		{"NUL escape", `"\u0000"`, 1, CodeItemSyntax, "NUL"},
		{"lone high surrogate", `"\ud800"`, 1, CodeItemSyntax, "surrogate"},
		{"high surrogate and a character", `"\ud800\u0041"`, 1, CodeItemSyntax, "surrogate"},
		{"lone low surrogate", `"a\\\udc00"`, 1, CodeItemSyntax, "surrogate"},
		{"duplicate key", `{"a":1,"b":{},"a":2}`, 1, CodeItemSyntax, `"a" stands twice`},
		{"duplicate key by escape", `{"a":1,"\u0061":2}`, 1, CodeItemSyntax, "twice"},
		{"too deep", deep(MaxItemDepth + 1), 1, CodeItemSyntax, "deeper than 64"},
		{"far too deep", deep(20_000), 1, CodeItemSyntax, "deeper than 64"},
		{"long duplicate key", `{"` + strings.Repeat("k", 9000) + `":1,"` + strings.Repeat("k", 9000) + `":2}`, 1, CodeItemSyntax, "twice"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := NewItems(strings.NewReader(tc.text))
			var err error
			for err == nil {
				_, err = in.Next()
			}
			refused := requireCode(t, tc.code, err)
			require.Equal(t, tc.line, refused.Line)
			require.ErrorContains(t, err, tc.says)
			_, again := in.Next()
			require.Equal(t, err, again, "an error is final")
		})
	}
}

func TestItemSizeLimit(t *testing.T) {
	text := func(size int) string { return `"` + strings.Repeat("x", size-2) + `"` }
	items, err := readAll(strings.NewReader("1\n  " + text(MaxItemBytes) + "  \r\n2\n"))
	require.NoError(t, err)
	require.Len(t, items, 3)
	for _, size := range []int{MaxItemBytes + 1, MaxItemBytes + 2000, 10 * MaxItemBytes} {
		_, err = readAll(strings.NewReader("1\n" + text(size) + "\n"))
		require.EqualValues(t, 2, requireCode(t, CodeItemTooLarge, err).Line)
	}
}

func TestItemCountLimit(t *testing.T) {
	in := NewItems(strings.NewReader("1\n2\n3\n"))
	in.count = MaxShards - 1
	_, err := in.Next()
	require.NoError(t, err, "at the limit")
	_, err = in.Next()
	require.EqualValues(t, 2, requireCode(t, CodeTooManyShards, err).Line)
}

func TestItemsReaderFails(t *testing.T) {
	broken := errors.New("network gone")
	_, err := readAll(io.MultiReader(strings.NewReader("1\n2"), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "after line 1")
}

// Any JSON values, one a line, come back as they were written.
func TestItemsComeBackVerbatim(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.MapOf(rapid.StringMatching(`[a-z]{1,4}`), rapid.Int64()), 1, 50).Draw(t, "values")
		var text bytes.Buffer
		var want []string
		for _, value := range values {
			item, err := json.Marshal(value)
			require.NoError(t, err)
			want = append(want, string(item))
			text.Write(item)
			text.WriteString(rapid.SampledFrom([]string{"\n", "\r\n", " \n\n"}).Draw(t, "end"))
		}
		got, err := readAll(&text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func FuzzItems(f *testing.F) {
	for _, seed := range []string{"1\n2\n", utf8BOM + "{}\r\n", "\n\n", `{"a":1,"a":2}`, `"\ud800"`, "[[[", "\xff\xfe"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		items, err := readAll(bytes.NewReader(text))
		for _, item := range items {
			require.True(t, json.Valid([]byte(item)))
			require.NotContains(t, item, "\n")
			require.LessOrEqual(t, len(item), MaxItemBytes)
		}
		if err == nil {
			again, err := readAll(strings.NewReader(strings.Join(items, "\n")))
			require.NoError(t, err)
			require.Equal(t, items, again)
			return
		}
		var refused *Error
		require.ErrorAs(t, err, &refused)
	})
}

func TestItemsGoOnAtAnOffset(t *testing.T) {
	text := "{\"a\":1}\r\n\n  2  \n\"drei\"\n"
	for skip := range 3 {
		first := NewItems(strings.NewReader(text))
		for range skip {
			_, err := first.Next()
			require.NoError(t, err)
		}
		rest := NewItems(strings.NewReader(text[first.Offset():]))
		want := []string{`{"a":1}`, `2`, `"drei"`}[skip:]
		for _, w := range want {
			item, err := rest.Next()
			require.NoError(t, err)
			require.Equal(t, w, string(item))
		}
		_, err := rest.Next()
		require.ErrorIs(t, err, io.EOF)
	}
}
