package determinism

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/python"
)

// bench is a pretended function: what it returns may depend on everything that a real one's result may.
type bench struct {
	f        func(seen circumstance) string
	opened   int
	closed   int
	sessions [][]int64
	runs     int
}

type circumstance struct {
	settings harness.Settings
	shard    int64
	place    int // in the session
	run      int // of all
}

type benchSession struct {
	b        *bench
	settings harness.Settings
	at       int
}

func (b *bench) open(_ context.Context, s harness.Settings) (Session, error) {
	b.opened++
	b.sessions = append(b.sessions, nil)
	return &benchSession{b, s, b.opened - 1}, nil
}

func (s *benchSession) Close() error { s.b.closed++; return nil }

func (s *benchSession) Run(_ context.Context, shard int64, _ []byte) (harness.Result, error) {
	s.b.runs++
	place := len(s.b.sessions[s.at])
	s.b.sessions[s.at] = append(s.b.sessions[s.at], shard)
	return ok(s.b.f(circumstance{s.settings, shard, place, s.b.runs})), nil
}

func ok(output string) harness.Result {
	sum := sha256.Sum256([]byte(output))
	return harness.Result{Status: harness.StatusOK, Output: output, OutputDigest: hex.EncodeToString(sum[:]), OutputBytes: int64(len(output)), WallMicros: 1000}
}

func samples(n int) (all []Sample) {
	for i := range n {
		all = append(all, Sample{Shard: int64(10 * i), Input: fmt.Append(nil, i)})
	}
	return all
}

func TestCausesAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		f    func(circumstance) string
		want []Cause
	}{
		"same everywhere": {func(s circumstance) string { return fmt.Sprint(s.shard) }, nil},
		"random":          {func(s circumstance) string { return fmt.Sprint(s.run) }, []Cause{CauseUnstable}},
		"hash seed":       {func(s circumstance) string { return fmt.Sprint(s.settings.HashSeed) }, []Cause{CauseHashSeed}},
		"time zone":       {func(s circumstance) string { return fmt.Sprintf("%q", s.settings.TimeZone) }, []Cause{CauseTimeZone}},
		"place":           {func(s circumstance) string { return fmt.Sprint(s.place) }, []Cause{CauseNeighbours}},
		"seed and zone": {
			func(s circumstance) string { return fmt.Sprintf("[%d,%q]", s.settings.HashSeed, s.settings.TimeZone) },
			[]Cause{CauseHashSeed, CauseTimeZone},
		},
		"only together": {func(s circumstance) string { return fmt.Sprint(s.settings.HashSeed > 0 && s.settings.TimeZone != "") }, []Cause{CauseTogether}},
	} {
		b := &bench{f: c.f}
		var last, most int
		report, err := Check{Open: b.open, Samples: samples(7), Progress: func(done, total int) {
			require.Equal(t, last+1, done)
			last, most = done, total
		}}.Run(t.Context())
		require.NoError(t, err, name)
		require.Equal(t, b.opened, b.closed, name)
		require.Equal(t, most, last, name)
		require.Len(t, report.Shards, 7)
		if c.want == nil {
			require.Zero(t, report.Differing, name)
			require.Equal(t, 14, b.runs, "twice")
			continue
		}
		require.Positive(t, report.Differing, name)
		for _, s := range report.Shards {
			if len(s.Differences) > 0 {
				require.Equal(t, c.want, s.Causes, name)
				for _, cause := range s.Causes {
					require.NotEqual(t, string(cause), cause.Explain())
				}
			}
		}
	}
}

func TestBatchesDiffer(t *testing.T) {
	b := &bench{f: func(circumstance) string { return "1" }}
	_, err := Check{Open: b.open, Samples: samples(7)}.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, [][]int64{{0, 10, 20, 30, 40, 50, 60}, {60}, {50, 40}, {30, 20, 10}, {0}}, b.sessions)
}

func TestEveryShardRunsOnceInEachPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 100).Draw(t, "samples")
		for _, c := range []circumstances{{}, everything()} {
			order := slices.Concat(c.batches(n)...)
			slices.Sort(order)
			require.Len(t, slices.Compact(order), n)
		}
	})
}

