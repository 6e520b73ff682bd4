package bundle

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const full = `
name = "bpsw"
description = "Counts what passes."
entrypoint = "pkg.main:run"
runtime = "python3"
network = "none"
min_isolation = "linux"
[limits]
cpu_seconds = 10
wall_seconds = 20
memory_bytes = "512Mi"
output_bytes = 1000
stdout_bytes = "1Ki"
stderr_bytes = 0
disk_bytes = "1Gi"
inodes = 50
files = 7
artifact_bytes = "1Mi"
pids = 1
open_files = 64
[verification]
quorum = 3
max_attempts = 9
[verification.validator]
module = "tolerant"
params = { relative = 1e-9 }
[aggregator]
module = "merge"
[aggregator.params]
fields = { passed = "sum", sample = { op = "concat", limit = 64 } }
`

func TestFullManifest(t *testing.T) {
	m, err := ParseManifest([]byte(full))
	require.NoError(t, err)
	want := Manifest{
		Name: "bpsw", Description: "Counts what passes.", Entrypoint: "pkg.main:run", Runtime: "python3",
		Network: "none", MinIsolation: Linux,
		Limits: Limits{
			CPUSeconds: 10, WallSeconds: 20, MemoryBytes: 512 << 20, OutputBytes: 1000,
			StdoutBytes: 1024, StderrBytes: 0, DiskBytes: 1 << 30,
			Inodes: 50, Files: 7, ArtifactBytes: 1 << 20, Pids: 1, OpenFiles: 64,
		},
		Verification: Verification{Quorum: 3, MaxAttempts: 9, Validator: &Validator{Module: "tolerant", Params: json.RawMessage(`{"relative":1e-9}`)}},
		Aggregator: &Aggregator{
			Module: "merge",
			Params: json.RawMessage(`{"fields":{"passed":"sum","sample":{"limit":64,"op":"concat"}}}`),
		},
	}
	require.Equal(t, want, m)
	require.Equal(t, "pkg.main", m.Module())
	require.Equal(t, "run", m.Callable())
	require.Equal(t, []string{"pkg/main.py", "pkg/main/__init__.py"}, m.EntryFiles())
}

func TestManifestDefaults(t *testing.T) {
	m, err := ParseManifest([]byte(minimal))
	require.NoError(t, err)
	require.Equal(t, Manifest{
		Name: "f", Entrypoint: DefaultEntrypoint, Runtime: RuntimePython3, Network: NetworkNone,
		MinIsolation: Process, Limits: DefaultLimits(), Verification: Verification{TargetError: 1e-3, AssumeHostile: 0.1},
	}, m)
	m, err = ParseManifest([]byte(minimal + "script = \"run.py\"\n[verification]\nnone = true"))
	require.NoError(t, err)
	require.Empty(t, m.Entrypoint)
	require.Equal(t, []string{"run.py"}, m.EntryFiles())
	require.Equal(t, Verification{None: true}, m.Verification)
	m, err = ParseManifest([]byte(minimal + "[verification]\ntarget_error = 1e-6\nassume_hostile = 0.49"))
	require.NoError(t, err)
	require.Equal(t, Verification{TargetError: 1e-6, AssumeHostile: 0.49}, m.Verification)
	for text, want := range map[string]Verification{
		"":                     {TargetError: DefaultTargetError, AssumeHostile: DefaultAssumeHostile},
		"max_attempts = 3":     {TargetError: DefaultTargetError, AssumeHostile: DefaultAssumeHostile, MaxAttempts: 3},
		"assume_hostile = 0.2": {TargetError: DefaultTargetError, AssumeHostile: 0.2},
		"target_error = 0.01":  {TargetError: 0.01, AssumeHostile: DefaultAssumeHostile},
	} {
		m, err = ParseManifest([]byte(minimal + "[verification]\n" + text))
		require.NoError(t, err, text)
		require.Equal(t, want, m.Verification, text)
	}
	m, err = ParseManifest([]byte(minimal + "[verification]\nrecheck = \"all\"\nmax_attempts = 3"))
	require.NoError(t, err)
	require.Equal(t, Verification{Recheck: RecheckAll, MaxAttempts: 3}, m.Verification)
}

