package builtin_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/builtin"
)

func anomaly(t testing.TB, p *wasm.Pool, params string) wasm.Heuristics {
	t.Helper()
	module, found := builtin.Find(wasm.KindHeuristic, "anomaly")
	require.True(t, found)
	return wasm.Heuristics{Use: wasm.Use{Pool: p, Project: "p", Job: "j", Module: module, Params: json.RawMessage(params)}}
}

// usual are n results that differ as results do.
func usual(n int) []wasm.Evidence {
	list := make([]wasm.Evidence, n)
	for i := range list {
		list[i] = wasm.Evidence{
			ID: fmt.Sprint(i), Subject: wasm.SubjectResult, Agent: "a", Content: fmt.Appendf(nil, `{"found":%d,"name":"x"}`, 100+i%7),
			Measures: &wasm.Measures{OutputBytes: 24, CPUMicros: 300_000 + int64(i%11)*1000, WallMicros: 310_000 + int64(i%13)*1000, PeakRSS: 20 << 20},
		}
	}
	return list
}

func TestWhatIsFarFromUsualIsFound(t *testing.T) {
	t.Parallel()
	p := newPool(t, nil)
	cases := map[string]struct {
		change func(*wasm.Evidence)
		labels []string
		says   string
	}{
		"nothing":      {func(*wasm.Evidence) {}, nil, ""},
		"a lazy one":   {func(e *wasm.Evidence) { e.Measures.CPUMicros, e.Measures.WallMicros = 900, 1000 }, []string{"cpu_us", "wall_us"}, "cpu_us is 900, the median of 64 is 305000 and the spread 30500: 9.970491803 spreads away"},
		"size":         {func(e *wasm.Evidence) { e.Measures.OutputBytes = 2048 }, []string{"output_bytes"}, "output_bytes is 2048, the median of 64 is 24 and the spread 39.6356125: 51.0651879 spreads away"},
		"memory":       {func(e *wasm.Evidence) { e.Measures.PeakRSS = 64 << 20 }, []string{"peak_rss_bytes"}, "peak_rss_bytes is 67108864"},
		"a field":      {func(e *wasm.Evidence) { e.Content = []byte(`{"found":100000}`) }, []string{"output.found"}, "output.found is 100000, the median of 64 is 103"},
		"almost whole": {func(e *wasm.Evidence) { e.Content = []byte(`{"found":5000.0000001}`) }, []string{"output.found"}, "output.found is 5000, the median of 64 is 103"},
		"a huge one":   {func(e *wasm.Evidence) { e.Content = []byte(`{"found":1` + strings.Repeat("0", 400) + `}`) }, []string{"output.found"}, "output.found is 1e+300"},
		"no number":    {func(e *wasm.Evidence) { e.Content = []byte(`{"found":"100000","x":null}`) }, nil, ""},
		"no object":    {func(e *wasm.Evidence) { e.Content = []byte(`[1e9]`) }, nil, ""},
		"a reference":  {func(e *wasm.Evidence) { e.Content, e.Ref = nil, &wasm.Ref{SHA256: strings.Repeat("a", 64), Size: 24} }, nil, ""},
	}
	for name, c := range cases {
		results := usual(64)
		c.change(&results[17])
		scores, _, err := anomaly(t, p, "").Score(t.Context(), wasm.Each(results))
		require.NoError(t, err, name)
		for i, s := range scores {
			if i != 17 || c.labels == nil {
				require.Less(t, *s.Score, 0.5, "%s: %+v", name, s)
				require.Empty(t, s.Labels, name)
				continue
			}
			require.GreaterOrEqual(t, *s.Score, 0.5, name)
			require.Equal(t, c.labels, s.Labels, name)
			require.Contains(t, s.Explain, c.says, name)
			require.Len(t, s.Places, len(c.labels), name)
			require.Equal(t, c.labels[0], s.Places[0].Label, name)
		}
	}
}

