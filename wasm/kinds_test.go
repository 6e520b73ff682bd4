package wasm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/wasm"
	w "github.com/ostraka/ostraka/wasm/internal/wasmtest"
)

// prints is a module of any kind that always prints the same.
func prints(p *wasm.Pool, text string) wasm.Use {
	return wasm.Use{Pool: p, Project: "p", Job: "j", Module: wasm.FromBytes(w.Print(text).Bytes())}
}

var oneUnit = wasm.Each([]wasm.Unit{{ID: "u1", Input: []byte("7"), Results: []wasm.UnitResult{{ID: "r1", Worker: "w", Result: []byte("49")}}}})

func TestJudgementsAreChecked(t *testing.T) {
	p := newPool(t, nil)
	list, _, err := wasm.Validation{Use: prints(p, `{"id":"u1","verdict":"accept","canonical":"r1","score":0.5,"results":[{"id":"r1","ok":true}],"new":1}`)}.Judge(t.Context(), oneUnit)
	require.NoError(t, err)
	require.Equal(t, wasm.VerdictAccept, list[0].Verdict)
	require.Equal(t, "r1", list[0].Canonical)
	for name, c := range map[string]struct{ says, want string }{
		"nothing":           {"", "0 lines for 1 items"},
		"two lines":         {"{}\n{}", "2 lines for 1 items"},
		"not an object":     {"7", "not a record of a validator"},
		"another unit":      {`{"id":"u2","verdict":"reject"}`, `"u1" comes next`},
		"no verdict":        {`{"id":"u1"}`, "none of accept"},
		"unknown result":    {`{"id":"u1","verdict":"accept","canonical":"r9"}`, "does not have"},
		"no canonical":      {`{"id":"u1","verdict":"accept"}`, "does not have"},
		"rejected with one": {`{"id":"u1","verdict":"reject","canonical":"r1"}`, "and a canonical result"},
		"score too high":    {`{"id":"u1","verdict":"reject","score":1.5}`, "between 0 and 1"},
		"opinion of others": {`{"id":"u1","verdict":"reject","results":[{"id":"x","ok":true}]}`, "no result"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := wasm.Validation{Use: prints(p, c.says)}.Judge(t.Context(), oneUnit)
			requireBadOutput(t, err, c.want)
		})
	}
}

func TestScoresAreChecked(t *testing.T) {
	p := newPool(t, nil)
	things := wasm.Each([]wasm.Evidence{{ID: "r1", Subject: wasm.SubjectResult, Content: []byte("1")}})
	list, _, err := wasm.Heuristics{Use: prints(p, `{"id":"r1","score":0,"labels":["odd"],"explain":"why"}`)}.Score(t.Context(), things)
	require.NoError(t, err)
	require.Equal(t, []string{"odd"}, list[0].Labels)
	for name, c := range map[string]struct{ says, want string }{
		"nothing":      {"", "0 lines for 1 items"},
		"another":      {`{"id":"r2","score":1}`, `"r1" comes next`},
		"no score":     {`{"id":"r1"}`, "no score"},
		"below":        {`{"id":"r1","score":-0.1}`, "no score between"},
		"empty label":  {`{"id":"r1","score":1,"labels":[""]}`, "a label"},
		"text for one": {`{"id":"r1","score":"1"}`, "not a record of a heuristic"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := wasm.Heuristics{Use: prints(p, c.says)}.Score(t.Context(), things)
			requireBadOutput(t, err, c.want)
		})
	}
}