func TestManifestRefuses(t *testing.T) {
	tests := []struct{ name, toml, want string }{
		{"empty", "", "name is missing"},
		{"not toml", "name = ", "line 1"},
		{"name", `name = "Foo"`, "lower-case letter"},
		{"name too long", `name = "` + strings.Repeat("a", 64) + `"`, "lower-case letter"},
		{"name of another type", "name = 3", "line 1"},
		{"unknown field", minimal + "nework = \"none\"", "unknown field nework (line 2)"},
		{"unknown limit", minimal + "[limits]\ncpu = 1", "unknown field limits.cpu"},
		{"description", minimal + `description = "` + strings.Repeat("x", MaxDescriptionBytes+1) + `"`, "description has 1001 bytes"},
		{"entrypoint", minimal + `entrypoint = "main"`, "module:callable"},
		{"entrypoint path", minimal + `entrypoint = "../x:f"`, "module:callable"},
		{"both", minimal + "entrypoint = \"main:f\"\nscript = \"a.py\"", "exclude one another"},
		{"script outside", minimal + `script = "../a.py"`, "leaves the bundle"},
		{"script empty", minimal + `script = ""`, "script is empty"},
		{"script of another kind", minimal + `script = "a.sh"`, ".py file"},
		{"runtime", minimal + `runtime = "node"`, "which tree of that name? `ostraka runtime show node` prints the line"},
		{"runtime that is none", minimal + `runtime = "numpy@sha256:12"`, "one with packages as NAME@sha256:DIGEST"},
		{"network", minimal + `network = "all"`, "no network"},
		{"isolation", minimal + `min_isolation = "strong"`, "gvisor, container, wasm, linux"},
		{"limit not a number", minimal + "[limits]\nfiles = true", "limits.files = true"},
		{"limit no size", minimal + "[limits]\nmemory_bytes = \"lots\"", "256Mi"},
		{"limit as float", minimal + "[limits]\ncpu_seconds = 1.5", "whole number"},
		{"seconds as size", minimal + "[limits]\ncpu_seconds = \"1Ki\"", "whole number"},
		{"quorum zero", minimal + "[verification]\nquorum = 0", "1 to 16"},
		{"quorum past", minimal + "[verification]\nquorum = 17", "1 to 16"},
		{"none and quorum", minimal + "[verification]\nquorum = 1\nnone = true", "exactly one"},
		{"target and quorum", minimal + "[verification]\nquorum = 2\ntarget_error = 0.01", "exactly one"},
		{"target and recheck", minimal + "[verification]\nrecheck = \"all\"\ntarget_error = 0.01", "exactly one"},
		{"target zero", minimal + "[verification]\ntarget_error = 0.0", "exactly one"},
		{"target below", minimal + "[verification]\ntarget_error = 0.0000009", "1e-06 to 0.5"},
		{"target past", minimal + "[verification]\ntarget_error = 0.51", "1e-06 to 0.5"},
		{"target no number", minimal + "[verification]\ntarget_error = nan", "1e-06 to 0.5"},
		{"hostile below", minimal + "[verification]\ntarget_error = 0.01\nassume_hostile = 0.0009", "0.001 to 0.49"},
		{"hostile past", minimal + "[verification]\ntarget_error = 0.01\nassume_hostile = 0.5", "0.001 to 0.49"},
		{"hostile with a quorum", minimal + "[verification]\nquorum = 2\nassume_hostile = 0.2", "part of a target_error"},
		{"recheck some", minimal + "[verification]\nrecheck = \"some\"", "leave it out"},
		{"attempts below quorum", minimal + "[verification]\nquorum = 4\nmax_attempts = 3", "never be met"},
		{"attempts past", minimal + "[verification]\nmax_attempts = 33", "at most 32"},
		{"validator without module", minimal + "[verification.validator]\n", "verification.validator.module"},
		{"validator's params", minimal + "[verification.validator]\nmodule = \"tolerant\"\n[verification.validator.params]\nx = inf", "verification.validator.params"},
		{"aggregator without module", minimal + "[aggregator]\n", "name a module"},
		{"heuristic without rules", minimal + "[heuristics.anomaly]\n", "heuristics.anomaly has no rules"},
		{"heuristic without a name", minimal + "[heuristics.\"An omaly\"]\nrules = [{ at = 0.5, do = \"flag\" }]\n", "name a module"},
		{"rule with a typo", minimal + "[heuristics.anomaly]\nrules = [{ at = 0.5, does = \"flag\" }]\n", "unknown field"},
		{"params not finite", minimal + "[aggregator]\nmodule = \"merge\"\n[aggregator.params]\nx = nan", "aggregator.params"},
		{"params with NUL", minimal + "[aggregator]\nmodule = \"merge\"\n[aggregator.params]\nx = \"\\u0000\"", "nul"},
		{"too large", minimal + "#" + strings.Repeat("x", MaxManifestBytes), "at most 65536"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := ParseManifest([]byte(test.toml))
			require.ErrorContains(t, err, test.want)
			require.ErrorContains(t, err, ManifestName)
		})
	}
}

