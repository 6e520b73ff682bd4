package graph

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/planner"
)

// small is a workflow that most tests change.
const small = `name = "small"
[parameters.n]
type = "integer"
default = "2^64"
[functions]
f = "f"
[[steps]]
name = "one"
type = "map"
function = "f"
range = { from = "{n}", length = "10^3" }
`

func TestTheExample(t *testing.T) {
	text, err := os.ReadFile("../../../examples/workflow-bpsw/workflow.toml")
	require.NoError(t, err)
	d, err := Parse(text)
	require.NoError(t, err)
	require.Equal(t, "bpsw", d.Name)
	require.Len(t, d.Steps, 10)
	values, err := d.Values(nil)
	require.NoError(t, err, "each parameter has a default")
	require.Equal(t, "18446744073709551616", values["from"].Text())
	job, err := d.Step("search").Job(values)
	require.NoError(t, err)
	require.Equal(t, &Calibration{By: "trial", Seconds: 60}, job.Calibrate)
}

func TestWhatIsNoWorkflow(t *testing.T) {
	step := "[[steps]]\nname = \"one\"\ntype = \"map\"\nfunction = \"f\"\n"
	for change, want := range map[[2]string]string{
		{small, ""}:                                                         "name: ",
		{small, "name = 1"}:                                                 "workflow.toml: line 1",
		{small, "name = "}:                                                  "workflow.toml: line 1",
		{`"small"`, `"Small"`}:                                              "is no name for a workflow",
		{"default", "defaults"}:                                             `there is no key "parameters.n.defaults"`,
		{`type = "integer"`, `type = "int"`}:                                `there is no type "int"`,
		{`"2^64"`, `"two"`}:                                                 "parameters.n.default: \"two\" is no integer",
		{`"2^64"`, "[1]"}:                                                   "no table and no list",
		{`default`, `minimum = "2^65"` + "\ndefault"}:                       "less than the minimum, 36893488147419103232",
		{`default`, "maximum = 5\ndefault"}:                                 "more than the maximum",
		{`default`, "enum = [1, 2]\ndefault"}:                               "none of the values",
		{`f = "f"`, `f = ""`}:                                               "there is no folder",
		{`f = "f"`, "f = \"f\"\ng = \"g\""}:                                 "no step runs the function",
		{`function = "f"`, `function = "g"`}:                                `there is no function "g"`,
		{`name = "one"`, `name = "One"`}:                                    "is no name",
		{`name = "one"`, `name = "one-two"`}:                                "is no name",
		{`type = "map"`, `type = "maps"`}:                                   `there is no type "maps"`,
		{`type = "map"`, `type = "check"`}:                                  "a step of the type check has no function",
		{`type = "map"`, "type = \"map\"\nwhen = \"x\""}:                    "a step of the type map has no when",
		{"[functions]", "[[schedules]]\n[functions]"}:                       "schedules[0].name: ",
		{"[functions]", "[invariants]\n[functions]"}:                        "workflow.toml: line",
		{"{n}", "{m}"}:                                                      `there is no parameter "m"`,
		{"{n}", "{n"}:                                                       "a brace stands alone",
		{`length = "10^3"`, `to = 5, length = "10^3"`}:                      "either to or length",
		{`length = "10^3"`, `length = 0`}:                                   "the range is empty",
		{`length = "10^3"`, `length = "0-5"`}:                               "the range is reversed",
		{`length = "10^3"`, `size = 1`}:                                     "either to or length",
		{`length = "10^3"`, `length = true`}:                                "no integer",
		{`length = "10^3"`, `length = "10^8", size = 1`}:                    "at most 10000000",
		{`length = "10^3"`, `length = 5, step = 2`}:                         `there is no "step"`,
		{"range =", "items = [1]\nrange ="}:                                 "one input, and this has 2",
		{`range = { from = "{n}", length = "10^3" }`, ""}:                   "one input, and this has 0",
		{"range =", "params = {}\nrange ="}:                                 "parameters and no aggregator",
		{"range =", "priority = 10\nrange ="}:                               "the priority is 10",
		{"range =", "policy = { quorums = 2 }\nrange ="}:                    "there is no key",
		{"range =", "needs = [\"two\"]\nrange ="}:                           `there is no step "two"`,
		{"range =", "needs = [\"one\"]\nrange ="}:                           "one needs one",
		{`name = "small"`, "name = \"small\"\ndescription = \"a\\u0000b\""}: "description: there is a control character",
		{"default", "help = \"\\u001b[2J\"\ndefault"}:                       "parameters.n: there is a control character",
		{"[functions]", "[parameters.t]\ntype = \"string\"\ndefault = \"\\u0000\"\n[functions]"}:             "parameters.t.default: there is a NUL",
		{step, "[[steps]]\nname = \"c\"\ntype = \"check\"\nwhen = \"true\"\nmessage = \"\\u0000\"\n" + step}: "steps.c.message: there is a control character",
		{step, "[[steps]]\nname = \"c\"\ntype = \"check\"\nwhen = \"true // \\u0000\"\n" + step}:             "steps.c.when: there is a control character",
		{step, step + "items = [1]\n" + step}:                                                                `there are two steps "one"`,
	} {
		_, err := Parse([]byte(strings.Replace(small, change[0], change[1], 1)))
		require.ErrorContains(t, err, want, "%q", change)
		var wrong *Error
		require.ErrorAs(t, err, &wrong)
		require.NotEmpty(t, wrong.Hint)
	}
	_, err := Parse([]byte(small))
	require.NoError(t, err)
}