func TestResultsThatAreAlike(t *testing.T) {
	t.Parallel()
	p := newPool(t, nil)
	same := usual(1)[0]
	for _, n := range []int{0, 1, 2, 15, 16, 1024} {
		scores, _, err := anomaly(t, p, "").Score(t.Context(), wasm.Each(slices.Repeat([]wasm.Evidence{same}, n)))
		require.NoError(t, err)
		require.Len(t, scores, n)
		for _, s := range scores {
			require.Zero(t, *s.Score, "all of %d are equal", n)
		}
	}
	few := usual(15)
	few[3].Content = []byte(`{"found":1000000}`)
	scores, _, err := anomaly(t, p, "").Score(t.Context(), wasm.Each(few))
	require.NoError(t, err)
	require.Zero(t, *scores[3].Score, "15 results are too few to say what is usual")
	scores, _, err = anomaly(t, p, `{"min_results":15}`).Score(t.Context(), wasm.Each(few))
	require.NoError(t, err)
	require.Greater(t, *scores[3].Score, 0.5)

	bits := slices.Repeat([]wasm.Evidence{{ID: "1", Subject: wasm.SubjectResult, Content: []byte("0")}}, 100)
	bits[50].Content = []byte("1")
	scores, _, err = anomaly(t, p, "").Score(t.Context(), wasm.Each(bits))
	require.NoError(t, err)
	require.Equal(t, []string{"output"}, scores[50].Labels, "the median deviation is 0: the mean takes its place")
	require.Contains(t, scores[50].Explain, "output is 1, the median of 100 is 0 and the spread 0.012533: 79.7893561 spreads away")
	require.Zero(t, *scores[49].Score)
}

// TestScoresAreTheDocumentedFormula holds the module against the formula of docs/modules.md, written once more.
func TestScoresAreTheDocumentedFormula(t *testing.T) {
	t.Parallel()
	p := newPool(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Float64Range(-1e9, 1e9).Filter(func(v float64) bool { return v == 0 || math.Abs(v) >= 1e-280 }) // what is nearer counts as 0
		values := rapid.SliceOfN(value, 3, 60).Draw(t, "values")
		threshold := rapid.Float64Range(0.1, 100).Draw(t, "threshold")
		module, _ := builtin.Find(wasm.KindHeuristic, "anomaly")
		h := wasm.Heuristics{Use: wasm.Use{Pool: p, Project: "p", Job: "j", Module: module, Params: fmt.Appendf(nil, `{"min_results":3,"threshold":%v}`, threshold)}}
		var things []wasm.Evidence
		for _, v := range values {
			text, err := json.Marshal(v)
			require.NoError(t, err)
			things = append(things, wasm.Evidence{ID: "x", Subject: wasm.SubjectResult, Content: text})
		}
		scores, _, err := h.Score(t.Context(), wasm.Each(things))
		require.NoError(t, err)
		want := formula(values, threshold, 0, 1e-9)
		for i := range values {
			require.InDelta(t, want[i], *scores[i].Score, 1e-6, "%v", values)
		}
	})
}

func formula(values []float64, threshold, absolute, relative float64) (scores []float64) {
	median := func(values []float64) float64 {
		s := slices.Sorted(slices.Values(values))
		return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
	}
	middle := median(values)
	var away []float64
	mean := 0.0
	for _, v := range values {
		away = append(away, math.Abs(v-middle))
		mean += math.Abs(v-middle) / float64(len(values))
	}
	spread := 1.4826 * median(away)
	if spread == 0 {
		spread = 1.2533 * mean
	}
	spread = max(spread, absolute, relative*math.Abs(middle))
	for _, a := range away {
		far := 0.0
		if spread > 0 {
			far = min(a/spread, 1e9)
		}
		scores = append(scores, far/(far+threshold))
	}
	return scores
}

func TestParametersOfAnomaly(t *testing.T) {
	t.Parallel()
	p := newPool(t, nil)
	description, _, err := anomaly(t, p, "").Describe(t.Context(), wasm.KindHeuristic)
	require.NoError(t, err)
	require.False(t, *description.Separate, "its answer about a result depends on the others")
	results := usual(64)
	results[9].Measures.PeakRSS, results[9].Content = 1<<30, []byte(`{"found":1e9}`)
	for params, labels := range map[string][]string{
		`{}`:                            {"peak_rss_bytes", "output.found"},
		`{"measures":[]}`:               {"output.found"},
		`{"measures":["output_bytes"]}`: {"output.found"},
		`{"fields":["other"]}`:          {"peak_rss_bytes"},
		`{"fields":["found"],"measures":["peak_rss_bytes"],"threshold":8,"min_results":64}`: {"peak_rss_bytes", "output.found"},
		`{"threshold":1000000}`: {"output.found"},
		`{"min_results":65}`:    nil,
	} {
		require.NoError(t, description.CheckParams([]byte(params)), params)
		scores, _, err := anomaly(t, p, params).Score(t.Context(), wasm.Each(results))
		require.NoError(t, err, params)
		require.Equal(t, labels, scores[9].Labels, params)
	}
	for _, params := range []string{
		`{"threshold":0}`, `{"threshold":"8"}`, `{"threshold":1000001}`, `{"min_results":2}`, `{"min_results":100001}`, `{"measures":"wall_us"}`, `{"measures":["time"]}`,
		`{"measures":[1]}`, `{"fields":[""]}`, `{"fields":["` + strings.Repeat("x", 41) + `"]}`, `{"fields":{}}`, `{"other":1}`,
	} {
		_, _, err := anomaly(t, p, params).Score(t.Context(), wasm.Each(results))
		var failed *wasm.Error
		require.ErrorAs(t, err, &failed, params)
		require.EqualValues(t, 65, failed.ExitCode, params)
		require.NotEmpty(t, failed.Stderr, params)
		require.Error(t, description.CheckParams([]byte(params)), params)
	}
}