func TestPlansAreChecked(t *testing.T) {
	p := newPool(t, nil)
	done := wasm.Each([]wasm.DoneUnit{{ID: "1", Input: []byte("1"), Result: []byte("2")}})
	planning := func(text string) wasm.Planning { return wasm.Planning{Use: prints(p, text), Budget: 1, Jobs: 1} }
	plan, _, err := planning(`{"t":"unit","key":"x","input":[1],"priority":5,"replicas":2}
{"t":"stop","reason":"enough"}`).Plan(t.Context(), wasm.Final{N: 1, Value: []byte("3")}, done)
	require.NoError(t, err)
	require.Equal(t, wasm.Plan{Units: []wasm.PlannedUnit{{Key: "x", Input: []byte("[1]"), Priority: 5, Replicas: 2}}, Stopped: true, Reason: "enough"}, plan)
	longest := `"` + strings.Repeat("x", wasm.MaxNote-2) + `"`
	plan, _, err = planning(`{"t":"job","key":"x","function":"f","version":2,"partition":{"kind":"items"},"quorum":3,"aggregator":"sum"}
{"t":"note","reason":"because","data":`+longest+`}`).Plan(t.Context(), wasm.Final{N: 1, Value: []byte("3")}, done)
	require.NoError(t, err)
	require.Equal(t, []wasm.PlannedJob{{Key: "x", Function: "f", Version: 2, Partition: []byte(`{"kind":"items"}`), Quorum: 3, Aggregator: "sum"}}, plan.Jobs)
	require.Equal(t, "because", plan.Reason)
	require.Equal(t, longest, string(plan.Note), "at the limit")
	for name, c := range map[string]struct{ says, want string }{
		"over budget":  {`{"t":"unit","key":"x","input":1}` + "\n" + `{"t":"unit","key":"y","input":1}`, "more than the 1 units"},
		"twice":        {`{"t":"unit","key":"x","input":1}` + "\n" + `{"t":"unit","key":"x","input":1}`, "planned twice"},
		"no key":       {`{"t":"unit","input":1}`, "key is 0 bytes"},
		"no input":     {`{"t":"unit","key":"x"}`, "no input"},
		"replicas":     {`{"t":"unit","key":"x","input":1,"replicas":101}`, "replicas"},
		"two stops":    {"{\"t\":\"stop\"}\n{\"t\":\"stop\"}", "second stop"},
		"no job left":  {`{"t":"job","key":"x","partition":{}}` + "\n" + `{"t":"job","key":"y","partition":{}}`, "more than the 1 jobs"},
		"no partition": {`{"t":"job","key":"x"}`, "no partition"},
		"two notes":    {"{\"t\":\"note\"}\n{\"t\":\"note\"}", "second note"},
		"long note":    {`{"t":"note","data":"` + strings.Repeat("x", wasm.MaxNote-1) + `"}`, "a note of 16385 bytes"},
		"other type":   {`{"t":"row"}`, "neither unit, job, note nor stop"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := planning(c.says).Plan(t.Context(), wasm.Final{}, done)
			requireBadOutput(t, err, c.want)
		})
	}
}

func TestParametersAreHeldAgainstTheSchema(t *testing.T) {
	d := &wasm.Description{Params: []byte(`{"type":"object","properties":{"width":{"type":"number","minimum":1}},"required":["width"],"additionalProperties":false,"examples":[{"width":10}]}`)}
	require.NoError(t, d.CheckParams(d.ExampleParams()))
	require.NoError(t, (*wasm.Description)(nil).CheckParams([]byte(`{"x":1}`)))
	require.JSONEq(t, `{}`, string((*wasm.Description)(nil).ExampleParams()))
	for params, want := range map[string]string{
		``:                      "missing property 'width'",
		`{"width":0}`:           "at width: minimum",
		`{"width":"x"}`:         "at width: got string, want number",
		`{"width":1,"depth":2}`: "'depth' not allowed",
	} {
		require.ErrorContains(t, d.CheckParams(json.RawMessage(params)), want)
	}
	for schema, want := range map[string]string{
		`7`:                                   "not an object",
		`{"type":7}`:                          "not JSON Schema",
		`{"$ref":"file:///etc/passwd"}`:       "uses $ref",
		`{"$schema":"http://127.0.0.1/meta"}`: "not JSON Schema",
	} {
		require.ErrorContains(t, (&wasm.Description{Params: []byte(schema)}).CheckParams(nil), want)
	}
}
