package graph

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/planner"
)

// rich is a workflow with a step of each type.
const rich = `name = "rich"
[parameters.limit]
type = "integer"
default = 5
[functions]
f = "f"
page = "page"
[modules.total]
kind = "aggregator"
file = "modules/total.wasm"
[planners]
next = "planners/next.wasm"
[files]
numbers = "inputs/numbers.jsonl"
[[rules]]
name = "more"
on_function = "f"
when = "aggregate.count > 1"
max_depth = 2
[rules.then]
function = "f"
planner = "next"
params = { most = 5 }
[[steps]]
name = "one"
type = "map"
function = "f"
items = { file = "numbers" }
[[steps]]
name = "again"
type = "fold"
of = "one"
needs = ["one"]
aggregator = "total"
params = { limit = "{limit}" }
[[steps]]
name = "proofs"
type = "prove"
needs = ["again"]
function = "f"
items = { step = "again", field = "sample" }
validator = "proved"
validator_params = { most = "{limit}" }
[[steps]]
name = "right"
type = "check"
needs = ["proofs"]
when = "steps.again.answer == 1 && steps.proofs.metrics.verification.error_bound == 0.0"
[[steps]]
name = "document"
type = "report"
needs = ["right"]
function = "page"
file = "page.html"
[[steps]]
name = "short"
type = "report"
needs = ["right"]
module = "total"
params = { limit = "{limit}" }
`

func TestAStepOfEachType(t *testing.T) {
	d, err := Parse([]byte(rich))
	require.NoError(t, err)
	values, err := d.Values(nil)
	require.NoError(t, err)
	require.Equal(t, []ModuleFile{{"total", "aggregator", "modules/total.wasm"}, {"next", "planner", "planners/next.wasm"}}, d.Modules)
	require.Equal(t, []planner.Rule{{
		Name: "more", OnFunction: "f", When: "aggregate.count > 1", MaxDepth: 2, Enabled: true,
		Then: planner.Then{Function: "f", Planner: "next", Params: json.RawMessage(`{"most":5}`)},
	}}, d.Rules)
	fold, err := d.Step("again").FoldParams(values)
	require.NoError(t, err)
	require.JSONEq(t, `{"limit":5}`, string(fold))
	report, err := d.Step("short").ReportParams(values)
	require.NoError(t, err)
	require.JSONEq(t, `{"limit":5}`, string(report))
	proofs, err := d.Step("proofs").Job(values)
	require.NoError(t, err)
	require.True(t, proofs.Proves)
	require.Equal(t, "proved", proofs.Validator)
	require.JSONEq(t, `{"most":5}`, string(proofs.ValidatorParams))
	require.Equal(t, []string{"one", "again", "proofs"}, d.Seen(d.Step("document")))
	require.Equal(t, "page", d.Step("document").Runs())
	require.Empty(t, d.Step("short").Runs())

	digest := strings.Repeat("a", 64)
	d.PinFiles(map[string]string{"numbers": digest})
	one, err := d.Step("one").Job(values)
	require.NoError(t, err)
	require.Equal(t, digest, one.Partition.Object)
	require.Equal(t, "t\x00[]", string(Digest([]byte("t"), []byte("[]"))))
}