func TestHowMuchAWorkflowHas(t *testing.T) {
	_, err := Parse([]byte(small + "#" + strings.Repeat("x", MaxDefinitionBytes-len(small)-1)))
	require.NoError(t, err)
	_, err = Parse([]byte(small + "#" + strings.Repeat("x", MaxDefinitionBytes-len(small))))
	require.ErrorContains(t, err, "the limit is 65536")
	var parameters, steps strings.Builder
	for i := 2; i <= MaxParameters; i++ {
		fmt.Fprintf(&parameters, "[parameters.p%d]\ntype = \"boolean\"\n", i)
		fmt.Fprintf(&steps, "[[steps]]\nname = \"s%d\"\ntype = \"check\"\nneeds = [\"one\"]\nwhen = \"steps.one.answer == 1\"\n", i)
	}
	_, err = Parse([]byte(small + parameters.String() + steps.String()))
	require.NoError(t, err)
	_, err = Parse([]byte(small + parameters.String() + "[parameters.more]\ntype = \"boolean\"\n"))
	require.ErrorContains(t, err, "there are 65 parameters, and the limit is 64")
	_, err = Parse([]byte(small + steps.String() + "[[steps]]\nname = \"more\"\ntype = \"check\"\nwhen = \"true\"\n"))
	require.ErrorContains(t, err, "there are 65 steps, and the limit is 64")
	enum := func(n int) string {
		return strings.Replace(small, "default =", "enum = [\"2^64\""+strings.Repeat(", 1", n-1)+"]\ndefault =", 1)
	}
	_, err = Parse([]byte(enum(MaxEnum)))
	require.NoError(t, err)
	_, err = Parse([]byte(enum(MaxEnum + 1)))
	require.ErrorContains(t, err, "enum at most 64 values")
	help := func(n int) string {
		return strings.Replace(small, "default =", "help = \""+strings.Repeat("x", n)+"\"\ndefault =", 1)
	}
	_, err = Parse([]byte(help(MaxTextBytes)))
	require.NoError(t, err)
	_, err = Parse([]byte(help(MaxTextBytes + 1)))
	require.ErrorContains(t, err, "at most 4096 bytes")
}

func TestInputs(t *testing.T) {
	const with = `name = "w"
[parameters.n]
type = "integer"
default = "2^64"
[parameters.name]
type = "string"
default = "a\"b"
[parameters.x]
type = "number"
default = 0.5
[parameters.on]
type = "boolean"
default = true
[functions]
f = "f"
[[steps]]
name = "one"
type = "map"
function = "f"
aggregator = "merge"
params = { fields = { "{{x}}" = "{name}" } }
policy = { quorum = 2, max_attempts = 5 }
`
	for input, want := range map[string]string{
		`items = ["{n}", "n is {n}", 1, 1.5, true, {a = "{on}"}, ["{x}"], "{{n}}", "{name}"]`: `{"kind":"items","values":[18446744073709551616,"n is 18446744073709551616",1,1.5,true,{"a":true},[0.5],"{n}","a\"b"]}`,
		`grid = { b = [1, "{n}"], a = ["{name}"] }`:                                           `{"kind":"grid","axes":[{"name":"a","values":["a\"b"]},{"name":"b","values":[1,18446744073709551616]}]}`,
		`objects = { prefix = "texts/", per_shard = "2" }`:                                    `{"kind":"objects","prefix":"texts/","per_shard":"2"}`,
		`range = { from = "-{n}", to = "{n}^2-1", size = "2^124" }`:                           `{"kind":"range","from":"-18446744073709551616","to":"340282366920938463463374607431768211455","size":"21267647932558653966460912964485513216"}`,
		`items = { object = "` + strings.Repeat("0", 64) + `" }`:                              `{"kind":"items","object":"` + strings.Repeat("0", 64) + `"}`,
		`lines = { object = "` + strings.Repeat("0", 64) + `", lines = "10" }`:                `{"kind":"lines","object":"` + strings.Repeat("0", 64) + `","lines":"10"}`,
	} {
		d, err := Parse([]byte(with + input))
		require.NoError(t, err, input)
		values, err := d.Values(nil)
		require.NoError(t, err)
		job, err := d.Steps[0].Job(values)
		require.NoError(t, err)
		text, err := json.Marshal(job.Partition)
		require.NoError(t, err)
		require.JSONEq(t, want, string(text), input)
		require.Equal(t, Policy{Quorum: 2, MaxAttempts: 5}, job.Policy)
		require.JSONEq(t, `{"fields":{"{{x}}":"a\"b"}}`, string(job.Params))
	}
	for _, input := range []string{`items = "x"`, `items = 5`, `items = [2026-01-01]`, `items = [nan]`, `grid = {}`, `grid = { a = 1 }`, `lines = { object = "x", lines = "1" }`, `objects = { prefixes = "x" }`} {
		_, err := Parse([]byte(with + input))
		require.Error(t, err, input)
	}
}

