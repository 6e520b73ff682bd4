package partition

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const digestOfItems = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func inputsOf(t require.TestingT, r Reader) (inputs []string) {
	for {
		input, err := r.Next()
		if errors.Is(err, io.EOF) {
			return inputs
		}
		require.NoError(t, err)
		inputs = append(inputs, string(input))
	}
}

func TestItemsOfASize(t *testing.T) {
	read := func(size int64, text string) []string {
		return inputsOf(t, Spec{Kind: KindItems, Size: size}.Read(strings.NewReader(text)))
	}
	require.Equal(t, []string{"[1,2]", `["x",{"a": 1}]`, "[[3]]"}, read(2, "1\n2\n\n\"x\"\n{\"a\": 1}\n[3]\n"))
	require.Equal(t, []string{"[1,2,3]"}, read(3, "1\n2\n3"))
	require.Equal(t, []string{"[1]", "[2]"}, read(1, "1\n2\n"))
	require.Equal(t, []string{"1", "2"}, read(0, "1\n2\n"))

	room := MaxItemBytes - len(`["",1]`) // in a shard with one more item of a byte
	fits, past := `"`+strings.Repeat("x", room)+`"`, `"`+strings.Repeat("x", room+1)+`"`
	require.Len(t, read(2, fits+"\n1\n"), 1, "as many bytes as an input may have")
	require.Equal(t, []string{"[" + past + "]", "[1,2]"}, read(2, past+"\n1\n2\n"), "one more: the second item goes into the next shard")
	require.Equal(t, []string{"[1]", "[" + past + "]"}, read(2, "1\n"+past+"\n"))
}

func TestItemsOfASizeRefuse(t *testing.T) {
	alone := `"` + strings.Repeat("x", MaxItemBytes-len(`""`)) + `"`
	deep := strings.Repeat("[", MaxItemDepth) + strings.Repeat("]", MaxItemDepth)
	for _, c := range []struct {
		text string
		code Code
	}{{"", CodeNoItems}, {"1\n1,2\n", CodeItemSyntax}, {"1\n" + alone, CodeItemTooLarge}, {deep, CodeItemSyntax}, {`{"a":1,"a":2}`, CodeItemSyntax}} {
		r := Spec{Kind: KindItems, Size: 2}.Read(strings.NewReader(c.text))
		_, err := r.Next()
		var refused *Error
		require.ErrorAs(t, err, &refused, "%.40s", c.text)
		require.Equal(t, c.code, refused.Code, "%.40s", c.text)
	}
	require.Equal(t, []string{alone}, inputsOf(t, Spec{Kind: KindItems}.Read(strings.NewReader(alone))), "as a shard by itself")
}

func TestSizeOfItemsIsReadAndWritten(t *testing.T) {
	for _, text := range []string{
		`{"kind":"items","object":"` + digestOfItems + `","size":"100"}`, `{"kind":"items","values":[1,2],"size":"32767"}`, `{"kind":"items","object":"` + digestOfItems + `"}`,
	} {
		var s Spec
		require.NoError(t, json.Unmarshal([]byte(text), &s), text)
		written, err := s.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, text, string(written))
	}
	for _, size := range []string{`"0"`, `"-1"`, `"32768"`, `7`, `"x"`, `""`} {
		var s Spec
		require.Error(t, json.Unmarshal([]byte(`{"kind":"items","values":[1],"size":`+size+`}`), &s), size)
	}
	_, known := Spec{Kind: KindItems, Values: []json.RawMessage{[]byte("1")}, Size: 2}.Count()
	require.False(t, known)
}

