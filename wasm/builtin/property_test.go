package builtin_test

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ostraka/ostraka/wasm"
)

// integer draws integers around the sizes where representations change.
func integer() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		digits := rapid.SampledFrom([]int{1, 3, 9, 10, 17, 18, 19, 20, 38, 39, 60}).Draw(t, "digits")
		text := strconv.Itoa(rapid.IntRange(1, 9).Draw(t, "first"))
		for range digits - 1 {
			text += strconv.Itoa(rapid.SampledFrom([]int{0, 9, 5}).Draw(t, "digit"))
		}
		return rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign") + text
	})
}

// float draws finite floats of all sizes as Python prints them.
func float() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.Bool().Draw(t, "short") {
			// Halves, quarters, eighths of large integers lie half way between
			// decimals, where ways of printing differ.
			whole := rapid.Int64Range(-1<<53, 1<<53).Draw(t, "whole")
			return pythonFloat(float64(whole) / float64(int64(1)<<rapid.IntRange(1, 40).Draw(t, "shift")))
		}
		return pythonFloat(rapid.Float64Range(-1e308, 1e308).Draw(t, "float"))
	})
}

// pythonFloat is Python's repr of a finite float.
func pythonFloat(f float64) string {
	text := strconv.FormatFloat(f, 'e', -1, 64)
	exponent, _ := strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	if exponent < -4 || exponent >= 16 {
		return text
	}
	if text = strconv.FormatFloat(f, 'f', -1, 64); !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// split cuts results into leaves at drawn places.
func split(t *rapid.T, results []string) [][]string {
	cuts := rapid.IntRange(2, 3).Draw(t, "leaves")
	var leaves [][]string
	for ; cuts > 1; cuts-- {
		n := rapid.IntRange(0, len(results)).Draw(t, "cut")
		leaves, results = append(leaves, results[:n]), results[n:]
	}
	return append(leaves, results)
}

// exactSum is the sum that the module must find: an integer while all are, the
// nearest float to the exact sum otherwise.
func exactSum(results []string) string {
	total, float := new(big.Rat), false
	for _, r := range results {
		v, ok := new(big.Rat).SetString(r)
		if !ok {
			panic("not a number: " + r)
		}
		if strings.ContainsAny(r, ".e") {
			// The float, not the decimal text, is what is added.
			f, _ := strconv.ParseFloat(r, 64)
			v.SetFloat64(f)
			float = true
		}
		total.Add(total, v)
	}
	if !float {
		return total.Num().String()
	}
	f, _ := total.Float64()
	if f > 1.7976931348623157e308 || f < -1.7976931348623157e308 {
		return "null"
	}
	return pythonFloat(f)
}

// Sums, minima and maxima of integers and floats of any size agree with
// math/big, and no way of cutting and merging changes a byte of the answer.
func TestNumbersAgainstMathBig(t *testing.T) {
	p := newPool(t, nil)
	for name, g := range map[string]*rapid.Generator[string]{
		"integers": integer(), "floats": float(), "mixed": rapid.OneOf(integer(), float()),
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				results := rapid.SliceOfN(g, 1, 12).Draw(rt, "results")
				got := foldBothWays(rt, p, `{"op":"sum"}`, results)
				require.Equal(rt, exactSum(results), string(got.Value))
				for op, sign := range map[string]int{"min": -1, "max": 1} {
					got := foldBothWays(rt, p, `{"op":"`+op+`"}`, results)
					requireExtreme(rt, results, string(got.Value), sign)
				}
			})
		})
	}
}

// requireExtreme checks that got is one of the results and that none is beyond it.
func requireExtreme(t *rapid.T, results []string, got string, sign int) {
	require.Contains(t, results, got)
	best := exact(got)
	for _, r := range results {
		require.LessOrEqual(t, sign*exact(r).Cmp(best), 0, "%s is beyond %s", r, got)
	}
}

func exact(text string) *big.Rat {
	if strings.ContainsAny(text, ".e") {
		f, _ := strconv.ParseFloat(text, 64)
		return new(big.Rat).SetFloat64(f)
	}
	v, _ := new(big.Rat).SetString(text)
	return v
}

func foldBothWays(t *rapid.T, p *wasm.Pool, params string, results []string) wasm.Final {
	a := aggregation(p, params)
	whole, err := fold(t.Context(), a, results)
	require.NoError(t, err)
	parts, err := fold(t.Context(), a, split(t, results)...)
	require.NoError(t, err)
	require.Equal(t, whole, parts)
	return whole
}

// value draws any JSON value, canonical as far as it matters here.
func value(depth int) *rapid.Generator[string] {
	scalars := []*rapid.Generator[string]{
		integer(), float(), rapid.SampledFrom([]string{"null", "true", "false", `"x"`, `"é\n"`, `"17"`, "[]", "{}"}),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	array := rapid.Map(rapid.SliceOfN(value(depth-1), 0, 3), func(v []string) string { return "[" + strings.Join(v, ",") + "]" })
	object := rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "é", `\"`}), value(depth-1), 0, 3), objectText)
	return rapid.OneOf(append(scalars, array, object, object)...)
}

func objectText(fields map[string]string) string {
	var parts []string
	for _, name := range []string{`\"`, "a", "b", "é"} {
		if v, ok := fields[name]; ok {
			parts = append(parts, `"`+name+`":`+v)
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// Whatever the results are, every operation gives an answer that is JSON, and
// the same answer however the results were cut.
func TestEveryOperationIsAssociative(t *testing.T) {
	p := newPool(t, nil)
	for _, params := range []string{
		`{"op":"count"}`, `{"op":"count_true"}`, `{"op":"sum"}`, `{"op":"min"}`, `{"op":"max"}`, `{"op":"same"}`,
		`{"op":"concat"}`, `{"op":"concat","limit":3}`, `{"op":"sum","as":"integer_string"}`, `{"op":"merge"}`,
		`{"op":"merge","fields":{"a":"sum","b":{"op":"concat","limit":2},"é":{"op":"merge","default":"max"}},"default":"same"}`,
	} {
		t.Run(params, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				results := rapid.SliceOfN(value(3), 0, 8).Draw(rt, "results")
				f := foldBothWays(rt, p, params, results)
				require.True(rt, json.Valid(f.Value), "%s", f.Value)
			})
		})
	}
}