func TestSamplesAreBounded(t *testing.T) {
	b := &bench{f: func(circumstance) string { return "1" }}
	_, err := Check{Open: b.open, Samples: samples(MaxSamples)}.Run(t.Context())
	require.NoError(t, err)
	for _, n := range []int{0, MaxSamples + 1} {
		_, err := Check{Open: b.open, Samples: samples(n)}.Run(t.Context())
		require.ErrorContains(t, err, "give 1 to 1000")
	}
}

type broken struct{ err error }

func (b broken) Run(context.Context, int64, []byte) (harness.Result, error) {
	return harness.Result{}, b.err
}
func (b broken) Close() error { return nil }

func TestBrokenSandboxIsAnError(t *testing.T) {
	gone := errors.New("no room left")
	for _, open := range []Opener{
		func(context.Context, harness.Settings) (Session, error) { return nil, gone },
		func(context.Context, harness.Settings) (Session, error) { return broken{gone}, nil },
	} {
		_, err := Check{Open: open, Samples: samples(1)}.Run(t.Context())
		require.ErrorIs(t, err, gone)
	}
}

func TestDifferencesAreReadable(t *testing.T) {
	failed := func(status harness.Status, kind, message string) harness.Result {
		return harness.Result{Status: status, Exception: &harness.Exception{Type: kind, Message: message, Traceback: "differs, which matters to nobody"}}
	}
	files := func(f ...harness.File) harness.Result { r := ok("1"); r.Files = f; return r }
	long := strings.Repeat("é", MaxShownBytes)
	for name, c := range map[string]struct {
		a, b  harness.Result
		want  []string
		order bool
	}{
		"nothing":      {a: ok(`{"a":1}`), b: ok(`{"a":1}`)},
		"a member":     {a: ok(`{"a":1,"b":[2]}`), b: ok(`{"a":1,"b":[3]}`), want: []string{"output $.b[0]: 2 | 3"}},
		"a new member": {a: ok(`{}`), b: ok(`{"a":"x"}`), want: []string{`output $.a: (nothing) | "x"`}},
		"a lost one":   {a: ok(`[1,2]`), b: ok(`[1]`), want: []string{"output $[1]: 2 | (nothing)"}},
		"another kind": {a: ok(`{"a":1}`), b: ok(`[1]`), want: []string{`output $: {"a":1} | [1]`}},
		"large integers": {
			a: ok(`18446744073709551617`), b: ok(`18446744073709551618`),
			want: []string{"output $: 18446744073709551617 | 18446744073709551618"},
		},
		"floats":    {a: ok(`1.0`), b: ok(`1`), want: []string{"output $: 1.0 | 1"}},
		"order":     {a: ok(`{"a":["x","y"]}`), b: ok(`{"a":["y","x"]}`), want: []string{`output $.a[0]: "x" | "y"`, `output $.a[1]: "y" | "x"`}, order: true},
		"html":      {a: ok(`"<a>"`), b: ok(`"<b>"`), want: []string{`output $: "<a>" | "<b>"`}},
		"long":      {a: ok(`"` + long + `a"`), b: ok(`"` + long + `b"`), want: []string{fmt.Sprintf("output $: %[1]s | %[1]s", `"`+strings.Repeat("é", 59)+"… (243 bytes)")}},
		"status":    {a: ok("1"), b: failed(harness.StatusTimeout, "LimitExceeded", "too long"), want: []string{"status : ok | timeout: LimitExceeded: too long"}},
		"exception": {a: failed(harness.StatusError, "KeyError", "'a'"), b: failed(harness.StatusError, "KeyError", "'b'"), want: []string{"exception : error: KeyError: 'a' | error: KeyError: 'b'"}},
		"artifacts": {
			a:    files(harness.File{Path: "same", Size: 1, Digest: "00"}, harness.File{Path: "x", Size: 1, Digest: "0123456789abcdef"}),
			b:    files(harness.File{Path: "same", Size: 1, Digest: "00"}, harness.File{Path: "y", Size: 1, Digest: "0123456789abcdef"}),
			want: []string{"artifact x: 1 bytes, SHA-256 0123456789ab… | (nothing)", "artifact y: (nothing) | 1 bytes, SHA-256 0123456789ab…"},
		},
	} {
		var got []string
		for _, d := range compare(c.a, c.b) {
			got = append(got, fmt.Sprintf("%s %s: %s | %s", d.What, d.Path, d.First, d.Second))
		}
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.order, sameButForOrder(c.a, c.b), name)
	}
	many := func(x string) harness.Result { return ok("[" + strings.Repeat(x+",", 50) + x + "]") }
	require.Len(t, compare(many("1"), many("2")), MaxDifferences)
}

