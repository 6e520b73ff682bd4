package guardian_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/builtin"
	"github.com/ostraka/ostraka/wasm/runner"
)

func TestMain(m *testing.M) {
	runner.MaybeRun()
	m.Run()
}

// defaultCases are, for each built-in rule, functions that trip it and near misses that do not.
var defaultCases = []struct {
	rule          string
	trips, misses []string
}{
	{
		"no-shutdown",
		[]string{
			"import os\ndef handler(x):\n    os.system('shutdown -h now')\n",
			"import subprocess\nOFF = ['/sbin/reboot']\ndef handler(x):\n    subprocess.run(OFF)\n",
			"from subprocess import call as go\ndef handler(x):\n    go('sync; systemctl poweroff', shell=True)\n",
		},
		[]string{"import os\ndef handler(x):\n    os.system('echo shutdown')\n", "def shutdown():\n    return 'reboot'\ndef handler(x):\n    return shutdown()\n"},
	},
	{
		"no-format",
		[]string{"import os\ndef handler(x):\n    os.system('mkfs.ext4 /dev/sda1')\n", "import subprocess\ndef handler(x):\n    subprocess.run(['dd', 'if=/dev/zero', 'of=/dev/sda'])\n"},
		[]string{"def handler(x):\n    return 'mkfs {}'.format(x)\n", "import subprocess\ndef handler(x):\n    subprocess.run(['dd', 'if=a', 'of=b'])\n"},
	},
	{
		"no-wipe",
		[]string{"import os\ndef handler(x):\n    os.system('rm -rf /')\n", "import shutil\ndef handler(x):\n    shutil.rmtree('/')\n", "import os\nos.execvp('rm', ['rm', '-r', '-f', '/*'])\n"},
		[]string{"import os\ndef handler(x):\n    os.system('rm -rf /tmp/work')\n", "import shutil\ndef handler(x):\n    shutil.rmtree('./out')\n", "import os\ndef handler(x):\n    os.system('ls /')\n"},
	},
	{
		"no-privilege",
		[]string{"import os\ndef handler(x):\n    os.system('sudo ls')\n", "import subprocess\ndef handler(x):\n    subprocess.run(['su', '-c', 'id'])\n"},
		[]string{"import subprocess\ndef handler(x):\n    subprocess.run(['sudoku', 'solve'])\n", "def handler(x):\n    return {'su': 1, 'sudo': 2}\n"},
	},
	{
		"no-install",
		[]string{"import subprocess, sys\ndef handler(x):\n    subprocess.check_call([sys.executable, '-m', 'pip', 'install', 'requests'])\n", "import os\nos.system('apt-get -y install gcc')\n", "import pip\n"},
		[]string{"import subprocess\ndef handler(x):\n    subprocess.run(['pip', 'list'])\n", "def install(pip):\n    return pip\n"},
	},
	{
		"ask-scanner",
		[]string{"import subprocess\ndef handler(x):\n    subprocess.run(['nmap', '10.0.0.0/8'])\n", "from scapy.all import sniff\n"},
		[]string{"nmap = {}\ndef handler(x):\n    return nmap.get(x)\n"},
	},
	{
		"ask-privileged",
		[]string{"import os\ndef handler(x):\n    os.system('mount /dev/sda1 /mnt')\n", "import subprocess\ndef handler(x):\n    subprocess.run(['docker', 'ps'])\n"},
		[]string{"def handler(x):\n    mount = x\n    return mount\n", "import subprocess\ndef handler(x):\n    subprocess.run(['ls', 'docker'])\n"},
	},
	{"risk-of-mining", []string{"url = 'stratum+tcp://pool.example:3333'\n"}, []string{"def handler(x):\n    return 'data mining'\n"}},
	{"risk-of-hidden-code", []string{"import os\ngetattr(os, 'sys' 'tem')('ls')\n"}, []string{"def handler(x):\n    return getattr(x, 'name')\n"}},
	{"risk-of-escape", []string{"().__class__.__bases__[0].__subclasses__()\n"}, []string{"class A:\n    def __init__(self):\n        pass\n"}},
}

// read has the real module read sources, each as a function of one file.
func read(t *testing.T, sources []string) [][]guardian.Finding {
	t.Helper()
	module, found := builtin.Find(wasm.KindHeuristic, guardian.CodeModule)
	require.True(t, found)
	pool, err := wasm.NewPool(wasm.Options{CacheDir: filepath.Join(t.TempDir(), "modules")})
	require.NoError(t, err)
	defer pool.Close()
	var things []wasm.Evidence
	for i, s := range sources {
		things = append(things, wasm.Evidence{ID: fmt.Sprint(i), Subject: wasm.SubjectCode, Name: "main.py", Text: s})
	}
	scores, _, err := wasm.Heuristics{Use: wasm.Use{Pool: pool, Project: "p", Job: "j", Module: module}}.Score(t.Context(), wasm.Each(things))
	require.NoError(t, err)
	list := make([][]guardian.Finding, len(scores))
	for i, s := range scores {
		var places []guardian.Finding
		for _, p := range s.Places {
			places = append(places, guardian.Finding{Line: p.Line, Rule: p.Label, Weight: p.Weight, What: p.What, Text: p.Text})
		}
		list[i] = guardian.OfFile(guardian.CodeModule, "main.py", s.Labels, places)
	}
	return list
}

