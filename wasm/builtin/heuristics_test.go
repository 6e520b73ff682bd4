package builtin_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/builtin"
)

func scoreCode(t *testing.T, sources ...string) []wasm.Score {
	t.Helper()
	module, found := builtin.Find(wasm.KindHeuristic, "code-risk")
	require.True(t, found)
	var things []wasm.Evidence
	for i, s := range sources {
		things = append(things, wasm.Evidence{ID: fmt.Sprint(i), Subject: wasm.SubjectCode, Name: "main.py", Text: s})
	}
	scores, _, err := wasm.Heuristics{Use: wasm.Use{Pool: newPool(t, nil), Project: "p", Job: "j", Module: module}}.Score(t.Context(), wasm.Each(things))
	require.NoError(t, err)
	return scores
}

func TestCodeThatDeservesALook(t *testing.T) {
	noise := make([]byte, 300)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(noise)
	blob := base64.StdEncoding.EncodeToString(noise)
	cases := []struct {
		name, label string
		line        int64
		source      string
	}{
		{"a process", "process", 2, "import os\nos.system('ls')"},
		{"a fork", "process", 1, "import os; os.fork()"},
		{"an alias of a module", "process", 2, "import subprocess as s\ns.run(['ls'])"},
		{"an alias of a function", "process", 2, "from os import system as go\ngo('ls')"},
		{"everything of a module", "process", 2, "from os import *\nsystem('ls')"},
		{"a variable", "process", 2, "import os\nrun = os.system\nrun('ls')"},
		{"by name", "process", 1, "__import__('os').system('ls')"},
		{"by parts of a name", "process", 1, "__import__('o' + 's').system('ls')"},
		{"by escapes", "process", 1, `__import__('\x6f\x73').system('ls')`},
		{"importlib", "process", 2, "import importlib\nimportlib.import_module('subprocess').run('ls')"},
		{"sys.modules", "process", 2, "import sys\nsys.modules['os'].popen('ls')"},
		{"in an f-string", "dynamic", 1, "x = f'{exec(y)}'"},
		{"exec", "dynamic", 1, "exec(code)"},
		{"exec by another name", "dynamic", 1, "e = exec\ne('1')"},
		{"full-width letters", "dynamic", 1, "\uff45\uff56\uff41\uff4c('1')"},
		{"on a continued line", "dynamic", 2, "x = \\\n  eval('1')"},
		{"getattr", "hidden", 2, "import os\ngetattr(os, 'sys' 'tem')('ls')"},
		{"backwards", "hidden", 1, "x = 'metsys'[::-1]"},
		{"climbing out", "escape", 1, "().__class__.__bases__[0].__subclasses__()"},
		{"a socket", "network", 1, "import socket"},
		{"a page", "network", 1, "from urllib.request import urlopen"},
		{"foreign code", "native", 2, "import ctypes\nctypes.CDLL('libc.so.6')"},
		{"secrets", "file", 1, "open('/etc/passwd')"},
		{"a pool", "mining", 1, "url = 'stratum+tcp://pool.example:3333'"},
		{"a blob", "blob", 1, "x = '" + blob + "'"},
		{"shutting down", "shutdown", 2, "import os\nos.system('sync; /sbin/shutdown -h now')"},
		{"by systemd", "shutdown", 2, "import subprocess\nsubprocess.run(['systemctl', 'poweroff'])"},
		{"another user", "privilege", 2, "import subprocess\nsubprocess.check_call('sudo id', shell=True)"},
		{"formatting", "format", 2, "from os import *\nexeclp('mkfs.ext4', 'mkfs.ext4', '/dev/sda1')"},
		{"overwriting a disk", "format", 2, "import os\nos.system('dd if=/dev/zero of=/dev/sda')"},
		{"deleting everything", "wipe", 2, "import os\nos.system('cd /; rm -rf /*')"},
		{"deleting a home", "wipe", 2, "import shutil\nshutil.rmtree('/home')"},
		{"a command in a variable", "wipe", 3, "import subprocess\nCOMMAND = ['rm', '-r', '/']\nsubprocess.Popen(COMMAND)"},
		{"a command behind others", "privilege", 2, "import os\nos.system('ls && env A=1 su root')"},
		{"a scanner", "scanner", 2, "import subprocess\nsubprocess.run(args=['nmap', '-sS', '10.0.0.0/8'])"},
		{"a scanner's module", "scanner", 1, "from scapy.all import sniff"},
		{"a privileged tool", "privileged", 2, "import subprocess\nsubprocess.run(['mount', '/dev/sda1', '/mnt'])"},
		{"installing", "install", 2, "import subprocess, sys\nsubprocess.check_call([sys.executable, '-m', 'pip', 'install', 'requests'])"},
		{"a packed program", "dynamic", 2, "import base64\nexec(base64.b64decode('" + blob + "'))"},
	}
	var sources []string
	for _, c := range cases {
		sources = append(sources, c.source)
	}
	scores := scoreCode(t, sources...)
	for i, s := range scores {
		c := cases[i]
		require.Contains(t, s.Labels, c.label, "%s: %+v", c.name, s)
		require.GreaterOrEqual(t, *s.Score, 0.3, c.name)
		found := false
		for _, p := range s.Places {
			found = found || p.Label == c.label && p.Line == c.line
			require.NotEmpty(t, p.Text, c.name)
		}
		require.True(t, found, "%s: %+v", c.name, s.Places)
	}
	require.Greater(t, *scores[len(cases)-1].Score, 0.6, "two together weigh more")
}

