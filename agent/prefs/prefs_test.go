package prefs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ostraka/ostraka/runtime/bundle"
)

const project = "0192d4a5-8f5e-7c3a-9b1e-2f6d3c4b5a60"

const everything = `# what my machine may do
sandboxes = 3
cores = 2 # of eight
memory = "2Gi"
disk = 1073741824
inputs = "256Mi"
keep_free = "1Gi"
min_isolation = "landlock"
function_memory = "512Mi"
function_disk = "64Mi"
function_wall = 600
function_cpu = 300
function_pids = 8
bundle = "1Mi"
network = "none"
projects = ["` + project + `"]
projects_denied = [
    "0192d4a5-8f5e-7c3a-9b1e-2f6d3c4b5a61", # not these
]
functions_denied = ["miner"]
allow_unsigned = true
wasm_denied = true
runtimes_denied = true
days = ["sat", "sun"]
hours = ["22:00-06:00", "12:00-13:00"]
time_zone = "Europe/Athens"
on_battery = true
battery_above = 50
busy_above = 60
`

func TestEveryPreferenceIsRead(t *testing.T) {
	p, err := Parse([]byte(everything))
	require.NoError(t, err)
	athens, err := time.LoadLocation("Europe/Athens")
	require.NoError(t, err)
	require.Equal(t, Preferences{
		Sandboxes: 3, Cores: 2, MemoryBytes: 2 << 30, DiskBytes: 1 << 30, InputsBytes: 256 << 20, KeepFreeBytes: 1 << 30,
		Function:        Function{MemoryBytes: 512 << 20, DiskBytes: 64 << 20, WallSeconds: 600, CPUSeconds: 300, Pids: 8, BundleBytes: 1 << 20, MinIsolation: bundle.Landlock},
		Projects:        []uuid.UUID{uuid.MustParse(project)},
		ProjectsDenied:  []uuid.UUID{uuid.MustParse("0192d4a5-8f5e-7c3a-9b1e-2f6d3c4b5a61")},
		FunctionsDenied: []string{"miner"},
		AllowUnsigned:   true,
		WasmDenied:      true,
		RuntimesDenied:  true,
		Schedule:        Schedule{Days: []time.Weekday{time.Saturday, time.Sunday}, Hours: []Interval{{22 * 60, 6 * 60}, {12 * 60, 13 * 60}}, Zone: athens},
		OnBattery:       true, BatteryAbove: 50, BusyAbove: 60, BusyBelow: 40,
	}, p)
	require.Len(t, Keys(), strings.Count(everything, " = ")+5, "the sample says everything but busy_below, which follows from busy_above, and the tables of the guardian and of volumes")
	p, err = Parse(nil)
	require.NoError(t, err)
	require.Equal(t, Default(), p)
}

func TestMistakesAreNamedWithTheirLine(t *testing.T) {
	for content, want := range map[string]string{
		"\nsandboxs = 2\n":                            "line 2: sandboxs: there is no such preference",
		"sandboxes = 2\nsandboxes = 3\n":              "key sandboxes is already defined: remove",
		"sandboxes = \"2\"\n":                         "line 1: sandboxes: write a whole number from 1 to 256, without quotes",
		"sandboxes = 257\n":                           "from 1 to 256",
		"sandboxes = 2.5\n":                           "whole number",
		"# a\n\ncores = 0\n":                          "line 3: cores",
		"memory = \"much\"\n":                         `line 1: memory: write a size such as "512Mi" or "2Gi"`,
		"memory = 1\n":                                "too few",
		"memory = -1\n":                               "too few",
		"min_isolation = \"strong\"\n":                "no isolation level",
		"network = \"all\"\n":                         "functions have no network here",
		"projects = [\"me\"]\n":                       `"me"`,
		"projects = \"" + project + "\"\n":            "write a list",
		"projects = []\n":                             "or leave the line out",
		"days = [\"mon\", \"mon\"]\n":                 "mon stands in the list twice",
		"days = [\"Monday\"]\n":                       "is no day",
		"hours = [\"22-6\"]\n":                        `write it like "22:00-06:00"`,
		"hours = [\"24:00-06:00\"]\n":                 "from 00:00 to 24:00",
		"hours = [\"10:60-11:00\"]\n":                 "from 00:00 to 24:00",
		"hours = [\"10:00-10:00\"]\n":                 "00:00-24:00",
		"time_zone = \"Atlantis\"\n":                  "no time zone",
		"time_zone = \"\"\n":                          "no time zone",
		"on_battery = \"yes\"\n":                      "true or false",
		"battery_above = 50\n":                        "on_battery = true",
		"busy_below = 50\n":                           "without busy_above",
		"busy_above = 50\nbusy_below = 50\n":          "choose a lower busy_below",
		"memory = \"1Gi\"\nfunction_memory = \"2Gi\"": "function_memory is more than memory",
		"disk = \"1Gi\"\nfunction_disk = \"2Gi\"":     "function_disk is more than disk",
		"[limits]\nmemory = 1\n":                      "line 1: limits: there is no such preference",
		"not toml":                                    "it is not TOML",
		"functions_denied = [\"A\"]\n":                "digest",
		strings.Repeat("# much\n", MaxBytes/7+1):      "more than 65536 bytes",
	} {
		_, err := Parse([]byte(content))
		require.ErrorContains(t, err, want, content)
	}
	_, err := Parse([]byte("cores = 0\nsandboxes = 0\n"))
	require.ErrorContains(t, err, "line 1: cores")
	require.ErrorContains(t, err, "line 2: sandboxes", "all mistakes are named")
}