func TestDefaults(t *testing.T) {
	compiled, err := guardian.CompiledDefaults()
	require.NoError(t, err)
	p, err := guardian.NewPolicy(compiled...)
	require.NoError(t, err)
	byName := map[string]guardian.Rule{}
	for _, r := range guardian.Defaults() {
		byName[r.Name] = r
	}
	var sources []string
	for _, c := range defaultCases {
		sources = append(append(sources, c.trips...), c.misses...)
	}
	findings := read(t, sources)
	applies := func(name string, found []guardian.Finding, scored bool) (guardian.Decision, bool) {
		o := submit()
		o.Facts = guardian.JobFacts{Findings: found, Scored: scored}
		d := p.Decide(t.Context(), o, guardian.Circumstances{Now: noon})
		for _, a := range d.Applied {
			if a.Name == name {
				return d, true
			}
		}
		return d, false
	}
	at := 0
	for _, c := range defaultCases {
		for i := range len(c.trips) + len(c.misses) {
			d, does := applies(c.rule, findings[at], true)
			require.Equal(t, i < len(c.trips), does, "%s on %q: %+v", c.rule, sources[at], findings[at])
			if does {
				require.Equal(t, byName[c.rule].Then, d.Verdict, "%s on %q: %+v", c.rule, sources[at], d)
				require.Equal(t, byName[c.rule].Risk, d.Risk)
			} else {
				require.Equal(t, guardian.Allow, d.Verdict, "%s on %q: %+v", c.rule, sources[at], d)
			}
			at++
		}
		delete(byName, c.rule)
	}
	d, does := writesVolume(t, p, "rw")
	require.True(t, does)
	require.Equal(t, guardian.Ask, d.Verdict)
	d, does = writesVolume(t, p, "ro")
	require.False(t, does)
	require.Equal(t, guardian.Allow, d.Verdict)
	delete(byName, "ask-write-volume")
	_, does = applies("risk-of-unread-code", nil, false)
	require.True(t, does)
	_, does = applies("risk-of-unread-code", []guardian.Finding{{Rule: "unread"}}, true)
	require.True(t, does)
	_, does = applies("risk-of-unread-code", nil, true)
	require.False(t, does)
	delete(byName, "risk-of-unread-code")
	for runtime, trips := range map[string]bool{"": false, "numpy@sha256:00": true} {
		o := submit()
		o.Facts = guardian.JobFacts{Function: guardian.Function{Runtime: runtime}, Scored: true}
		d := p.Decide(t.Context(), o, guardian.Circumstances{Now: noon})
		require.Equal(t, trips, slices.ContainsFunc(d.Applied, func(a guardian.Applied) bool { return a.Name == "risk-of-native-code" }), runtime)
		require.Equal(t, guardian.Allow, d.Verdict)
	}
	delete(byName, "risk-of-native-code")
	for known, verdict := range map[bool]guardian.Verdict{false: guardian.Ask, true: guardian.Allow} {
		facts := guardian.RuntimeFacts{Runtime: guardian.Runtime{Name: "numpy", PublisherKnown: known}}
		d := p.Decide(t.Context(), guardian.Operation{Kind: guardian.RuntimePublish, Facts: facts}, guardian.Circumstances{Now: noon})
		require.Equal(t, verdict, d.Verdict)
		require.Equal(t, !known, slices.ContainsFunc(d.Applied, func(a guardian.Applied) bool { return a.Name == "ask-native-code" }))
	}
	delete(byName, "ask-native-code")
	require.Empty(t, byName, "every default rule has a function that trips it")
}

// writesVolume decides about a function that wants two volumes, one of them in a mode, before it is published.
func writesVolume(t *testing.T, p *guardian.Policy, mode string) (d guardian.Decision, asks bool) {
	t.Helper()
	code := guardian.Function{Volumes: []guardian.Volume{{Name: "genome", Mode: "ro"}, {Name: "scratch", Mode: mode}}}
	d = p.Decide(t.Context(), guardian.Operation{Kind: guardian.FunctionPublish, Facts: guardian.FunctionFacts{Function: code, Scored: true}}, guardian.Circumstances{Now: noon})
	return d, slices.ContainsFunc(d.Applied, func(a guardian.Applied) bool { return a.Name == "ask-write-volume" })
}