// What a program is said to do is told from what merely has its name.
func TestCommandsThatAreOthers(t *testing.T) {
	for i, s := range scoreCode(t,
		"import os\nos.system('echo sudo shutdown now')",
		"import subprocess\nsubprocess.run(['ls', '-l', '/'])",
		"import subprocess\nsubprocess.run(['rm', '-rf', '/tmp/work'])",
		"import subprocess\nsubprocess.run(['rm', '/'])",
		"import shutil\nshutil.rmtree('/tmp/work/out')",
		"import subprocess\nsubprocess.run(['pip', 'list'])",
		"import subprocess\nsubprocess.run(['id'], env={'sudo': 'reboot'})",
		"def sudo(x):\n    return ['shutdown', 'rm -rf /', 'nmap']\nprint(sudo('mkfs'))",
		"import os\nprint(os.path.join('rm -rf /', 'sudo'))",
		"import subprocess\nsubprocess.run(['dd', 'if=a', 'of=/dev/null'])",
	) {
		for _, label := range []string{"shutdown", "format", "wipe", "privilege", "privileged", "scanner", "install"} {
			require.NotContains(t, s.Labels, label, "%d: %+v", i, s)
		}
	}
}

func TestCodeThatIsFine(t *testing.T) {
	for i, s := range scoreCode(t,
		"def handler(x):\n    # os.system('rm -rf /') and stratum+tcp are only comments\n    return x * 2\n",
		"'''exec(1) and xmrig in a text that is documentation'''\nimport math\n\ndef handler(x):\n    return math.sqrt(x['n'])\n",
		"import re\npattern = re.compile('a+')\n\ndef handler(x):\n    return bool(pattern.match(x))\n",
		"class Model:\n    def eval(self):\n        return 1\n\ndef handler(x):\n    return Model().eval()\n",
		"def handler(x):\n    return f'{x[\"a\"]:>10} {{braces}}'\n",
		"import json, hashlib, itertools\n\ndef handler(x):\n    return hashlib.sha256(json.dumps(x).encode()).hexdigest()\n",
		"text = '"+strings.Repeat("the quick brown fox jumps over the lazy dog. ", 20)+"'\n",
		"import os\n\ndef handler(x):\n    with open(os.path.join(os.environ['OSTRAKA_OUTPUT'], 'a.txt'), 'w') as f:\n        f.write('x')\n",
		"def handler(x):\n    return sort(x, compile=True)\n",
		"", "def (((", "'unterminated\n\"\"\"", "f'{", strings.Repeat("(", 10_000), strings.Repeat("f'{", 500),
	) {
		require.Less(t, *s.Score, 0.3, "%d: %+v", i, s)
	}
}
