package deploy

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ostraka/ostraka/testenv"
)

func TestMain(m *testing.M) {
	testenv.Main(m)
	if built != "" {
		_ = os.RemoveAll(built)
	}
}

// built is the directory of the program, for TestMain to remove.
var built string

// program builds the real binary with the flags of `make build`, so that what that has compiled is not compiled again.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ostraka-deploy-")
	if err != nil {
		return "", err
	}
	built = dir
	path := filepath.Join(dir, "ostraka")
	cmd := exec.Command("go", "build", "-trimpath", "-o", path, "../cmd/ostraka")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

// server is a process of the real program on a database of its own.
type server struct {
	binary   string
	database string
	url      string
	http     http.Client
}

var urlOfLog = regexp.MustCompile(`msg=serving url=(\S+)`)

// startServer starts one that works on no queue, so that steps stay where they are.
func startServer(t *testing.T) *server {
	t.Helper()
	binary, err := program()
	require.NoError(t, err, "building the program")
	s := &server{binary: binary, database: testenv.Database(t)}
	cmd := exec.CommandContext(t.Context(), binary, "server", "--listen", "127.0.0.1:0", "--blob-dir", t.TempDir(), "--queues", "none", "--recheck-sandbox", "none")
	cmd.Env = []string{"OSTRAKA_DATABASE_URL=" + s.database, "HOME=" + t.TempDir()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(log)
	for s.url == "" && lines.Scan() {
		if m := urlOfLog.FindStringSubmatch(lines.Text()); m != nil {
			s.url = m[1]
		}
	}
	require.NotEmpty(t, s.url, "the server has ended")
	go func() {
		for lines.Scan() { // what it says further is read, so that it never waits
		}
	}()
	return s
}

// run runs a command against the server and returns what it prints.
func (s *server) run(t *testing.T, env []string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.binary, args...)
	cmd.Env = append([]string{"OSTRAKA_URL=" + s.url, "HOME=" + t.TempDir()}, env...)
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	require.NoError(t, err, args)
	return out
}

// submitJob makes a project with a job, which waits to be split.
func (s *server) submitJob(t *testing.T) {
	t.Helper()
	operator := s.run(t, []string{"OSTRAKA_DATABASE_URL=" + s.database}, "operator-key", "create", "deploy")
	var made struct {
		Project struct{ ID string }
		Key     string `json:"owner_key"`
	}
	out := s.run(t, []string{"OSTRAKA_KEY=" + string(operator[:len(operator)-1])}, "project", "create", "deploy", "-o", "json")
	require.NoError(t, json.Unmarshal(out, &made))
	env := []string{"OSTRAKA_PROJECT=" + made.Project.ID, "OSTRAKA_KEY=" + made.Key}
	s.run(t, env, "function", "push", "../examples/bpsw", "--unchecked")
	s.run(t, env, "job", "run", "bpsw", "--range", "0:100", "--shard-size", "10")
}

// operations are the names of all operations of the API.
func operations(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../openapi.yaml")
	require.NoError(t, err)
	var spec struct {
		Paths map[string]map[string]struct {
			OperationID string `yaml:"operationId"`
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &spec))
	var ids []string
	for _, methods := range spec.Paths {
		for _, operation := range methods {
			ids = append(ids, operation.OperationID)
		}
	}
	require.NotEmpty(t, ids)
	return ids
}
