package wasm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/wasm/schema"
)

// ones is a list of n numbers.
func ones(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]" }

// A schema and its parameters come from the same stranger and are checked in
// the server: how much that can cost is bounded.
func TestWhatASchemaMayCost(t *testing.T) {
	const values = 1 + 1 + 1 + 1 // of the schema below
	short := Description{Params: json.RawMessage(`{"properties":{"a":{"maxItems":1000000}}}`)}
	most := schema.MaxWork/values - 2 // the object and the list are values too
	require.NoError(t, short.CheckParams(json.RawMessage(`{"a":`+ones(most)+`}`)))
	require.ErrorContains(t, short.CheckParams(json.RawMessage(`{"a":`+ones(most+1)+`}`)), "200000 are checked")

	never := strings.TrimSuffix(strings.Repeat(`{"not":{}},`, 1400), ",")
	wide := Description{Params: json.RawMessage(`{"properties":{"a":{"items":{"anyOf":[` + never + `]}}}}`)}
	require.ErrorContains(t, wide.CheckParams(json.RawMessage(`{"a":`+ones(32_000)+`}`)), "at most")

	pattern := func(p string) error {
		_, err := (&Description{Params: json.RawMessage(`{"properties":{"a":{"pattern":"` + p + `"}}}`)}).schema()
		return err
	}
	require.NoError(t, pattern("^[a-z][a-z0-9-]{0,62}$"))
	require.NoError(t, pattern("^x{900}$"))
	require.ErrorContains(t, pattern("^x{900}y{900}$"), "2000 instructions")
	require.ErrorContains(t, pattern("(((x?){30}){30}){30}"), "repeat")
	require.ErrorContains(t, pattern("(("), "not JSON Schema")
}

// A number of nine characters can be a million digits to whoever compares it.
func TestNumbersThatAreALotOfWork(t *testing.T) {
	check := func(minimum, value string) error {
		d := Description{Params: json.RawMessage(`{"properties":{"a":{"minimum":` + minimum + `}}}`)}
		return d.CheckParams(json.RawMessage(`{"a":[` + value + `],"b":{"c":` + value + `}}`))
	}
	most, more := strings.Repeat("1", schema.MaxNumber), strings.Repeat("1", schema.MaxNumber+1)
	for _, fine := range []string{"0", "-1.5", "1e1000", "1E-1000", "12e+3", most} {
		require.NoError(t, check("0", fine))
		require.NoError(t, check(fine, "0"))
	}
	for _, bad := range []string{"1e1001", "1e-1001", "1E+999999", "1e99999999999999999999", more} {
		require.ErrorContains(t, check("0", bad), "the parameters: the number")
		require.ErrorContains(t, check(bad, "0"), "the schema of the parameters: the number")
	}
}