func TestLook(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	f, err := Look(path)
	require.NoError(t, err, "a file that is not there says nothing")
	require.Equal(t, File{}, f)
	require.True(t, f.Same(File{}))
	require.NoError(t, os.WriteFile(path, []byte("cores = 1\n"), 0o600))
	g, err := Look(path)
	require.NoError(t, err)
	require.True(t, g.There)
	require.Equal(t, "cores = 1\n", string(g.Content))
	require.False(t, f.Same(g))
	h, err := Look(path)
	require.NoError(t, err)
	require.True(t, g.Same(h))
	h.Modified = h.Modified.Add(1)
	require.False(t, g.Same(h), "the same text, written again")
	require.NoError(t, os.WriteFile(path, make([]byte, MaxBytes+1), 0o600))
	f, err = Look(path)
	require.NoError(t, err)
	_, err = Parse(f.Content)
	require.ErrorContains(t, err, "more than 65536 bytes")
	_, err = Look(filepath.Join(path, "below"))
	require.Error(t, err)
}

func TestSetKeepsEverythingElse(t *testing.T) {
	content := []byte(everything)
	for _, c := range []struct{ name, value, line string }{
		{"sandboxes", "4", "sandboxes = 4"},
		{"memory", "3Gi", `memory = "3Gi"`},
		{"projects_denied", "0192d4a5-8f5e-7c3a-9b1e-2f6d3c4b5a62, " + project, `projects_denied = ["0192d4a5-8f5e-7c3a-9b1e-2f6d3c4b5a62", "` + project + `"]`},
		{"days", "mon,tue", `days = ["mon", "tue"]`},
		{"on_battery", "true", "on_battery = true"},
		{"min_isolation", "linux", `min_isolation = "linux"`},
		{"busy_below", "10", "busy_below = 10"},
	} {
		changed, err := Set(content, c.name, c.value)
		require.NoError(t, err, c.name)
		require.Contains(t, string(changed), "\n"+c.line+"\n")
		require.Contains(t, string(changed), "# what my machine may do")
		again, err := Set(changed, c.name, c.value)
		require.NoError(t, err)
		require.Equal(t, string(changed), string(again))
		content = changed
	}
	require.NotContains(t, string(content), "# not these", "the comment stood within the value")
	content, err := Unset(content, "projects_denied")
	require.NoError(t, err)
	require.NotContains(t, string(content), "projects_denied")
	same, err := Unset(content, "projects_denied")
	require.NoError(t, err)
	require.Equal(t, string(content), string(same))

	for name, value := range map[string]string{"sandboxes": "many", "colour": "red", "cores": "0", "memory": "9", "days": "", "on_battery": "perhaps"} {
		_, err := Set([]byte(everything), name, value)
		require.Error(t, err, name)
	}
	_, err = Set([]byte("not toml"), "cores", "1")
	require.ErrorContains(t, err, "not TOML")
	made, err := Set(nil, "cores", "1")
	require.NoError(t, err)
	require.Equal(t, "cores = 1\n", string(made))
	empty, err := Unset(made, "cores")
	require.NoError(t, err)
	require.Empty(t, empty)
}

func TestDescribeShowsWhatSetWrites(t *testing.T) {
	lines, err := Describe([]byte(everything))
	require.NoError(t, err)
	values := map[string]string{}
	var again strings.Builder
	for _, l := range lines {
		values[l.Key.Name] = l.Value
		require.NotEmpty(t, l.Key.About)
		if l.Value != "" {
			again.WriteString(l.Key.Name + " = " + l.Value + "\n")
		}
	}
	require.Equal(t, `["22:00-06:00", "12:00-13:00"]`, values["hours"])
	first, err := Parse([]byte(everything))
	require.NoError(t, err)
	second, err := Parse([]byte(again.String()))
	require.NoError(t, err)
	require.Equal(t, first, second, "what is shown can be written")
}

func TestPartners(t *testing.T) {
	a, b := uuid.New(), uuid.New()
	p := Default()
	require.True(t, p.AllowsProject(a))
	p.Projects = []uuid.UUID{a}
	require.True(t, p.AllowsProject(a))
	require.False(t, p.AllowsProject(b))
	p.ProjectsDenied = []uuid.UUID{a}
	require.False(t, p.AllowsProject(a))
	p.FunctionsDenied = []string{"miner", strings.Repeat("a", 64)}
	require.False(t, p.AllowsFunction("miner", ""))
	require.False(t, p.AllowsFunction("other", strings.Repeat("a", 64)))
	require.True(t, p.AllowsFunction("other", strings.Repeat("b", 64)))
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte("[a]\nsandboxes=1"))
	f.Add([]byte("hours = [\"00:00-24:00\"]"))
	f.Fuzz(func(t *testing.T, content []byte) {
		p, err := Parse(content)
		if err != nil {
			return
		}
		if p.Sandboxes < 0 || p.Sandboxes > MaxSandboxes || p.MemoryBytes < 0 || p.BusyAbove < 0 || p.BusyAbove > 99 {
			t.Fatalf("%+v", p)
		}
		if changed, err := Set(content, "cores", "3"); err == nil {
			if again, err := Parse(changed); err != nil || again.Cores != 3 || again.Sandboxes != p.Sandboxes {
				t.Fatalf("%q became %q: %v", content, changed, err)
			}
		}
	})
}

func TestSetIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := []byte(everything)
		for range rapid.IntRange(1, 6).Draw(t, "edits") {
			key := rapid.SampledFrom([]string{"sandboxes", "cores", "function_pids", "function_wall"}).Draw(t, "key")
			value := rapid.SampledFrom([]string{"1", "2", "7"}).Draw(t, "value")
			var err error
			if content, err = Set(content, key, value); err != nil {
				t.Fatal(err)
			}
			lines, err := Describe(content)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range lines {
				if l.Key.Name == key && l.Value != value {
					t.Fatalf("%s is %s", key, l.Value)
				}
			}
		}
	})
}
