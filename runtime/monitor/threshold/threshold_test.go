package threshold

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func memory(bytes int64) Sample { return Sample{At: time.Unix(bytes, 0), MemoryBytes: bytes} }

func plan(t *testing.T, r Rules) Plan {
	t.Helper()
	p, err := Merge(Limits{CPUPercent: 200, MemoryBytes: 1000, WorkspaceBytes: 1000, Processes: 100, OutputBytes: 1000}, Source{"the test", &r})
	require.NoError(t, err)
	return p
}

// levels observes values of memory and writes each alert as one letter at the sample that rang.
func levels(d *Decider, values ...int64) string {
	var out strings.Builder
	for _, v := range values {
		alerts := d.Observe(memory(v))
		switch {
		case len(alerts) == 0:
			out.WriteByte('.')
		case len(alerts) > 1:
			out.WriteByte('!')
		default:
			out.WriteByte(alerts[0].Level[0])
		}
	}
	return out.String()
}

func TestHysteresis(t *testing.T) {
	r := Rules{Memory: &Pair{Warning: "50%", Critical: "90%"}, Samples: 3}
	for name, c := range map[string]struct {
		values []int64
		want   string
	}{
		"calm":                          {[]int64{1, 2, 499, 0}, "...."},
		"a peak is none":                {[]int64{950, 950, 100, 950, 950}, "....."},
		"warning after three":           {[]int64{500, 500, 500, 500}, "..w."},
		"critical after three":          {[]int64{900, 900, 900, 900}, "..c."},
		"warning first":                 {[]int64{600, 600, 600, 950, 950, 950}, "..w..c"},
		"hovering rings once":           {[]int64{500, 500, 500, 499, 500, 499, 460, 500, 500, 500}, "..w......."},
		"recovered after three":         {[]int64{500, 500, 500, 449, 449, 449, 449}, "..w..r."},
		"rings again when it recovered": {[]int64{500, 500, 500, 0, 0, 0, 500, 500, 500}, "..w..r..w"},
		"critical is not forgotten":     {[]int64{900, 900, 900, 600, 600, 600, 900, 900, 900}, "..c......"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, levels(NewDecider(plan(t, r)), c.values...))
		})
	}
	d := NewDecider(plan(t, r))
	require.Equal(t, "..c", levels(d, 900, 900, 900))
	d.Reset()
	require.Equal(t, "..c", levels(d, 900, 900, 900), "what runs next is judged anew")
}

func TestAlertsSayWhatTheyMean(t *testing.T) {
	d := NewDecider(plan(t, Rules{Memory: &Pair{Critical: "50%"}, Samples: 1}))
	alerts := d.Observe(memory(600))
	require.Equal(t, []Alert{{
		At: time.Unix(600, 0), Metric: Memory, Level: Critical, Value: 600, Threshold: 500,
		Text: "memory was at 600 bytes, for 1 samples in a row at or over the critical threshold of 500 bytes (50% of the limit, the test)",
	}}, alerts)
	require.Equal(t, "256.0 MiB", show(Memory, 256<<20))
	require.Equal(t, "64", show(Processes, 64))
}

func TestTheStrictestWins(t *testing.T) {
	limits := Limits{MemoryBytes: 1000, Processes: 10}
	p, err := Merge(limits,
		Source{"a", &Rules{Memory: &Pair{Warning: "90%", Critical: "950"}, Samples: 5}},
		Source{"b", &Rules{Memory: &Pair{Warning: "800", Critical: "99%"}, Processes: &Pair{Critical: "5"}, Samples: 2}},
		Source{"c", nil})
	require.NoError(t, err)
	require.Equal(t, mark{800, "b"}, p.mark(p.warning, Memory))
	require.Equal(t, mark{950, "a"}, p.mark(p.critical, Memory))
	require.Equal(t, mark{5, "b"}, p.mark(p.critical, Processes))
	require.Equal(t, 2, p.samples)
	require.True(t, math.IsInf(p.Lowest(CPU), 1))
	_, err = Merge(limits, Source{"the function", &Rules{Samples: -1}})
	require.ErrorContains(t, err, "reading the thresholds of the function")
	p, err = Merge(Limits{}, Source{"a", &Rules{Memory: &Pair{Critical: "50%"}}})
	require.NoError(t, err)
	require.True(t, math.IsInf(p.Lowest(Memory), 1), "a part of no limit")
	require.Equal(t, DefaultSamples, p.samples)
}