func TestParameters(t *testing.T) {
	d, err := Parse([]byte(`name = "p"
[parameters.count]
type = "integer"
minimum = 1
maximum = "10^3"
[parameters.share]
type = "number"
default = "0.25"
[parameters.how]
type = "string"
enum = ["fast", "slow"]
default = "fast"
[functions]
f = "f"
[[steps]]
name = "one"
type = "map"
function = "f"
items = ["{count}", "{share}", "{how}"]
`))
	require.NoError(t, err)
	for given, want := range map[string]string{
		`{"count": 1}`: "", `{"count": "10^3"}`: "", `{"count": "2", "share": 1e-3, "how": "slow"}`: "", `{"count": "5", "share": "2"}`: "",
		`{}`: "has no default", `{"count": 0}`: "less than the minimum", `{"count": "10^3+1"}`: "more than the maximum", `{"count": 1.5}`: "no integer", `{"count": null}`: "no integer",
		`{"count": 1, "share": "NaN"}`: "no number", `{"count": 1, "share": true}`: "no number", `{"count": 1, "how": "other"}`: "choose one of fast, slow", `{"count": 1, "how": 5}`: "no text",
		`{"count": 1, "more": 1}`: "no parameter",
	} {
		var raw map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(given), &raw))
		values, err := d.Values(raw)
		if want != "" {
			require.ErrorContains(t, err, want, given)
			continue
		}
		require.NoError(t, err, given)
		kept, err := json.Marshal(values)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(kept, &raw))
		again, err := d.Values(raw)
		require.NoError(t, err)
		require.Equal(t, values["count"].Text(), again["count"].Text(), "what is kept is read again")
	}
}

func TestChecks(t *testing.T) {
	const two = small + `
[[steps]]
name = "two"
type = "map"
needs = ["one"]
function = "f"
items = [1]
[[steps]]
name = "other"
type = "map"
function = "f"
items = [1]
[[steps]]
name = "same"
type = "check"
needs = ["two"]
message = "no"
when = "WHEN"
`
	parse := func(when string) (*Definition, error) { return Parse([]byte(strings.Replace(two, "WHEN", when, 1))) }
	for when, want := range map[string]string{
		"": "the expression is empty", "1": "gives int", "steps.other.answer == 1": "undeclared reference", "steps.one.answr == 1": "undeclared reference", "x": "undeclared", "steps.two.answer ==": "line 1, column",
		"parameters.m == 1": "undeclared",
	} {
		_, err := parse(when)
		require.ErrorContains(t, err, want, when)
		require.ErrorContains(t, err, "steps.same.when")
	}
	results := map[string]planner.StepResult{
		"one": {Answer: json.RawMessage(`{"n": 18446744073709551616}`), Metrics: planner.Metrics{Shards: planner.ShardMetrics{Total: 7}}}, "two": {Answer: json.RawMessage(`5`)},
	}
	for when, want := range map[string]string{
		"steps.one.answer.n == parameters.n && steps.two.answer == 5 && steps.one.metrics.shards.total == 7": "",
		"steps.two.answer == 6":     "no; steps.two.answer is 5",
		"steps . two . answer == 6": "no; steps.two.answer is 5",
		"steps.one.answer.m == 1":   "could not be decided",
		"steps.two.answer / 0 == 1": "could not be decided",
		"[1,2,3].all(x, [1,2,3].all(y, [1,2,3].all(z, " + strings.Repeat("steps.two.answer == 5 && ", 100) + "true)))": "",
	} {
		d, err := parse(when)
		require.NoError(t, err, when)
		values, err := d.Values(nil)
		require.NoError(t, err)
		check, err := d.Compile(d.Step("same"))
		require.NoError(t, err)
		outcome := d.Step("same").Decide(t.Context(), check, results, values)
		require.Equal(t, want == "", outcome.Holds, "%s: %s", when, outcome.Why)
		require.Contains(t, outcome.Why, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	example, err := os.ReadFile("../../../examples/workflow-bpsw/workflow.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	f.Add([]byte(rich))
	f.Add([]byte("steps = [[[["))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Parse(text)
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(d.Steps), MaxSteps)
		if values, err := d.Values(nil); err == nil {
			require.NoError(t, d.Jobs(values), "what was accepted runs with its defaults")
		}
	})
}
