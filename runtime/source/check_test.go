package source

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/python"
)

func TestCheck(t *testing.T) {
	tree, err := python.Open(t.Context(), python.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, tree.Release()) }()
	for name, c := range map[string]struct {
		files    map[string]string
		callable string
		want     []string
	}{
		"a function that starts":  {files: map[string]string{"main.py": "import json, os.path\nfrom lib import x\nimport pkg.sub\ndef handler(x): return x\n", "lib.py": "x = 1\n", "pkg/__init__.py": "", "pkg/sub.py": "from . import other\n", "pkg/other.py": ""}},
		"no Python":               {files: map[string]string{"main.py": "def handler(x) return 1\n"}, want: []string{"main.py:1 is not Python: expected ':'"}},
		"no text of Python":       {files: map[string]string{"main.py": "\x00"}, want: []string{"main.py:0 is not Python: source code string cannot contain null bytes"}},
		"in a module of its own":  {files: map[string]string{"main.py": "import lib\ndef handler(x): return 1\n", "lib.py": "\n\n(\n"}, want: []string{"lib.py:3 is not Python: '(' was never closed"}},
		"what nothing imports":    {files: map[string]string{"main.py": "def handler(x): return 1\n", "old.py": "print 'hello'\n"}},
		"another name":            {files: map[string]string{"main.py": "def handle(x): return 1\n"}, want: []string{"main.py has no handler"}},
		"within another":          {files: map[string]string{"main.py": "def f():\n    def handler(x): pass\nclass A:\n    handler = 1\n"}, want: []string{"main.py has no handler"}},
		"a missing module":        {files: map[string]string{"main.py": "import numpy as np\nfrom scipy.stats import norm\ndef handler(x): return 1\n"}, want: []string{"main.py:1 imports numpy, which is neither in the folder nor in Python's standard library", "main.py:2 imports scipy, which is neither in the folder nor in Python's standard library"}},
		"one that may be missing": {files: map[string]string{"main.py": "try:\n    import numpy\nexcept ImportError:\n    numpy = None\nif False:\n    import scipy\ndef handler(x):\n    import torch\n    return 1\n"}},
		"assigned":                {files: map[string]string{"main.py": "handler = lambda x: x\n"}},
		"assigned in a branch":    {files: map[string]string{"main.py": "if 1:\n    handler = print\nelse:\n    handler = len\n"}},
		"imported":                {files: map[string]string{"main.py": "from lib import f as handler\n", "lib.py": "def f(x): return x\n"}},
		"imported with a star":    {files: map[string]string{"main.py": "from lib import *\n", "lib.py": "def handler(x): return x\n"}},
		"made at run time":        {files: map[string]string{"main.py": "globals()['handler'] = len\n"}},
		"a global of a function":  {files: map[string]string{"main.py": "def f():\n    global handler\n    handler = len\nf()\n"}},
		"a method":                {files: map[string]string{"main.py": "class A:\n    def run(x): pass\n"}, callable: "A.run"},
		"too deep to parse":       {files: map[string]string{"main.py": strings.Repeat("(", 100_000) + "\n"}, want: []string{"main.py:1 is not Python: too many nested parentheses"}},
	} {
		t.Run(name, func(t *testing.T) {
			callable := c.callable
			if callable == "" {
				callable = "handler"
			}
			faults, err := Check(t.Context(), tree.Interpreter, c.files, Entry{Files: []string{"main.py", "main/__init__.py"}, Callable: callable})
			require.NoError(t, err)
			var got []string
			for _, f := range faults {
				got = append(got, f.String())
				require.Equal(t, f.Path == "main.py" && f.Kind != KindImport, f.Sure)
			}
			require.Equal(t, c.want, got)
		})
	}
	t.Run("the near name", func(t *testing.T) {
		faults, err := Check(t.Context(), tree.Interpreter, map[string]string{"main.py": "def handle(x): return 1\n"}, Entry{Files: []string{"main.py"}, Callable: "handler"})
		require.NoError(t, err)
		require.Equal(t, "handle", faults[0].Near)
	})
	t.Run("a script needs no callable", func(t *testing.T) {
		faults, err := Check(t.Context(), tree.Interpreter, map[string]string{"run.py": "print(1)\n"}, Entry{Files: []string{"run.py"}})
		require.NoError(t, err)
		require.Empty(t, faults)
	})
	t.Run("at most so many", func(t *testing.T) {
		faults, err := Check(t.Context(), tree.Interpreter, map[string]string{"run.py": strings.Repeat("import numpy\n", maxFaults+1)}, Entry{Files: []string{"run.py"}})
		require.NoError(t, err)
		require.Len(t, faults, maxFaults)
	})
	t.Run("an interpreter that is none", func(t *testing.T) {
		_, err := Check(t.Context(), "/bin/false", nil, Entry{})
		require.ErrorContains(t, err, "reading the source")
	})
}