func TestValuesThatLookLikeSomething(t *testing.T) {
	now := time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC)
	for values, want := range map[[2]string]string{
		{`"<A object at 0x7fa619718590>"`, `"<A object at 0x7f94bc9a4590>"`}:                 "a memory address",
		{"139817428058176", "140118062661696"}:                                               "a memory address",
		{"1795273713.58", "1795273715.14"}:                                                   "the time",
		{"1795273713580", "1795273715140"}:                                                   "the time",
		{"1795273713580000000", "1795273715140000000"}:                                       "the time",
		{`"2026-11-21T15:00:01"`, `"2026-11-21T15:00:02"`}:                                   "the date and time",
		{`"2b1f0f0e-0000-4000-8000-000000000000"`, `"3b1f0f0e-0000-4000-8000-000000000000"`}: "a UUID",
		{`"/tmp/ostraka-check-1/x"`, `"/tmp/ostraka-check-2/x"`}:                             "a path",
		{"1", "2"}: "", {`"a"`, `"b"`}: "", {`"2001-01-01"`, `"2001-01-02"`}: "", {"1795273713.58", `"x"`}: "",
	} {
		got := looksLike(Difference{First: values[0], Second: values[1]}, now)
		if want == "" {
			require.Empty(t, got, values)
			continue
		}
		require.Contains(t, got, want, values)
	}
}

func TestUsedIsTheMost(t *testing.T) {
	var u Used
	a, b := ok("1234"), ok("1")
	a.CPUMicros, b.PeakRSSBytes = 5, 6
	b.Files = []harness.File{{Size: 3}, {Size: 4}}
	u.add(a)
	u.add(b)
	require.Equal(t, Used{WallMicros: 1000, CPUMicros: 5, PeakRSSBytes: 6, OutputBytes: 4, ArtifactBytes: 7, Artifacts: 2}, u)
}

const suspicious = `
import os, random, time as t
from datetime import datetime
from concurrent.futures import ThreadPoolExecutor
names = {"a", "b"}
def handler(x):
    global names
    a = t.time(), datetime.now(), os.urandom(1), hash("a"), id(x)
    b = list(names), ",".join({"x"}), sorted(names), len(names), os.listdir("."), sorted(os.listdir("."))
    for n in set(b):
        pass
    random.seed()
    return random.random(), random.Random(1).random(), [y for y in names], open("f").time()
`

func TestScan(t *testing.T) {
	tree, err := python.Open(t.Context(), python.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, tree.Release()) }()
	suspects, err := Scan(t.Context(), tree.Interpreter, map[string]string{"main.py": suspicious, "bad.py": "def (", "empty.py": "", "nul.py": "\x00"})
	require.NoError(t, err)
	var got []string
	for _, s := range suspects {
		got = append(got, fmt.Sprintf("%s:%d %s", s.Path, s.Line, s.Kind))
		require.NotEqual(t, s.Kind, s.Explain())
	}
	require.Equal(t, []string{
		"bad.py:1 syntax",
		"main.py:7 state", "main.py:8 clock", "main.py:8 clock", "main.py:8 random", "main.py:8 hash", "main.py:8 machine",
		"main.py:9 set_order", "main.py:9 set_order", "main.py:9 listing",
		"main.py:10 set_order", "main.py:12 random", "main.py:13 set_order",
		"nul.py:0 syntax",
	}, got)
	require.Equal(t, "for n in set(b):", Behind(CauseHashSeed, suspects)[2].Code)
	many, err := Scan(t.Context(), tree.Interpreter, map[string]string{"m.py": strings.Repeat("hash(1)\n", MaxSuspects+1)})
	require.NoError(t, err)
	require.Len(t, many, MaxSuspects)
}
