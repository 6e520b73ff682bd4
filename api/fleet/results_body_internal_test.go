package fleet

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
)

// someResults is a post of n results of the usual size.
func someResults(n int) []byte {
	request := ResultsRequest{Signature: make([]byte, 64)}
	for i := range n {
		request.Results = append(request.Results, functions.Result{
			Shard: int64(i), Status: "ok", Output: `{"passed":22,"tested":1000}`, OutputDigest: strings.Repeat("ab", 32), OutputBytes: 27,
			StdoutDigest: strings.Repeat("cd", 32), StartedAt: time.Unix(0, 0).UTC(), EndedAt: time.Unix(1, 0).UTC(), CPUMicros: 123456, WallMicros: 234567,
			PeakRSS: 12345678, InputBytes: 44, Isolation: "process", Interpreter: "CPython 3.11.2", Platform: "linux/amd64", Libc: "glibc 2.36",
		})
	}
	text, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	return text
}

func TestDecodeResults(t *testing.T) {
	most := someResults(dispatch.MaxLeaseShards)
	got, err := decodeResults(most)
	require.NoError(t, err)
	require.Len(t, got.Results, dispatch.MaxLeaseShards)
	require.Len(t, got.Signature, 64)
	require.Equal(t, `{"passed":22,"tested":1000}`, got.Results[7].Output)

	const one = `{"shard":1,"status":"ok","started_at":"2026-01-01T00:00:00Z","ended_at":"2026-01-01T00:00:00Z"`
	for name, test := range map[string]struct{ body, says string }{
		"none":                    {`{"results":[],"signature":""}`, "no results"},
		"null":                    {`null`, "no results"},
		"one too many":            {string(someResults(dispatch.MaxLeaseShards + 1)), "1025 results"},
		"unknown field":           {`{"results":[],"signature":"","trust_me":true}`, `unknown field "trust_me"`},
		"unknown field inside":    {`{"results":[` + one + `,"accepted":true}],"signature":""}`, `unknown field "accepted"`},
		"another type":            {`{"results":[{"shard":"1"}]}`, "shard"},
		"number that is no int64": {`{"results":[{"shard":9223372036854775808}]}`, "9223372036854775808"},
		"fraction":                {`{"results":[{"shard":1.5}]}`, "1.5"},
		"signature not base64":    {`{"results":[` + one + `}],"signature":"%%"}`, "base64"},
		"time that is none":       {`{"results":[{"started_at":"yesterday"}]}`, "yesterday"},
		"something after it":      {`{"results":[` + one + `}],"signature":""} x`, "follows"},
		"cut off":                 {`{"results":[` + one, "EOF"},
		"an array":                {`[]`, "array"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decodeResults([]byte(test.body))
			var p *rest.Problem
			require.ErrorAs(t, err, &p)
			require.Equal(t, 422, p.Status)
			require.Equal(t, rest.CodeBadResults, p.Code)
			require.Contains(t, p.Detail, test.says)
		})
	}
}

func FuzzDecodeResults(f *testing.F) {
	f.Add(someResults(1))
	f.Add(someResults(3))
	f.Add([]byte(`{"results":[{"shard":1,"files":[{"path":"a","size":1,"digest":""}],"exception":{"type":"E","message":"\u0000"}}],"signature":"AA=="}`))
	f.Add([]byte(`{"results":null}`))
	f.Add([]byte(`{"results":[{}]} []`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := decodeResults(text)
		if err != nil {
			var p *rest.Problem
			require.ErrorAs(t, err, &p, "whatever comes, the answer is a problem")
			require.NotEmpty(t, p.Detail)
			return
		}
		require.NotEmpty(t, got.Results)
		require.LessOrEqual(t, len(got.Results), dispatch.MaxLeaseShards)
		// What was understood can be written and understood again.
		text, err = json.Marshal(ResultsRequest{Results: got.Results, Signature: got.Signature})
		require.NoError(t, err)
		again, err := decodeResults(text)
		require.NoError(t, err)
		textAgain, err := json.Marshal(ResultsRequest{Results: again.Results, Signature: again.Signature})
		require.NoError(t, err)
		require.Equal(t, string(text), string(textAgain))
	})
}

func BenchmarkDecodeResults(b *testing.B) {
	text := someResults(100)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodeResults(text); err != nil {
			b.Fatal(err)
		}
	}
}