// However items are put together, and wherever a reader goes on, they are all there, in their order.
func TestItemsOfASizeAreThoseOfTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 10, 30_000, 65_000}), 1, 20).Draw(t, "lengths")
		var items []string
		for i, n := range lengths {
			items = append(items, fmt.Sprintf(`"%d%s"`, i, strings.Repeat("x", n)))
		}
		text := strings.Join(items, "\n")
		spec := Spec{Kind: KindItems, Size: rapid.Int64Range(1, 5).Draw(t, "size")}
		r := spec.Read(strings.NewReader(text))
		stop := rapid.IntRange(0, len(items)).Draw(t, "stop")
		var inputs []string
		for range stop {
			input, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			inputs = append(inputs, string(input))
		}
		again, err := spec.Resume(strings.NewReader(text), r.Offset(), r.Count())
		require.NoError(t, err)
		for {
			input, err := again.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			inputs = append(inputs, string(input))
		}
		require.Equal(t, int64(len(inputs)), again.Count())
		var back []string
		for _, input := range inputs {
			require.LessOrEqual(t, len(input), MaxItemBytes)
			var list []json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(input), &list))
			require.LessOrEqual(t, int64(len(list)), spec.Size)
			for _, item := range list {
				back = append(back, string(item))
			}
		}
		require.Equal(t, items, back)
	})
}

func rangeSpec(t *testing.T, text, size string) Spec {
	t.Helper()
	r, err := ParseRange(text, size)
	require.NoError(t, err)
	return OfRange(r)
}

func TestResize(t *testing.T) {
	usual := Bounds{Seconds: ChosenSeconds}
	million := rangeSpec(t, "0:1000000", "1000")
	for _, c := range []struct {
		name string
		spec Spec
		m    Measured
		b    Bounds
		want int64
	}{
		{"longer", million, Measured{Spec: rangeSpec(t, "0:100", "10"), Seconds: 0.01}, usual, 3000},
		{"shorter", million, Measured{Spec: million, Seconds: 100}, usual, 30},
		{"at least one", rangeSpec(t, "0:1000", "1"), Measured{Spec: rangeSpec(t, "0:10", "1"), Seconds: 100}, usual, 1},
		{"no less than a hundredth of the guess", million, Measured{Spec: rangeSpec(t, "0:10", "1"), Seconds: 100}, usual, 10},
		{"items, no less than a hundredth of the guess", Spec{Kind: KindItems, Size: 500}, Measured{Spec: Spec{Kind: KindItems, Size: 1}, Seconds: 100}, usual, 5},
		{"lines, no less than a hundredth of the guess", Spec{Kind: KindLines, Lines: Lines{Bytes: ChosenLineBytes}}, Measured{Spec: Spec{Kind: KindLines, Lines: Lines{Bytes: 200}}, Seconds: 30}, usual, 200},
		{"no more than so many times as large", million, Measured{Spec: rangeSpec(t, "0:10", "1"), Seconds: 1e-6}, usual, MaxGrowth},
		{"a range that is shorter than its size", million, Measured{Spec: rangeSpec(t, "0:10", "1000"), Seconds: 3}, usual, 10},
		{"outputs that would be too large", million, Measured{Spec: rangeSpec(t, "0:10", "10"), Seconds: 0.1, OutputBytes: 100}, Bounds{Seconds: 3, OutputBytes: 1000}, 100},
		{"not too many shards", rangeSpec(t, "0:10000000000", "1000000"), Measured{Spec: rangeSpec(t, "0:10", "1"), Seconds: 3}, usual, 10_000},
		{"items", Spec{Kind: KindItems, Size: 100}, Measured{Spec: Spec{Kind: KindItems}, Seconds: 0.01}, usual, 300},
		{"items, no more than fit", Spec{Kind: KindItems, Size: 100}, Measured{Spec: Spec{Kind: KindItems, Size: 1000}, Seconds: 0.001}, usual, MaxItemsPerShard},
		{"lines", Spec{Kind: KindLines, Lines: Lines{Bytes: ChosenLineBytes}}, Measured{Spec: Spec{Kind: KindLines, Lines: Lines{Bytes: ChosenLineBytes}}, Seconds: 30}, usual, 2000},
		{"lines, no more than fit", Spec{Kind: KindLines, Lines: Lines{Bytes: ChosenLineBytes}}, Measured{Spec: Spec{Kind: KindLines, Lines: Lines{Bytes: 1000}}, Seconds: 0.001}, usual, ChosenLineBytes},
		{"another kind", million, Measured{Spec: Spec{Kind: KindItems}, Seconds: 1}, usual, 1000},
		{"nothing measured", million, Measured{Spec: million}, usual, 1000},
	} {
		got := c.spec.Resize(c.m, c.b)
		size := map[Kind]func() int64{KindRange: func() int64 { return got.Range.Size.Int64() }, KindItems: func() int64 { return got.Size }, KindLines: func() int64 { return got.Lines.Bytes }}[got.Kind]()
		require.Equal(t, c.want, size, c.name)
	}
	require.Equal(t, int64(1000), million.Range.Size.Int64(), "the range that was given stays")
}

