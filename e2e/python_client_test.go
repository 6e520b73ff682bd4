package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/testenv"
)

// runDocs runs every example of a page, and fails where one prints something else than the page says.
const runDocs = `import doctest, sys
failed, ran = doctest.testfile(sys.argv[1], module_relative=False, optionflags=doctest.ELLIPSIS)
print(ran, "examples")
sys.exit(failed > 0 or ran == 0)`

// TestPythonClient runs the tests of ostraka.py on the machine's Python and on the newest one, which the program carries, and every example of
// its documentation against a real server with real agents on the former.
func TestPythonClient(t *testing.T) {
	t.Parallel()
	binary := program(t)
	d := startDev(t, binary, "--agents", "2", "--recheck-sandbox", "linux")
	carried, err := python.Open(t.Context(), python.Options{Dir: interpreters(t)})
	require.NoError(t, err)
	system, err := exec.LookPath("python3")
	require.NoError(t, err, "Python 3.9 or later is needed")
	folder, err := filepath.Abs("../client/python")
	require.NoError(t, err)
	page, err := filepath.Abs("../docs/python.md")
	require.NoError(t, err)
	env := append(os.Environ(), "PYTHONPATH="+folder, "PYTHONDONTWRITEBYTECODE=1", "OSTRAKA_URL="+d.URL, "OSTRAKA_KEY="+d.OwnerKey, "OSTRAKA_PROJECT="+d.Project)
	for name, args := range map[string][]string{
		"system":  {system, "-m", "unittest", "-v", "test_offline"},
		"carried": {carried.Interpreter, "-m", "unittest", "-v", "test_offline"},
		"docs":    {system, "-c", runDocs, page},
		"types":   {debianPython, "-m", "mypy", "--strict", "--python-version", "3.9", "--cache-dir", t.TempDir(), filepath.Join(folder, "ostraka.py")},
		"fetched": {"sh", "-ec", firstShell(t, page)},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
			cmd.Env, cmd.Dir = env, t.TempDir()
			out, err := cmd.CombinedOutput()
			assert.NoError(t, err, "%s", out)
		})
	}
	t.Run("notebook", func(t *testing.T) { runNotebook(t, env) })
}

// firstShell are the lines of a page's first block for a shell, without the one that reads what `ostraka dev` wrote: it is set already.
func firstShell(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "```sh\n")
	require.True(t, found)
	block, _, _ := strings.Cut(after, "```")
	first, rest, _ := strings.Cut(block, "\n")
	require.Contains(t, first, "dev.env")
	require.Contains(t, rest, "sha256sum -c")
	return rest
}

// devServer is what `ostraka dev` says of itself in dev.json.
type devServer struct {
	URL         string `json:"url"`
	Project     string `json:"project"`
	OwnerKey    string `json:"owner_key"`
	OperatorKey string `json:"operator_key"`
}

// startDev starts `ostraka dev` and waits until it is ready.
func startDev(t *testing.T, binary string, args ...string) (d devServer) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "dev")
	p := start(t, binary, append(os.Environ(), "OSTRAKA_PYTHON_DIR="+interpreters(t)), append([]string{"dev", "--data", dir, "--listen", "127.0.0.1:0"}, args...)...)
	testenv.Eventually(t, func() bool {
		said, err := os.ReadFile(p.log)
		return err == nil && strings.Contains(string(said), "ready http")
	}, "dev is ready")
	text, err := os.ReadFile(filepath.Join(dir, "dev.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &d))
	return d
}

// interpreters is the folder in which the carried interpreter is unpacked once for all tests and commands of this user.
func interpreters(t *testing.T) string {
	t.Helper()
	dir, err := python.DefaultDir()
	require.NoError(t, err)
	return dir
}