func TestWhatIsNoStep(t *testing.T) {
	for change, want := range map[[2]string]string{
		{`of = "one"`, ``}:                                               "steps.again.of: a step of the type fold names the step",
		{`of = "one"`, `of = "right"`}:                                   `steps.again.needs: the step folds the results of "right" and does not need it`,
		{"of = \"one\"\nneeds = [\"one\"]", `of = "one"`}:                `steps.again.needs: the step folds the results of "one"`,
		{`aggregator = "total"`, `aggregator = "none"`}:                  "steps.again.aggregator: a step of the type fold names an aggregator",
		{"aggregator = \"total\"\nparams = { limit = \"{limit}\" }", ""}: "steps.again.aggregator: a step of the type fold names",
		{`aggregator = "total"`, "aggregator = \"total\"\nitems = [1]"}:  "steps.again.items: a step of the type fold has no items",
		{`limit = "{limit}" }` + "\n[[steps]]\nname = \"proofs\"", `limit = "{most}" }` + "\n[[steps]]\nname = \"proofs\""}: `steps.again.params: there is no parameter "most"`,
		{`validator = "proved"`, ``}: "steps.proofs.validator_params: there are parameters and no validator",
		{`validator = "proved"`, "validator = \"proved\"\npolicy = { quorum = 2 }"}:                "steps.proofs.policy: a step of the type prove has no policy",
		{`validator = "proved"`, "validator = \"proved\"\nof = \"one\""}:                           "steps.proofs.of: a step of the type prove has no of",
		{`{ step = "again", field = "sample" }`, `{ step = "again", fields = "sample" }`}:          `besides step there are only field and flow, and no "fields"`,
		{`{ step = "again", field = "sample" }`, `{ step = "again", field = 5 }`}:                  "steps.proofs.items.field: there is no name",
		{`{ step = "again", field = "sample" }`, `{ step = "one" }`}:                               `steps.proofs.needs: the items come from the step "one"`,
		{`{ step = "again", field = "sample" }`, `{ step = "again", field = "{limit}", x = "y" }`}: "besides step there are only field",
		{"needs = [\"right\"]\nfunction = \"page\"", "function = \"page\""}:                        "steps.document.needs: a step of the type report needs the steps",
		{`file = "page.html"`, `file = "../page.html"`}:                                            "steps.document.file: \"../page.html\" is no path within a folder",
		{`file = "page.html"`, `file = "/page.html"`}:                                              "is no path within a folder",
		{`file = "page.html"`, `module = "total"`}:                                                 "steps.document.module: a step of the type report has no module",
		{`file = "page.html"`, `priority = 10`}:                                                    "steps.document.priority: the priority is 10",
		{`module = "total"`, `file = "x"`}:                                                         "steps.short.file: a step of the type report has no file",
		{"module = \"total\"\nparams = { limit = \"{limit}\" }", ""}:                               "steps.short.function: a step of the type report has either",
		{`function = "page"`, `function = "pages"`}:                                                `steps.document.function: there is no function "pages"`,
		{`items = { file = "numbers" }`, `items = { file = "others" }`}:                            `steps.one.file: there is no file "others"`,
		{`items = { file = "numbers" }`, `items = { file = 5 }`}:                                   "steps.one.file: an input is one file",
		{`items = { file = "numbers" }`, `items = [1]`}:                                            "files.numbers: no step reads the file",
		{`"inputs/numbers.jsonl"`, `"../numbers.jsonl"`}:                                           "files.numbers: ",
		{`"inputs/numbers.jsonl"`, `""`}:                                                           "files.numbers: there is no file",
		{`numbers = "inputs`, `Numbers = "inputs`}:                                                 "files: ",
		{`kind = "aggregator"`, `kind = "other"`}:                                                  `modules.total.kind: there is no kind "other"`,
		{`file = "modules/total.wasm"`, ``}:                                                        "modules.total: there is no file",
		{`file = "modules/total.wasm"`, `file = "a/../b.wasm"`}:                                    "modules.total.file: ",
		{`[modules.total]`, `[modules.Total]`}:                                                     "is no name for a module",
		{`next = `, `total = `}:                                                                    "planners.total: there are a module and a planner \"total\"",
		{`steps.again.answer == 1`, `steps.document.answer == 1`}:                                  "steps.right.when",
		{`when = "steps`, `module = "x"` + "\nwhen = \"steps"}:                                     "steps.right.module: a step of the type check has no module",
		{"[files]", "[[schedules]]\n[files]"}:                                                      "schedules[0].name: ",
		{`when = "aggregate.count > 1"`, `when = "aggregate.cont > 1"`}:                            "rules.more: when: line 1",
		{`when = "aggregate.count > 1"`, ``}:                                                       "rules.more: when: ",
		{`on_function = "f"`, `on_function = "g"`}:                                                 `rules.more.on_function: there is no function "g"`,
		{"[rules.then]\nfunction = \"f\"", "[rules.then]\nfunction = \"g\""}:                       `rules.more.then.function: there is no function "g"`,
		{`name = "more"`, `name = "More"`}:                                                         "rules[0].name: ",
		{`params = { most = 5 }`, "params = { most = 5 }\n[[rules]]\nname = \"more\""}:             "there are two rules",
		{`params = { most = 5 }`, "partition = \"{}\""}:                                            "rules.more: ",
		{`max_depth = 2`, `max_depth = 65`}:                                                        "rules.more: max_depth",
	} {
		require.Contains(t, rich, change[0])
		_, err := Parse([]byte(strings.Replace(rich, change[0], change[1], 1)))
		require.ErrorContains(t, err, want, "%q", change)
		var wrong *Error
		require.ErrorAs(t, err, &wrong)
		require.NotEmpty(t, wrong.Hint)
	}
}