// TestSizesOfManyJobsStayWithinBounds: whatever agents state of one job after the other.
func TestSizesOfManyJobsStayWithinBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := func(s Spec) int64 {
			return map[Kind]int64{KindItems: s.Size, KindLines: s.Lines.Bytes}[s.Kind] // the other one is 0
		}
		guess := rapid.SampledFrom([]Spec{{Kind: KindItems, Size: ChosenItems}, {Kind: KindLines, Lines: Lines{Bytes: ChosenLineBytes}}}).Draw(t, "guess")
		m := Measured{Spec: guess}
		for _, m.Seconds = range rapid.SliceOf(rapid.Float64Range(1e-6, 1e6)).Draw(t, "seconds") {
			m.Spec = guess.Resize(m, Bounds{Seconds: ChosenSeconds})
			require.GreaterOrEqual(t, size(m.Spec), size(guess)/MaxShrink)
			require.LessOrEqual(t, size(m.Spec), max(MaxItemsPerShard*map[Kind]int64{KindItems: 1}[guess.Kind], ChosenLineBytes))
		}
	})
}

func TestLargerShards(t *testing.T) {
	for _, c := range []struct {
		spec, want Spec
		can        bool
	}{
		{Spec{Kind: KindItems, Size: 1}, Spec{Kind: KindItems, Size: 10}, true},
		{Spec{Kind: KindItems, Size: MaxItemsPerShard - 1}, Spec{Kind: KindItems, Size: MaxItemsPerShard}, true},
		{Spec{Kind: KindItems, Size: MaxItemsPerShard}, Spec{Kind: KindItems, Size: MaxItemsPerShard}, false},
		{Spec{Kind: KindItems}, Spec{Kind: KindItems}, false},
		{Spec{Kind: KindLines, Lines: Lines{Bytes: 200}}, Spec{Kind: KindLines, Lines: Lines{Bytes: 2000}}, true},
		{Spec{Kind: KindLines, Lines: Lines{Bytes: ChosenLineBytes}}, Spec{Kind: KindLines, Lines: Lines{Bytes: ChosenLineBytes}}, false},
		{Spec{Kind: KindLines, Lines: Lines{PerShard: 7}}, Spec{Kind: KindLines, Lines: Lines{PerShard: 7}}, false},
	} {
		got, can := c.spec.Larger()
		require.Equal(t, c.want, got)
		require.Equal(t, c.can, can)
	}
}

func TestFirstGuessForItems(t *testing.T) {
	require.Equal(t, big.NewInt(ChosenItems), rangeSpec(t, "0:1000000", "1000").ForItems().Range.Size)
	require.Equal(t, big.NewInt(1), rangeSpec(t, "0:10", "1").ForItems().Range.Size)
	require.Equal(t, int64(MaxChosenShards), rangeSpec(t, "0:10000000000", "1000000000").ForItems().Range.Count())
	require.Equal(t, int64(ChosenItems), Spec{Kind: KindItems}.ForItems().Size)
	require.NoError(t, Spec{Kind: KindItems}.HasItems())
	for _, kind := range []Kind{KindGrid, KindObjects} {
		require.ErrorContains(t, Spec{Kind: kind}.HasItems(), `per = "item" needs a range, lines, or items`)
	}
}
