package partition

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ostraka/ostraka/runtime/canonical"
)

func grid(t testing.TB, text string) Grid {
	t.Helper()
	var s Spec
	require.NoError(t, s.UnmarshalJSON([]byte(text)))
	return s.Grid
}

func TestGrid(t *testing.T) {
	t.Parallel()
	text := `{"kind":"grid","axes":[{"name":"seed","values":[1,2]},{"name":"alpha","values":[0.10,"x y",18446744073709551617]}]}`
	g := grid(t, text)
	var inputs []string
	for n := range g.Count() {
		inputs = append(inputs, string(g.Input(n)))
	}
	require.Equal(t, []string{
		`{"alpha":0.10,"seed":1}`, `{"alpha":"x y","seed":1}`, `{"alpha":18446744073709551617,"seed":1}`,
		`{"alpha":0.10,"seed":2}`, `{"alpha":"x y","seed":2}`, `{"alpha":18446744073709551617,"seed":2}`,
	}, inputs, "the last axis changes fastest, values keep their bytes")
	again, err := Spec{Kind: KindGrid, Grid: g}.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, text, string(again))
	require.Panics(t, func() { g.Input(6) })
	require.Panics(t, func() { g.Input(-1) })
}

// TestGridHoldsEveryCombinationOnce for grids of any shape.
func TestGridHoldsEveryCombinationOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var g Grid
		for i := range rapid.IntRange(1, 5).Draw(t, "axes") {
			a := Axis{Name: fmt.Sprintf("a%d", i)}
			for v := range rapid.IntRange(1, 6).Draw(t, "values") {
				a.Values = append(a.Values, json.RawMessage(fmt.Sprint(v)))
			}
			g.Axes = append(g.Axes, a)
		}
		if err := g.Validate(); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for n := range g.Count() {
			input := g.Input(n)
			if err := canonical.Valid(input, MaxItemBytes); err != nil {
				t.Fatalf("%s: %v", input, err)
			}
			seen[string(input)] = true
		}
		if int64(len(seen)) != g.Count() {
			t.Fatalf("%d combinations, %d shards", len(seen), g.Count())
		}
	})
}

func TestGridRefuses(t *testing.T) {
	t.Parallel()
	axis := func(name, values string) string { return fmt.Sprintf(`{"name":%q,"values":[%s]}`, name, values) }
	axes := func(list ...string) string { return `{"kind":"grid","axes":[` + strings.Join(list, ",") + `]}` }
	many := func(n int, values string) string {
		list := make([]string, n)
		for i := range list {
			list[i] = axis(fmt.Sprintf("a%d", i), values)
		}
		return axes(list...)
	}
	ints := func(n int) string { return "0" + strings.Repeat(",0", n-1) }
	long := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	frame := len(`{"a":""}`) + 1 // and the comma that is counted for each axis
	for _, fine := range []string{
		many(MaxAxes, "1"), axes(axis("a", ints(MaxInlineItems))), axes(axis("a", ints(5000)), axis("b", ints(2000))),
		axes(axis("a", long(MaxItemBytes-frame))), axes(axis(strings.Repeat("n", 63), "1")),
	} {
		require.NoError(t, new(Spec).UnmarshalJSON([]byte(fine)), "at the limit")
	}
	for _, tc := range []struct {
		text string
		code Code
		says string
	}{
		{axes(), CodeSpecSyntax, "0 axes"},
		{many(MaxAxes+1, "1"), CodeSpecSyntax, "25 axes"},
		{axes(axis("a", "")), CodeNoItems, "no values"},
		{axes(axis("1a", "1")), CodeSpecSyntax, "not the name"},
		{axes(axis("", "1")), CodeSpecSyntax, "not the name"},
		{axes(axis(strings.Repeat("n", 64), "1")), CodeSpecSyntax, "not the name"},
		{axes(axis("a", "1"), axis("a", "2")), CodeSpecSyntax, "two axes"},
		{axes(axis("a", ints(MaxInlineItems+1))), CodeSpecTooLarge, "10001 values"},
		{axes(axis("a", ints(5000)), axis("b", ints(2001))), CodeTooManyShards, "10005000 shards"},
		{axes(axis("a", long(MaxItemBytes-frame+1))), CodeItemTooLarge, "up to 65537 bytes"},
		{axes(axis("a", `{"x":1,"x":2}`)), CodeSpecSyntax, "duplicate"},
		{`{"kind":"grid","axes":[{"name":"a","values":[1],"step":2}]}`, CodeSpecSyntax, "axes"},
		{`{"kind":"grid","axes":{"a":[1]}}`, CodeSpecSyntax, "axes"},
		{`{"kind":"grid","axes":[{"name":"a","values":[1]}],"size":"1"}`, CodeSpecSyntax, "unknown field"},
	} {
		err := new(Spec).UnmarshalJSON([]byte(tc.text))
		var refused *Error
		require.ErrorAs(t, err, &refused, "%.100s", tc.text)
		require.Equal(t, tc.code, refused.Code, "%v", err)
		require.Contains(t, err.Error(), tc.says)
		require.NotEmpty(t, refused.Hint)
	}
}