func TestEveryLimitAtItsBoundsAndPast(t *testing.T) {
	least, most := MinLimits(), MaxLimits()
	for _, f := range limitFields {
		if !f.isFor(RuntimePython3) {
			continue
		}
		for _, c := range []struct {
			n  int64
			ok bool
		}{
			{*f.of(&least), true}, {*f.of(&least) - 1, false}, {*f.of(&most), true}, {*f.of(&most) + 1, false},
		} {
			l := DefaultLimits()
			*f.of(&l) = c.n
			if err := l.check(RuntimePython3); c.ok {
				require.NoError(t, err, f.name)
			} else {
				require.ErrorContains(t, err, "limits."+f.name)
			}
		}
	}
}

func TestParseBytes(t *testing.T) {
	for s, want := range map[string]int64{"0": 0, "17": 17, "1Ki": 1024, "256Mi": 256 << 20, "2Gi": 2 << 30, "3k": 3000, "1M": 1000000} {
		got, err := ParseBytes(s)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, s := range []string{"", "-1", "1.5Mi", "Mi", "1 Mi", "1Ti", "99999999999999999999", "9999999999999Gi"} {
		_, err := ParseBytes(s)
		require.Error(t, err, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 1<<50).Draw(t, "n")
		got, err := ParseBytes(FormatBytes(n))
		require.NoError(t, err)
		require.Equal(t, n, got)
	})
}

func TestIsolationOrder(t *testing.T) {
	require.True(t, GVisor.AtLeast(Process))
	require.True(t, Process.AtLeast(Process))
	require.False(t, Process.AtLeast(Landlock))
	require.False(t, Isolation("magic").AtLeast(Process))
	require.False(t, GVisor.AtLeast("magic"))
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(minimal))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseManifest(b)
		if err != nil {
			return
		}
		require.NoError(t, m.check())
		doc, err := json.Marshal(m)
		require.NoError(t, err)
		var back Manifest
		require.NoError(t, json.Unmarshal(doc, &back))
	})
}

func TestHeuristicsOfAManifest(t *testing.T) {
	m, err := ParseManifest([]byte(minimal + `
[heuristics.mine]
rules = [{ at = 0.5, do = "flag" }, { at = 0.9, do = "review" }]
[heuristics.anomaly]
params = { threshold = 6, fields = ["n"] }
rules = [{ at = 0, do = "recheck" }]
`))
	require.NoError(t, err)
	require.Equal(t, []ResultHeuristic{
		{Module: "anomaly", Params: json.RawMessage(`{"fields":["n"],"threshold":6}`), Rules: []ResultRule{{At: 0, Do: "recheck"}}},
		{Module: "mine", Rules: []ResultRule{{At: 0.5, Do: "flag"}, {At: 0.9, Do: "review"}}},
	}, m.Heuristics, "in the order of their names")
}

func TestWarmIsBounded(t *testing.T) {
	for text, wrong := range map[string]bool{"0": false, "1": false, "16": false, "17": true, "-1": true} {
		m, err := ParseManifest([]byte("name = \"f\"\nwarm = " + text + "\n"))
		if wrong {
			require.ErrorContains(t, err, "warm = "+text+": an agent keeps 0 to 16 sandboxes of a function")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, text, strconv.Itoa(m.Warm))
	}
}