func raw(t testing.TB, p *wasm.Pool, lines iter.Seq2[[]byte, error], out func([]byte) error) (wasm.Stats, error) {
	t.Helper()
	h := anomaly(t, p, "")
	return p.Run(t.Context(), "p", h.Module, wasm.Header{Kind: wasm.KindHeuristic, Phase: wasm.PhaseRun, Project: "p", Job: "j"}, lines, out)
}

// TestGarbageIsRefused sends what the host never does.
func TestGarbageIsRefused(t *testing.T) {
	t.Parallel()
	p := newPool(t, nil)
	for _, line := range []string{
		"", "x", "NaN", "{", "{}", `{"id"}`, `{"id":1}`, `{"id":"1"}`, `{"id":"1","subject":"code"}`, `{"id":"1,"subject":"result"}`, `{"id":"1","subject":"result"`, `{"id":"\`,
		`[{"id":"1"}]`, `{"id":"` + strings.Repeat("x", 300) + `"}`, `{"id":"1","subject":"result","content":{"a":}}`, `{"id":"1","subject":"result","content":{"a"}`,
		"{\"id\":\x00}", "{\"id\":[\x00]}", `{"id":"1","subject":"result","content":` + strings.Repeat("[", 100_000) + `}`,
	} {
		_, err := raw(t, p, wasm.Each([][]byte{[]byte(line)}), func([]byte) error { return nil })
		var failed *wasm.Error
		require.ErrorAs(t, err, &failed, line)
		require.Equal(t, wasm.ClassExit, failed.Class, "%s: %v", line, err)
		require.Contains(t, []int64{64, 65}, int64(failed.ExitCode), line)
	}
	strange := []string{
		`{"id":"1","subject":"result","content":NaN,"measures":{"wall_us":NaN}}`, `{"id":"1","subject":"result","content":-,"measures":[]}`,
		`{"id":"1","subject":"result","content":{"a":0x10,"b":1e,"c":--1,"d":1e99999,"e":-1e99999,"e":3},"measures":{"wall_us":"7","cpu_us":null}}`,
	}
	for range 40 {
		strange = append(strange, `{"id":"1","subject":"result","content":{"d":1,"e":2}}`)
	}
	lines := 0
	_, err := raw(t, p, func(yield func([]byte, error) bool) {
		for _, l := range strange {
			if !yield([]byte(l), nil) {
				return
			}
		}
	}, func([]byte) error { lines++; return nil })
	require.NoError(t, err, "what is no number does not count")
	require.Equal(t, len(strange), lines)
}

// TestManyResultsTakeLittleMemory gives as many results as there may be lines, and one more.
func TestManyResultsTakeLittleMemory(t *testing.T) {
	t.Parallel()
	const memory = 48 << 20 // of 100,000 results with 21 measures: 17 MB, and as much again while it grows
	p := newPool(t, func(o *wasm.Options) { o.Limits.Memory = memory })
	results := func(n int) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			for i := range n {
				line := fmt.Appendf(nil, `{"t":"item","id":"%d","subject":"result","content":{`, i)
				for f := range 20 {
					line = fmt.Appendf(line, `"f%d":%d,`, f, i%(f+2))
				}
				line = fmt.Appendf(line, `"x":0},"text":null,"measures":{"output_bytes":%d,"cpu_us":%d,"wall_us":%d,"peak_rss_bytes":1}}`, 100+i%50, i%1000, i%1000)
				if i == 77_777 {
					line = []byte(strings.Replace(string(line), `"f3":`, `"f3":9`+strings.Repeat("0", 9), 1))
				}
				if !yield(line, nil) {
					return
				}
			}
		}
	}
	strange, count := []string{}, 0
	stats, err := raw(t, p, results(100_000), func(line []byte) error {
		if count++; strings.Contains(string(line), "labels") {
			strange = append(strange, string(line))
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 100_000, count)
	require.Len(t, strange, 1)
	require.Contains(t, strange[0], `"77777"`)
	require.LessOrEqual(t, stats.Memory, int64(memory))
	t.Logf("%d units, %d bytes of memory, %v", stats.Fuel, stats.Memory, stats.Wall)
	_, err = raw(t, p, results(100_001), func([]byte) error { return nil })
	var failed *wasm.Error
	require.ErrorAs(t, err, &failed)
	require.Contains(t, failed.Stderr, "more than 100000 results")
}