func TestHowManyPartsAWorkflowHas(t *testing.T) {
	many := func(head string, n int, line string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, line, i)
		}
		return strings.Replace(rich, head, head+b.String(), 1)
	}
	_, err := Parse([]byte(many("[planners]\n", MaxModules-2, "p%d = \"p.wasm\"\n")))
	require.NoError(t, err)
	_, err = Parse([]byte(many("[planners]\n", MaxModules-1, "p%d = \"p.wasm\"\n")))
	require.ErrorContains(t, err, "there are 65 modules and planners, and the limit is 64")
	_, err = Parse([]byte(many("[files]\n", MaxFiles-1, "p%d = \"p.txt\"\n")))
	require.ErrorContains(t, err, "no step reads the file", "as many as there may be")
	_, err = Parse([]byte(many("[files]\n", MaxFiles, "p%d = \"p.txt\"\n")))
	require.ErrorContains(t, err, "there are 65 files, and the limit is 64")
	rules := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "[[rules]]\nname = \"r%d\"\non_function = \"f\"\nwhen = \"true\"\nthen = { function = \"f\", partition = '{\"kind\": \"items\", \"values\": [1]}' }\n", i)
		}
		return strings.Replace(rich, "[[rules]]\n", b.String()+"[[rules]]\n", 1)
	}
	_, err = Parse([]byte(rules(MaxRules - 1)))
	require.NoError(t, err)
	_, err = Parse([]byte(rules(MaxRules)))
	require.ErrorContains(t, err, "there are 33 rules, and the limit is 32")
	long := func(n int) string { return strings.Replace(rich, "page.html", strings.Repeat("x", n), 1) }
	_, err = Parse([]byte(long(MaxPathBytes)))
	require.NoError(t, err)
	_, err = Parse([]byte(long(MaxPathBytes + 1)))
	require.ErrorContains(t, err, "is no path within a folder")
}

func TestItemsOfAnAnswer(t *testing.T) {
	whole := Step{Name: "s", Map: MapStep{Source: &Source{Step: "one"}}}
	field := Step{Name: "s", Map: MapStep{Source: &Source{Step: "one", Field: "found"}}}
	for _, c := range []struct {
		step         Step
		answer, want string
		n            int
		err          string
	}{
		{whole, `[1, {"a": [ 2 ]}, "x\ny"]`, "1\n{\"a\":[2]}\n\"x\\ny\"\n", 3, ""},
		{whole, `[]`, "", 0, ""},
		{field, `{"found": [18446744073709551617], "n": 1}`, "18446744073709551617\n", 1, ""},
		{field, `{"found": null}`, "", 0, ""},
		{field, `{"n": 1}`, "", 0, `has no field "found"`},
		{field, `[1]`, "", 0, `has no field "found"`},
		{field, `{"found": 5}`, "", 0, "is no list"},
		{whole, `{}`, "", 0, "is no list"},
		{whole, ``, "", 0, "is no list"},
	} {
		lines, n, err := c.step.Items(json.RawMessage(c.answer))
		if c.err != "" {
			require.ErrorContains(t, err, c.err, c.answer)
			continue
		}
		require.NoError(t, err, c.answer)
		require.Equal(t, c.want, string(lines))
		require.Equal(t, c.n, n)
	}
}

func TestWhatTheExampleSharesIsTheOneOfTheExamples(t *testing.T) {
	for copied, original := range map[string]string{
		"workflow-bpsw/modules/proved.wasm": "modules/proved/proved.wasm", "workflow-bpsw/functions/sieve/function.wasm": "sieve/function.wasm",
		"selftest/functions/sieve/function.wasm": "sieve/function.wasm", "selftest/functions/tables/bpsw.py": "workflow-bpsw/functions/bpsw/main.py",
	} {
		one, err := os.ReadFile("../../../examples/" + original)
		require.NoError(t, err)
		other, err := os.ReadFile("../../../examples/" + copied)
		require.NoError(t, err)
		require.Equal(t, sha256.Sum256(one), sha256.Sum256(other), "copy examples/%s to examples/%s", original, copied)
	}
}