func TestSharedNetworkIsNobodysFault(t *testing.T) {
	r := Rules{Network: &Pair{Critical: "1"}, Samples: 1}
	for kind, rings := range map[NetworkKind]bool{NetworkNone: true, NetworkOwn: true, NetworkShared: false, NetworkUnknown: false} {
		alerts := NewDecider(plan(t, r)).Observe(Sample{NetworkBytes: 5, Network: kind})
		require.Equal(t, rings, len(alerts) == 1, kind)
	}
}

func TestRulesAreChecked(t *testing.T) {
	good := []Rules{
		{},
		{Samples: MaxSamples},
		{Memory: &Pair{Warning: "1.5Gi"}},
		{CPU: &Pair{Critical: "150"}},
		{Processes: &Pair{Warning: "3", Critical: "100%"}},
		{Network: &Pair{Critical: "1"}},
		{Output: &Pair{Critical: "120%"}},
		{Memory: &Pair{Warning: "90%", Critical: "5"}},
	}
	for _, r := range good {
		require.NoError(t, r.Check(), "%+v", r)
	}
	for text, r := range map[string]Rules{
		"samples = 61":    {Samples: MaxSamples + 1},
		"neither":         {Memory: &Pair{}},
		"above":           {Memory: &Pair{Warning: "90%", Critical: "80%"}},
		"no limit":        {Network: &Pair{Critical: "50%"}},
		"cpu.warning":     {CPU: &Pair{Warning: "1Gi"}},
		"write a size":    {Memory: &Pair{Critical: "1e9"}},
		"above 0":         {Memory: &Pair{Critical: "0"}},
		"write a number":  {Processes: &Pair{Critical: "-1"}},
		"25 characters":   {Memory: &Pair{Critical: strings.Repeat("1", MaxBoundLength+1)}},
		"write percents":  {CPU: &Pair{Critical: "NaN"}},
		"a part of the l": {Output: &Pair{Critical: "."}},
	} {
		require.ErrorContains(t, r.Check(), text)
	}
	at := Rules{Memory: &Pair{Critical: strings.Repeat("0", MaxBoundLength-1) + "1"}}
	require.NoError(t, at.Check())
}

func TestFlags(t *testing.T) {
	var r Rules
	for _, text := range []string{"memory.warning=80%", "memory.critical=95%", "processes.critical=64", "samples=2"} {
		require.NoError(t, r.ParseFlag(text))
	}
	require.Equal(t, Rules{Memory: &Pair{"80%", "95%"}, Processes: &Pair{Critical: "64"}, Samples: 2}, r)
	for _, text := range []string{"", "memory", "memory=5", "memory.high=5", "ram.warning=5", "samples=0", "samples=x"} {
		require.Error(t, r.ParseFlag(text), text)
	}
}

// TestAnAlertHasItsReasons holds the decider against what the samples say, whatever they are.
func TestAnAlertHasItsReasons(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "samples")
		p, err := Merge(Limits{MemoryBytes: 100}, Source{"x", &Rules{Memory: &Pair{Warning: "50%", Critical: "80%"}, Samples: n}})
		if err != nil {
			t.Fatal(err)
		}
		d := NewDecider(p)
		var seen []int64
		said := Level("")
		for range rapid.IntRange(0, 60).Draw(t, "length") {
			seen = append(seen, rapid.Int64Range(0, 100).Draw(t, "value"))
			alerts := d.Observe(memory(seen[len(seen)-1]))
			all := func(holds func(int64) bool) bool {
				if len(seen) < n {
					return false
				}
				for _, v := range seen[len(seen)-n:] {
					if !holds(v) {
						return false
					}
				}
				return true
			}
			critical := all(func(v int64) bool { return v >= 80 })
			warning := all(func(v int64) bool { return v >= 50 })
			calm := all(func(v int64) bool { return v < 45 })
			want := Level("")
			switch {
			case critical && said != Critical:
				want, said = Critical, Critical
			case warning && said == "":
				want, said = Warning, Warning
			case calm && said != "":
				want, said = Recovered, ""
			}
			if want == "" && len(alerts) != 0 || want != "" && (len(alerts) != 1 || alerts[0].Level != want) {
				t.Fatalf("after %v: %v, want %q", seen, alerts, want)
			}
		}
	})
}
