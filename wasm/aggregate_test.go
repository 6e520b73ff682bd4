package wasm_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/wasm"
	w "github.com/ostraka/ostraka/wasm/internal/wasmtest"
)

// says makes an aggregation with a module that always prints the same.
func says(p *wasm.Pool, text string) wasm.Aggregation {
	return wasm.Aggregation{Use: wasm.Use{Pool: p, Project: "p", Job: "j", Module: wasm.FromBytes(w.Print(text).Bytes())}}
}

var two = []wasm.Item{{ID: "0", Result: []byte("1")}, {ID: "1", Result: []byte("2")}}

func TestPartialsAreChecked(t *testing.T) {
	p := newPool(t, nil)
	const good = `{"t":"partial","n":2,"data":{"x":123456789012345678901234567890}}`
	partial, stats, err := says(p, good+"\n").Fold(t.Context(), wasm.Each(two))
	require.NoError(t, err)
	require.Equal(t, good, string(partial), "it is kept byte by byte")
	require.EqualValues(t, 2, stats.InLines)
	n, err := partial.Count()
	require.NoError(t, err)
	require.EqualValues(t, 2, n)

	for name, c := range map[string]struct{ says, want string }{
		"nothing":       {"", "printed nothing"},
		"two partials":  {good + "\n" + good, "2 lines"},
		"a final":       {`{"t":"final","n":2,"data":1}`, "exactly one partial"},
		"no data":       {`{"t":"partial","n":2}`, "no n or no data"},
		"no n":          {`{"t":"partial","data":1}`, "no n or no data"},
		"wrong n":       {`{"t":"partial","n":3,"data":1}`, "n = 3, but 2 results went in"},
		"n not integer": {`{"t":"partial","n":2.5,"data":1}`, "not a record"},
		"not an object": {`7`, "not a record"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := says(p, c.says).Fold(t.Context(), wasm.Each(two))
			requireBadOutput(t, err, c.want)
		})
	}
	_, _, err = says(p, good).Merge(t.Context(), wasm.Each([]wasm.Partial{partial, partial}))
	requireBadOutput(t, err, "n = 2, but 4 results went in")
	_, _, err = says(p, good).Merge(t.Context(), wasm.Each([]wasm.Partial{[]byte(`{"t":"item"}`)}))
	require.ErrorContains(t, err, "reading a stored partial")
}

// TestPartialsAreNoLongerThanTheyMay stops a module that would fill the database with a page of text for each page of results.
func TestPartialsAreNoLongerThanTheyMay(t *testing.T) {
	p := newPool(t, nil)
	const good = `{"t":"partial","n":2,"data":1}`
	a := says(p, good)
	a.MaxPartial = int64(len(good))
	partial, _, err := a.Fold(t.Context(), wasm.Each(two))
	require.NoError(t, err)
	require.Equal(t, good, string(partial))
	a.MaxPartial--
	var watched error
	a.Watch = func(_ context.Context, ran wasm.Ran) { watched = ran.Err }
	_, _, err = a.Fold(t.Context(), wasm.Each(two))
	var e *wasm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, wasm.ClassOutputLimit, e.Class)
	require.Contains(t, e.Message, "has 30 bytes")
	require.False(t, e.Operational())
	require.ErrorIs(t, watched, e, "it is a run that failed")
}

func requireBadOutput(t *testing.T, err error, want string) {
	t.Helper()
	var e *wasm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, wasm.ClassBadOutput, e.Class)
	require.Contains(t, e.Message, want)
}

func TestFinalsAreChecked(t *testing.T) {
	p := newPool(t, nil)
	one := wasm.Each([]wasm.Partial{[]byte(`{"t":"partial","n":1,"data":0}`)})
	f, _, err := says(p, `{"t":"row","name":"r","data":[1]}
{"t":"final","n":1,"data":{"b":1e-07,"a":18446744073709551617},"summary":"all","truncated":3}
`).Final(t.Context(), one)
	require.NoError(t, err)
	require.Equal(t, wasm.Final{N: 1, Value: []byte(`{"b":1e-07,"a":18446744073709551617}`), Summary: "all", Truncated: 3, Rows: []wasm.Row{{Name: "r", Data: []byte("[1]")}}}, f)

	for name, c := range map[string]struct{ says, want string }{
		"nothing":      {"", "printed nothing"},
		"rows only":    {`{"t":"row","name":"r","data":1}`, "exactly one final"},
		"two finals":   {"{\"t\":\"final\",\"n\":1,\"data\":1}\n{\"t\":\"final\",\"n\":1,\"data\":1}", "exactly one final"},
		"nameless row": {"{\"t\":\"row\",\"data\":1}", "rows with name and data"},
		"wrong n":      {`{"t":"final","n":0,"data":1}`, "n = 0, but 1 results went in"},
		"a partial":    {`{"t":"partial","n":1,"data":1}`, "exactly one final"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := says(p, c.says).Final(t.Context(), one)
			requireBadOutput(t, err, c.want)
		})
	}
}

func TestCheck(t *testing.T) {
	p, hurried := newPool(t, nil), newPool(t, tight)
	for name, c := range map[string]struct {
		module w.Module
		kind   wasm.Kind
		class  wasm.Class
		want   string
	}{
		"kind":         {w.Print("1"), "oracle", wasm.ClassRejected, `no kind "oracle"`},
		"no answer":    {w.Command(nil), wasm.KindAggregator, wasm.ClassBadOutput, "describe"},
		"no partial":   {w.Print(`{"t":"describe","name":"n","version":"1","kinds":["aggregator"]}`), wasm.KindAggregator, wasm.ClassBadOutput, "leaf with no items"},
		"other kind":   {w.Print(`{"t":"describe","name":"n","version":"1","kinds":["planner"]}`), wasm.KindAggregator, wasm.ClassBadOutput, "used as aggregator"},
		"bad schema":   {w.Print(`{"t":"describe","name":"n","version":"1","kinds":["planner"],"params":{"type":"thing"}}`), wasm.KindPlanner, wasm.ClassBadOutput, "not JSON Schema"},
		"needs params": {w.Print(`{"t":"describe","name":"n","version":"1","kinds":["planner"],"params":{"required":["x"]}}`), wasm.KindPlanner, wasm.ClassBadOutput, "missing property"},
		"exits":        {w.Command(w.Exit(64)), wasm.KindAggregator, wasm.ClassExit, "leaf with no items"},
		"too many":     {w.Print(`{"t":"describe","name":"n","version":"1","kinds":["validator"]}`), wasm.KindValidator, wasm.ClassBadOutput, "1 lines for 0 items"},
		"never ends":   {w.Command(w.Forever(nil)), wasm.KindAggregator, wasm.ClassFuel, "describe"},
	} {
		t.Run(name, func(t *testing.T) {
			pool := p
			if c.class == wasm.ClassFuel {
				pool = hurried
			}
			_, err := pool.Check(t.Context(), "p", c.module.Bytes(), c.kind)
			require.ErrorContains(t, err, c.want)
			var e *wasm.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.class, e.Class)
		})
	}
}
