package builtin_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/builtin"
)

func rebuild(t *testing.T, dir string) {
	t.Helper()
	out, err := exec.Command("./build.sh", dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestOperations(t *testing.T) {
	p := newPool(t, nil)
	big := "123456789012345678901234567890"
	long := strings.Repeat("9", 400)
	for name, c := range map[string]struct {
		params  string
		results []string
		want    string
		summary string // a part of it
	}{
		"count":                 {`{"op":"count"}`, []string{`1`, `null`, `{}`}, `3`, "count of 3 results"},
		"count nothing":         {`{}`, nil, `0`, "count of 0 results"},
		"sum ints":              {`{"op":"sum"}`, []string{`1`, `-5`, `2`}, `-2`, "sum of 3 results"},
		"sum nothing":           {`{"op":"sum"}`, nil, `null`, ""},
		"sum big":               {`{"op":"sum"}`, []string{big, big, `-1`}, `246913578024691357802469135779`, ""},
		"sum cancels":           {`{"op":"sum"}`, []string{big, `-` + big}, `0`, ""},
		"sum to negative":       {`{"op":"sum"}`, []string{`-1000000000000000000000`, `1`}, `-999999999999999999999`, ""},
		"sum carries":           {`{"op":"sum"}`, []string{long, `1`}, `1` + strings.Repeat("0", 400), ""},
		"sum past i64":          {`{"op":"sum"}`, []string{`9223372036854775807`, `1`}, `9223372036854775808`, ""},
		"sum floats":            {`{"op":"sum"}`, []string{`0.1`, `0.2`}, `0.30000000000000004`, ""},
		"sum floats exactly":    {`{"op":"sum"}`, []string{`1e+16`, `1.0`, `-1e+16`}, `1.0`, ""},
		"sum ten tenths":        {`{"op":"sum"}`, []string{`0.1`, `0.1`, `0.1`, `0.1`, `0.1`, `0.1`, `0.1`, `0.1`, `0.1`, `0.1`}, `1.0`, ""},
		"sum mixed":             {`{"op":"sum"}`, []string{`1`, `0.5`}, `1.5`, ""},
		"sum mixed big":         {`{"op":"sum"}`, []string{`9007199254740993`, `0.5`}, `9007199254740994.0`, ""},
		"sum beyond floats":     {`{"op":"sum"}`, []string{`1e+308`, `1e+308`}, `null`, "beyond the largest float"},
		"sum beyond and back":   {`{"op":"sum"}`, []string{`1e+308`, `1e+308`, `-1e+308`}, `1e+308`, ""},
		"sum int beyond floats": {`{"op":"sum"}`, []string{long, `0.5`}, `null`, "beyond the largest float"},
		"sum tiny":              {`{"op":"sum"}`, []string{`5e-324`, `5e-324`}, `1e-323`, ""},
		"sum small":             {`{"op":"sum"}`, []string{`1e-05`, `0.0`}, `1e-05`, ""},
		"sum half way, even":    {`{"op":"sum"}`, []string{`-1014085988007076.2`, `206827076.60351562`}, `-1014085781179999.6`, ""},
		"max half way, down":    {`{"op":"max"}`, []string{`1014085988007076.2`}, `1014085988007076.2`, ""},
		"max half way, up":      {`{"op":"max"}`, []string{`1014085988007075.8`}, `1014085988007075.8`, ""},
		"sum negative zero":     {`{"op":"sum"}`, []string{`-0.0`, `-0.0`}, `0.0`, ""},
		"sum large":             {`{"op":"sum"}`, []string{`1e+16`, `0.0`}, `1e+16`, ""},
		"sum strings":           {`{"op":"sum"}`, []string{`"1"`, `"2"`}, `null`, "2 values left out (not numbers)"},
		"sum some strings":      {`{"op":"sum"}`, []string{`"x"`, `2`, `true`, `null`, `[3]`}, `2`, "4 values left out (not numbers)"},
		"sum integer strings":   {`{"op":"sum","as":"integer_string"}`, []string{`"` + big + `"`, `"-1"`, `1`}, `"` + big + `"`, ""},
		"sum odd strings":       {`{"op":"sum","as":"integer_string"}`, []string{`"1"`, `"x"`, `""`, `"-"`, `"+1"`, `1.5`}, `"1"`, "5 values left out"},
		"sum objects":           {`{"op":"sum"}`, []string{`{"a":1,"b":{"c":2},"s":"x"}`, `{"a":1,"b":{"c":3,"d":1.5}}`}, `{"a":2,"b":{"c":5,"d":1.5}}`, "s: 1 value left out (not numbers)"},
		"sum no objects' field": {`{"op":"sum"}`, []string{`{"s":"x"}`}, `{}`, "s: 1 value left out"},
		"sum numbers, objects":  {`{"op":"sum"}`, []string{`{"a":1}`, `7`}, `{"a":1}`, "1 value left out (numbers among objects)"},
		"min":                   {`{"op":"min"}`, []string{`3`, `-2`, `5`}, `-2`, "min of 3 results"},
		"max big":               {`{"op":"max"}`, []string{big, `1`}, big, ""},
		"max mixed":             {`{"op":"max"}`, []string{`3`, `3.5`}, `3.5`, ""},
		"min mixed":             {`{"op":"min"}`, []string{`-3`, `-3.5`, `-3.25`}, `-3.5`, ""},
		"max close":             {`{"op":"max"}`, []string{`9007199254740993`, `9007199254740992.0`}, `9007199254740993`, ""},
		"max big float":         {`{"op":"max"}`, []string{long[:300], `1e+300`}, `1e+300`, ""},
		"max equal":             {`{"op":"max"}`, []string{`2.0`, `2`}, `2`, ""},
		"max fraction":          {`{"op":"max"}`, []string{`0`, `0.5`, `-0.5`}, `0.5`, ""},
		"min objects":           {`{"op":"min"}`, []string{`{"a":1,"b":2.5}`, `{"a":-1,"b":7}`}, `{"a":-1,"b":2.5}`, ""},
		"max strings":           {`{"op":"max","as":"integer_string"}`, []string{`"9"`, `"10"`}, `"10"`, ""},
		"concat":                {`{"op":"concat"}`, []string{`[1,[2]]`, `"x"`, `[]`, `{"k":"é"}`}, `[1,[2],"x",{"k":"é"}]`, "concat of 4 results"},
		"concat limit":          {`{"op":"concat","limit":2}`, []string{`[1,2,3]`, `4`}, `[1,2]`, "2 values left out (beyond the limit of concat)"},
		"same":                  {`{"op":"same"}`, []string{`"a"`, `"a"`}, `"a"`, ""},
		"same differs":          {`{"op":"same"}`, []string{`"a"`, `"b"`, `"a"`}, `null`, "the values differ"},
		"same nothing":          {`{"op":"same"}`, nil, `null`, ""},
		"count_true":            {`{"op":"count_true"}`, []string{`true`, `false`, `true`, `1`}, `2`, "1 value left out (neither true nor false)"},
		"merge": {
			`{"op":"merge","fields":{"passed":"sum","tested":"sum","sample":{"op":"concat","limit":3},"variant":"same"}}`,
			[]string{`{"passed":2,"sample":["18446744073709551629","18446744073709551653"],"tested":10,"variant":"bpsw"}`, `{"extra":1,"passed":3,"sample":["a","b"],"tested":10,"variant":"bpsw"}`},
			`{"passed":5,"sample":["18446744073709551629","18446744073709551653","a"],"tested":20,"variant":"bpsw"}`,
			"sample: 1 value left out (beyond the limit of concat); extra: 1 value left out (no operation given)",
		},
		"merge default":      {`{"op":"merge","fields":{"b":"max"},"default":"sum"}`, []string{`{"a":1,"b":1,"s":"x"}`, `{"a":2,"b":7}`}, `{"a":3,"b":7}`, "s: 1 value left out"},
		"merge by itself":    {`{"op":"merge"}`, []string{`{"a":1}`, `{"a":2,"b":1}`}, `{"a":3,"b":1}`, ""},
		"merge nested":       {`{"op":"merge","fields":{"x":{"op":"merge","fields":{"y":"min"}}}}`, []string{`{"x":{"y":3}}`, `{"x":{"y":1}}`, `5`}, `{"x":{"y":1}}`, "1 value left out (not objects)"},
		"merge unseen":       {`{"op":"merge","fields":{"a":"sum","b":"count","c":"concat","d":"same"}}`, []string{`{}`}, `{"a":null,"b":0,"c":[],"d":null}`, ""},
		"sorted and escaped": {`{"op":"sum"}`, []string{`{"\u0001":1,"\"\\":2,"a\nb":3,"é":4,"😀":5}`}, `{"\u0001":1,"\"\\":2,"a\nb":3,"é":4,"😀":5}`, ""},
		"escaped parameters": {`{"op":"merge","fields":{"\u003ca\u003e":"sum","\ud83d\ude00":"sum"}}`, []string{`{"<a>":1,"😀":2}`}, `{"<a>":1,"😀":2}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := aggregation(p, c.params)
			whole, err := fold(t.Context(), a, c.results)
			require.NoError(t, err)
			require.Equal(t, c.want, string(whole.Value))
			require.Contains(t, whole.Summary, c.summary)
			require.EqualValues(t, len(c.results), whole.N)
			if c.summary == "" || strings.HasSuffix(c.summary, "results") {
				require.NotContains(t, whole.Summary, ";", "nothing was left out")
			}

			var single [][]string
			for _, r := range c.results {
				single = append(single, []string{r})
			}
			split, err := fold(t.Context(), a, append(single, nil)...)
			require.NoError(t, err)
			require.Equal(t, whole, split, "one result per leaf must make no difference")
		})
	}
}

func TestTruncationIsCounted(t *testing.T) {
	a := aggregation(newPool(t, nil), `{"op":"concat","limit":1}`)
	f, err := fold(t.Context(), a, []string{`[1,2]`}, []string{`[3,4,5]`})
	require.NoError(t, err)
	require.Equal(t, `[1]`, string(f.Value))
	require.EqualValues(t, 4, f.Truncated)
}

func TestReferencesAreCountedAndNamed(t *testing.T) {
	a := aggregation(newPool(t, nil), `{"op":"sum"}`)
	ref := &wasm.Ref{SHA256: strings.Repeat("0", 64), Size: 2 << 20, Head: "[1,2"}
	p, _, err := a.Fold(t.Context(), wasm.Each([]wasm.Item{{ID: "0", Result: []byte("5")}, {ID: "1", Ref: ref}}))
	require.NoError(t, err)
	f, _, err := a.Final(t.Context(), wasm.Each([]wasm.Partial{p}))
	require.NoError(t, err)
	require.Equal(t, "5", string(f.Value))
	require.EqualValues(t, 2, f.N)
	require.Contains(t, f.Summary, "1 value left out (too large to be passed to the aggregator)")
}

func TestBadParametersAreExplained(t *testing.T) {
	p := newPool(t, nil)
	for params, want := range map[string]string{
		`{"op":"median"}`:                             `the operation "median" is not known`,
		`{"fields":{}}`:                               `"op" is missing`,
		`{"op":"concat","limit":-1}`:                  `"limit" must be an integer`,
		`{"op":"concat","limits":1}`:                  `no parameter "limits"`,
		`{"op":"sum","as":"float"}`:                   `integer_string`,
		`{"op":"merge","fields":[]}`:                  `"fields" must be an object`,
		`{"op":"merge","fields":{"a":"avg"}}`:         `field "a": the operation "avg"`,
		`{"op":"merge","default":{"op":"sum","x":1}}`: `no parameter "x"`,
		`{"op":"merge","fields":{"a":{"limit":"4"}}}`: `an object with "op"`,
		`{"op":7}`: `an object with "op"`,
	} {
		t.Run(params, func(t *testing.T) {
			_, err := fold(t.Context(), aggregation(p, params), []string{`1`})
			var e *wasm.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, wasm.ClassExit, e.Class)
			require.EqualValues(t, wasm.ExitBadInput, e.ExitCode)
			require.Contains(t, e.Message, want)
		})
	}
}

func TestTooMuchToConcatenateIsExplained(t *testing.T) {
	p := newPool(t, func(o *wasm.Options) { o.Limits.Output = 1 << 20 })
	value := `"` + strings.Repeat("x", 400<<10) + `"`
	_, err := fold(t.Context(), aggregation(p, `{"op":"concat"}`), []string{value, value, value})
	var e *wasm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, wasm.ClassOutputLimit, e.Class)
	require.Contains(t, e.Error(), `give concat a "limit"`)
}

func TestPartialsOfOtherParametersAreRefused(t *testing.T) {
	p := newPool(t, nil)
	partial, _, err := aggregation(p, `{"op":"concat"}`).Fold(t.Context(), wasm.Each(items([]string{`1`})))
	require.NoError(t, err)
	_, _, err = aggregation(p, `{"op":"sum"}`).Merge(t.Context(), wasm.Each([]wasm.Partial{partial}))
	require.ErrorContains(t, err, "the partial is not one of sum")
}

func TestResolve(t *testing.T) {
	for _, name := range builtin.Names() {
		m, params, err := builtin.Resolve(name, nil)
		require.NoError(t, err)
		require.JSONEq(t, `{"op":"`+name+`"}`, string(params))
		require.Equal(t, builtin.Module().Digest, m.Digest)
	}
	_, params, err := builtin.Resolve("concat", json.RawMessage(`{"limit":18446744073709551615}`))
	require.NoError(t, err)
	require.Equal(t, `{"limit":18446744073709551615,"op":"concat"}`, string(params))
	_, _, err = builtin.Resolve("median", nil)
	require.ErrorContains(t, err, "concat, count")
	_, _, err = builtin.Resolve("sum", json.RawMessage(`[]`))
	require.ErrorContains(t, err, "must be a JSON object")
	_, _, err = builtin.Resolve("sum", json.RawMessage(`{"op":"min"}`))
	require.ErrorContains(t, err, "another operation")
}

func TestUploadCheckAcceptsIt(t *testing.T) {
	r, err := builtin.Module().Open(t.Context())
	require.NoError(t, err)
	defer r.Close()
	bytes := make([]byte, 1<<20)
	n, err := r.Read(bytes)
	require.NoError(t, err)
	info, err := newPool(t, nil).Check(t.Context(), "p", bytes[:n], wasm.KindAggregator)
	require.NoError(t, err)
	about := info.Description
	require.Equal(t, "aggregate", about.Name)
	require.True(t, *about.Associative)
	for params, taken := range map[string]bool{
		"": true, `{}`: true, `{"op":"count"}`: true, `{"op":"sum","as":"integer_string"}`: true, `{"op":"concat","limit":0}`: true,
		`{"op":"merge","fields":{"a":"sum","b":{"op":"concat","limit":3}},"default":{"op":"max"}}`: true, `{"op":"merge","default":"max"}`: true,
		`{"op":"nonsense"}`: false, `{"limit":3}`: false, `{"op":"sum","more":1}`: false, `{"op":"concat","limit":-1}`: false, `{"op":"sum","as":"text"}`: false,
	} {
		if err := about.CheckParams(json.RawMessage(params)); taken {
			require.NoError(t, err, params)
		} else {
			require.Error(t, err, params)
		}
	}
}
