package wasm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ones is a list of n numbers.
func ones(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]" }

// A schema and its parameters come from the same stranger and are checked in
// the server: how much that can cost is bounded.
func TestWhatASchemaMayCost(t *testing.T) {
	const values = 1 + 1 + 1 + 1 // of the schema below
	short := Description{Params: json.RawMessage(`{"properties":{"a":{"maxItems":1000000}}}`)}
	most := MaxSchemaWork/values - 2 // the object and the list are values too
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
