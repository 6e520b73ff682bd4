//go:build linux

package harness

import (
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ostraka/ostraka/runtime/bundle"
)

func perItem(c *Config) { c.Manifest.Per = bundle.PerItem }

// Both drivers call the handler once for each item, whatever the shard is made of, and name the item that raises.
func TestItems(t *testing.T) {
	t.Parallel()
	const from = "18446744073709551616" // 2^64
	for name, c := range map[string]struct {
		source, input string
		change        func(*Config)
		output        string
		status        Status
		says          string
	}{
		"a range":                 {"def handler(n): return n * 2", `{"from":"` + from + `","to":"18446744073709551619"}`, nil, `[36893488147419103232,36893488147419103234,36893488147419103236]`, StatusOK, ""},
		"a range below zero":      {"def handler(n): return [n, type(n).__name__]", `{"from":"-1","to":"1"}`, nil, `[[-1,"int"],[0,"int"]]`, StatusOK, ""},
		"lines":                   {"def handler(line): return line.upper()", `{"first":3,"lines":["a","é",""]}`, nil, `["A","É",""]`, StatusOK, ""},
		"a list":                  {"def handler(x): return {'b': x, 'a': None}", `[1,{"c":[2]},"x"]`, nil, `[{"a":null,"b":1},{"a":null,"b":{"c":[2]}},{"a":null,"b":"x"}]`, StatusOK, ""},
		"an empty list":           {"def handler(x): return 1", `[]`, nil, `[]`, StatusOK, ""},
		"no integers":             {"class N(int): pass\ndef handler(x): return [True, N(7), 1.5][x]", `[0,1,2]`, nil, `[true,7,1.5]`, StatusOK, ""},
		"a context":               {"def handler(x, context): return [context.item, context.shard]", `["a","b"]`, nil, `[[0,0],[1,0]]`, StatusOK, ""},
		"no items":                {"def handler(x): return 1", `{"alpha":1}`, nil, "", StatusError, `the input is neither a range, nor lines, nor a list`},
		"a number":                {"def handler(x): return 1", `7`, nil, "", StatusError, `takes the items of those`},
		"an item that raises":     {"def handler(n):\n    if n % 10 == 3: raise ValueError('no')", `{"from":"18446744073709551616","to":"18446744073709551646"}`, nil, "", StatusError, "item 7 (input 18446744073709551623): no"},
		"a long item":             {"def handler(s): raise KeyError(1)", `["` + strings.Repeat("é", 300) + `"]`, nil, "", StatusError, `item 0 (input "` + strings.Repeat("é", 99) + `…): 1`},
		"no JSON":                 {"def handler(x): return 1 if x < 2 else {1}", `[0,1,2]`, nil, "", StatusError, "item 2 (input 2): a value of type builtins.set has no form in JSON"},
		"an item that exits":      {"import sys\ndef handler(x): sys.exit(3)", `[0]`, nil, "", StatusError, "item 0 (input 0): the handler called sys.exit(3)"},
		"a spoiled item":          {"def handler(x):\n    x.append({1})\n    raise ValueError('no')", `[[1]]`, nil, "", StatusError, "item 0 (input TypeError): no"},
		"out of memory":           {"def handler(x): return len(bytearray(b'x' * x))", `[1,140000000]`, tight, "", StatusMemory, "item 1 (input 140000000)"},
		"the output at the limit": {"def handler(x): return 'x' * 10", "[0,1,2,3,4,5,6" + ",7]", func(c *Config) { c.Manifest.Limits.OutputBytes = 1 + 8*13 }, "[" + strings.TrimSuffix(strings.Repeat(`"xxxxxxxxxx",`, 8), ",") + "]", StatusOK, ""},
		"the output one past it":  {"def handler(x): return 'x' * 10", "[0,1,2,3,4,5,6,7]", func(c *Config) { c.Manifest.Limits.OutputBytes = 8 * 13 }, "", StatusOutputLimit, "limits.output_bytes"},
		"an output without end":   {"def handler(x): return 'x' * 1000", `{"from":"0","to":"1000000000000000000000000"}`, nil, "", StatusOutputLimit, "limits.output_bytes"},
		"a fork that returns":     {"import os\ndef handler(x):\n    if x == 1: os.fork()\n    return x", `[0,1,2]`, nil, `[0,1,2]`, StatusOK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := func(cfg *Config) {
				if c.change != nil {
					c.change(cfg)
				}
				perItem(cfg)
			}
			forking, plain := start(t, c.source, change).run(c.input), startPlain(t, c.source, change).run(c.input)
			for _, got := range []Result{forking, plain} {
				require.Equal(t, c.status, got.Status, "%+v %s", got.Exception, got.StderrTail)
				require.Equal(t, c.output, got.Output)
				if c.says != "" {
					require.Contains(t, got.Exception.Message, c.says)
				}
			}
			require.Equal(t, forking.OutputBytes, plain.OutputBytes)
			if c.status != StatusOK {
				require.Equal(t, forking.Exception.Type, plain.Exception.Type)
				require.Equal(t, forking.Exception.Message, plain.Exception.Message)
			}
		})
	}
}

