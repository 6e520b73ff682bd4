package deploy

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/testenv"
)

// TestImageRunsInDocker loads the image into a real daemon and runs the program in it, without any right and on a read-only root.
func TestImageRunsInDocker(t *testing.T) {
	t.Parallel()
	i := loadImage(t)
	database := "OSTRAKA_DATABASE_URL=" + overTCP(t, testenv.Database(t))
	for name, args := range map[string][]string{
		"version": {"version"}, "help": {"server", "--help"}, "doctor": {"doctor", "--blob-dir", "/var/lib/ostraka/objects", "--recheck-sandbox", "none"},
	} {
		id := i.start(t, []string{database}, args...)
		code := i.wait(t, id)
		said := i.logs(t, id)
		require.Zero(t, code, said)
		require.Contains(t, said, map[string]string{"version": "ostraka", "help": "Run a server until SIGTERM", "doctor": "database rights"}[name])
	}
	address := freeAddress(t)
	id := i.start(t, []string{database}, "server", "--listen", address, "--blob-dir", "/var/lib/ostraka/objects", "--recheck-sandbox", "none")
	testenv.Eventually(t, func() bool { return answers(t, "http://"+address+"/readyz") }, "the server in the image is ready")
	require.NoError(t, i.docker.ContainerKill(t.Context(), id, "SIGTERM"))
	require.Zero(t, i.wait(t, id), i.logs(t, id))
}

// image is one in a daemon.
type image struct {
	docker *client.Client
	name   string
}

func loadImage(t *testing.T) *image {
	t.Helper()
	binary, err := program()
	require.NoError(t, err, "building the program")
	path := filepath.Join(t.TempDir(), "image.tar")
	said, err := exec.CommandContext(t.Context(), "go", "run", "./image", "-program", binary, "-version", "test", "-o", path).CombinedOutput()
	require.NoError(t, err, string(said))
	docker, err := client.NewClientWithOpts(client.WithHost(testenv.DockerDaemon(t).Host), client.WithAPIVersionNegotiation())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, docker.Close()) })
	archive, err := os.Open(path)
	require.NoError(t, err)
	defer archive.Close()
	loaded, err := docker.ImageLoad(t.Context(), archive)
	require.NoError(t, err)
	said, err = io.ReadAll(loaded.Body)
	require.NoError(t, err)
	require.NoError(t, loaded.Body.Close())
	require.Contains(t, string(said), "Loaded image: ostraka:test")
	return &image{docker, "ostraka:test"}
}

func (i *image) start(t *testing.T, env []string, args ...string) string {
	t.Helper()
	made, err := i.docker.ContainerCreate(t.Context(), &container.Config{Image: i.name, Cmd: args, Env: env}, &container.HostConfig{
		NetworkMode: "host", ReadonlyRootfs: true, CapDrop: []string{"ALL"}, SecurityOpt: []string{"no-new-privileges"},
		Tmpfs: map[string]string{"/tmp": "", "/var/lib/ostraka": "uid=65532,gid=65532,mode=0700"},
	}, nil, nil, "")
	require.NoError(t, err)
	require.NoError(t, i.docker.ContainerStart(t.Context(), made.ID, container.StartOptions{}))
	return made.ID
}

func (i *image) wait(t *testing.T, id string) int64 {
	t.Helper()
	ended, failed := i.docker.ContainerWait(t.Context(), id, container.WaitConditionNotRunning)
	select {
	case err := <-failed:
		require.NoError(t, err)
		return -1
	case end := <-ended:
		return end.StatusCode
	}
}

func (i *image) logs(t *testing.T, id string) string {
	t.Helper()
	stream, err := i.docker.ContainerLogs(t.Context(), id, container.LogsOptions{ShowStdout: true, ShowStderr: true})
	require.NoError(t, err)
	defer stream.Close()
	var said bytes.Buffer
	_, err = stdcopy.StdCopy(&said, &said, stream)
	require.NoError(t, err)
	return said.String()
}

// overTCP makes a database of the tests, which is behind a socket that root alone may open, one that a container can reach.
func overTCP(t *testing.T, url string) string {
	t.Helper()
	config, err := pgconn.ParseConfig(url)
	require.NoError(t, err)
	network, address := pgconn.NetworkAddress(config.Host, config.Port)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial(network, address)
			if err != nil {
				_ = from.Close()
				continue
			}
			go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
			go func() { _, _ = io.Copy(from, to); _ = from.Close() }()
		}
	}()
	return "postgres://" + config.User + "@" + l.Addr().String() + "/" + config.Database + "?sslmode=disable"
}

// freeAddress is an address that was free a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.9.9.9:0") // other tests are on 127.0.0.1
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

func answers(t *testing.T, url string) bool {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	res, err := (&http.Client{}).Do(req)
	return err == nil && res.Body.Close() == nil && res.StatusCode == http.StatusOK
}
