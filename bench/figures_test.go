package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryFigureIsDefined: what is printed has a row of its own in the table, and the page that explains figures names them all.
func TestEveryFigureIsDefined(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/performance.md")
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, d := range definitions {
		require.False(t, seen[d.name], "%s is defined twice", d.name)
		seen[d.name] = true
		require.Contains(t, string(page), "`"+d.name+"`")
		require.NotEmpty(t, d.what)
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	literal := regexp.MustCompile(`\{"([a-z][a-z0-9_]*_[a-z0-9_]+)", [a-zA-Z0-9(]`)
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "figures.go" {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range literal.FindAllStringSubmatch(string(text), -1) {
			require.True(t, seen[m[1]], "%s: %s is not defined", file, m[1])
			found++
		}
	}
	require.Greater(t, found, 30, "the pattern finds them")
}

func TestTable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, writeTable(&out, []figure{{"call_ms", 24.56789}}))
	require.Contains(t, out.String(), "| `call_ms` | 24.57 | ≤ 25 | one call")
	require.ErrorContains(t, writeTable(&out, []figure{{"other", 1}}), "figure other is not defined")
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	ratio, err := define("dask_ratio")
	require.NoError(t, err)
	size, err := define("bytes_per_shard")
	require.NoError(t, err)
	rate, err := define("raw_shards_per_s")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		d             definition
		before, after []float64
		want          string
	}{
		"more of a ratio":           {ratio, []float64{1, 1.01, 1.02, 1.03}, []float64{1.5, 1.51, 1.52, 1.53}, "better"},
		"less of a ratio":           {ratio, []float64{1.5, 1.51, 1.52, 1.53}, []float64{1, 1.01, 1.02, 1.03}, "WORSE"},
		"fewer bytes":               {size, []float64{500, 501, 502, 503}, []float64{300, 301, 302, 303}, "better"},
		"sure and small":            {ratio, []float64{1, 1.001, 1.002, 1.003}, []float64{1.01, 1.011, 1.012, 1.013}, "the same"},
		"large by chance":           {ratio, []float64{1, 2, 1, 2}, []float64{2, 1.4, 2.1, 1.1}, "the same"},
		"too few runs before":       {ratio, []float64{1, 1, 1}, []float64{9, 9, 9, 9}, "too few to tell"},
		"too few runs now":          {ratio, []float64{1, 1, 1, 1}, []float64{9}, "too few to tell"},
		"another machine's seconds": {rate, []float64{1, 1, 1, 1}, []float64{9, 9, 9, 9}, "not compared"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, verdict(c.d, c.before, c.after), c.want)
		})
	}
}

func TestReadSamples(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "base")
	_, err := readSamples(file)
	require.ErrorContains(t, err, "opening the figures")
	require.NoError(t, os.WriteFile(file, []byte("make: nothing\nother 3\n"), 0o600))
	_, err = readSamples(file)
	require.ErrorContains(t, err, "has no figures: write them there with make bench RUNS=4")
	require.NoError(t, os.WriteFile(file, []byte("dask_ratio 1.5\nmeasuring: calls\ncall_ms x\ndask_ratio 1.25e+00\n"), 0o600))
	got, err := readSamples(file)
	require.NoError(t, err)
	require.Equal(t, samples{"dask_ratio": {1.5, 1.25}}, got)
	var out bytes.Buffer
	require.NoError(t, compare(&out, got, samples{"dask_ratio": {2}, "call_ms": {20}}))
	require.Regexp(t, `dask_ratio +1\.\d+ +2 +\+\d+\.\d %  2 and 1 runs: too few`, out.String())
	require.NotContains(t, out.String(), "call_ms", "it was not measured before")
}

func TestParseStat(t *testing.T) {
	t.Parallel()
	got, err := parseStat([]byte("12 (a) b) S 7 12 12 0 -1 4194304 1 2 3 4 100 20 30 4 20 0 1 0 9 1 1"))
	require.NoError(t, err)
	require.Equal(t, used{parent: 7, time: 1.54}, got)
	_, err = parseStat([]byte("12 (a) S 7"))
	require.ErrorContains(t, err, "the kernel tells of a process")
	require.True(t, descends(map[int]used{3: {parent: 2}, 2: {parent: 1}}, map[int]bool{1: true}, 3))
	require.False(t, descends(map[int]used{3: {parent: 3}}, map[int]bool{1: true}, 3))
}