// Whoever cuts a range or a list otherwise gets the same results, one after the other.
func TestItemsCutOtherwise(t *testing.T) {
	t.Parallel()
	const source = "def handler(x): return {'item': x, 'list': [str(x)] * (hash(x) % 3)}"
	r := start(t, source, perItem)
	elements := func(output string) string { return strings.TrimSuffix(strings.TrimPrefix(output, "["), "]") }
	rapid.Check(t, func(rt *rapid.T) {
		from := new(big.Int).Mul(big.NewInt(rapid.Int64().Draw(rt, "from")), big.NewInt(rapid.Int64Range(1, 1<<62).Draw(rt, "times")))
		n := rapid.Int64Range(1, 40).Draw(rt, "items")
		listed := rapid.Bool().Draw(rt, "listed")
		run := func(first, last int64) string {
			var items []string
			for i := first; i < last; i++ {
				items = append(items, new(big.Int).Add(from, big.NewInt(i)).String())
			}
			input := "[" + strings.Join(items, ",") + "]"
			if !listed {
				input = fmt.Sprintf(`{"from":"%s","to":"%s"}`, items[0], new(big.Int).Add(from, big.NewInt(last)))
			}
			got := r.run(input)
			require.Equal(rt, StatusOK, got.Status, "%+v", got.Exception)
			return elements(got.Output)
		}
		whole := run(0, n)
		var parts []string
		for first := int64(0); first < n; {
			last := first + rapid.Int64Range(1, n-first).Draw(rt, "part")
			parts = append(parts, run(first, last))
			first = last
		}
		require.Equal(rt, whole, strings.Join(parts, ","))
	})
}

// A schema of outputs is one of the results of items.
func TestItemsHoldToTheSchema(t *testing.T) {
	t.Parallel()
	r := start(t, "def handler(x): return x", func(c *Config) {
		perItem(c)
		c.Manifest.Output = &bundle.Output{Schema: []byte(`{"type":"integer"}`)}
	})
	require.Equal(t, `[1,2]`, r.run(`[1,2]`).Output)
	got := r.run(`[1,"two"]`)
	require.Equal(t, StatusError, got.Status)
	require.Contains(t, got.Exception.Message, "output.1 (type)")
}

// BenchmarkItems measures what an item costs beside what its handler does.
func BenchmarkItems(b *testing.B) {
	for name, source := range map[string]string{"an integer": "def handler(n): return n", "an object": "def handler(n): return {'n': n, 'even': n % 2 == 0}"} {
		b.Run(name, func(b *testing.B) {
			r := start(b, source, func(c *Config) {
				perItem(c)
				c.Manifest.Limits = bundle.MaxLimits()
			})
			shard := r.shard(`{"from":"0","to":"` + strconv.Itoa(b.N) + `"}`)
			b.ResetTimer()
			got, err := r.s.Run(context.Background(), shard)
			require.NoError(b, err)
			require.Contains(b, []Status{StatusOK, StatusOutputLimit}, got.Status, "%+v", got.Exception)
		})
	}
}
