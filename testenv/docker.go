package testenv

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// dockerStartLimit bounds one start; it takes about a second.
	dockerStartLimit = 2 * time.Minute
	// dockerStopLimit is how long a daemon may take to leave in good order.
	dockerStopLimit = 20 * time.Second
)

// dockerServer is the shared daemon, once a test has asked for it.
type dockerServer struct {
	once   sync.Once
	err    error
	daemon *Docker
}

// DockerDaemon returns a real Docker daemon without a network, with nothing in
// it but what tests of this binary have put there.
func DockerDaemon(t testing.TB) *Docker {
	t.Helper()
	d := &shared.docker
	d.once.Do(func() { d.err = d.open() })
	if d.err != nil {
		t.Fatalf("preparing Docker for the tests: %v", d.err)
	}
	return d.daemon
}

func (d *dockerServer) open() error {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	dir, err := shared.directory()
	if err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	if d.daemon, err = StartDocker(filepath.Join(dir, "docker")); err != nil {
		return err
	}
	shared.stops = append(shared.stops, d.daemon.Stop)
	return nil
}

// Docker is a daemon of its own, in namespaces of its own: when it ends, however
// it ends, the kernel ends its containers and takes away what it has mounted.
type Docker struct {
	Host string // as clients name it

	dir    string
	group  string // parent of its containers' cgroups
	cmd    *exec.Cmd
	done   <-chan struct{}
	client *http.Client
}

// dockerScript makes the daemon the first process of its namespaces. Its own
// mounts are nobody else's business, and /proc has to be that of the namespace.
const dockerScript = `mount --make-rprivate / && mount -t proc proc /proc && exec "$@"`

// StartDocker starts a daemon that keeps everything below dir.
func StartDocker(dir string) (*Docker, error) {
	program, err := findDocker()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return nil, fmt.Errorf("making Docker's folder: %w", err)
	}
	config, socket := filepath.Join(dir, "daemon.json"), filepath.Join(dir, "s")
	if err := os.WriteFile(config, dockerConfig(), 0o600); err != nil { // not the machine's
		return nil, fmt.Errorf("making Docker's configuration: %w", err)
	}
	d := &Docker{Host: "unix://" + socket, dir: dir, group: "ostraka-test-" + strings.ToLower(rand.Text()[:12])}
	d.client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, fmt.Errorf("making Docker's log: %w", err)
	}
	defer log.Close()
	d.cmd = exec.Command("/bin/sh", "-c", dockerScript, "sh", program, "--config-file", config, "--data-root", filepath.Join(dir, "data"),
		"--exec-root", filepath.Join(dir, "x"), "--pidfile", filepath.Join(dir, "pid"), "--host", d.Host, "--cgroup-parent", "/"+d.group,
		"--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-masq=false", "--ip-forward=false")
	d.cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + dir}
	d.cmd.Stdout, d.cmd.Stderr = log, log
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	if d.done, err = startTied(d.cmd); err != nil {
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	if err := d.awaitReady(); err != nil {
		d.Stop()
		said, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("starting %s: %w; it said: %s", program, err, tailOf(said))
	}
	return d, nil
}

// dockerConfig has gVisor for a runtime where a program of it that the tests can use is on PATH.
func dockerConfig() []byte {
	path, err := FindGVisor()
	if err != nil {
		return []byte("{}")
	}
	return fmt.Appendf(nil, `{"runtimes": {"runsc": {"path": %q}}}`, path)
}

// findDocker looks for all that a daemon needs.
func findDocker() (string, error) {
	if os.Geteuid() != 0 {
		return "", errors.New("a Docker daemon of our own needs root: run the tests as root")
	}
	for _, name := range []string{"dockerd", "containerd", "runc"} {
		if _, err := exec.LookPath(name); err != nil {
			return "", fmt.Errorf("the program %s is not on PATH: `make test` installs it (Debian's package is docker.io)", name)
		}
	}
	return exec.LookPath("dockerd")
}

// awaitReady asks until the daemon answers.
func (d *Docker) awaitReady() error {
	ctx, cancel := context.WithTimeout(context.Background(), dockerStartLimit)
	defer cancel()
	for {
		err := d.ping(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-d.done:
			return errors.New("it ended at once")
		case <-ctx.Done():
			return fmt.Errorf("it was not ready after %v: %w", dockerStartLimit, err)
		case <-time.After(eventuallyPace):
		}
	}
}

func (d *Docker) ping(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://docker/_ping", http.NoBody)
	if err != nil {
		return err
	}
	resp, err := d.client.Do(req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s", resp.Status)
	}
	return nil
}

// Stop ends the daemon, in good order if it can, and waits until all of it is gone.
func (d *Docker) Stop() {
	d.client.CloseIdleConnections()
	_ = d.cmd.Process.Signal(syscall.SIGTERM) // it may be gone
	select {
	case <-d.done:
	case <-time.After(dockerStopLimit):
		d.Kill()
	}
	d.removeGroups()
}

// Kill ends the daemon as a crash of its machine would, containers included.
func (d *Docker) Kill() {
	_ = d.cmd.Process.Kill() // it may be gone
	<-d.done
}

// removeGroups removes the cgroups that containers had, and their parent. A
// daemon that was killed leaves them, empty.
func (d *Docker) removeGroups() {
	tops, _ := filepath.Glob("/sys/fs/cgroup/*/" + d.group)
	if here := "/sys/fs/cgroup/" + d.group; isDir(here) {
		tops = append(tops, here)
	}
	for _, top := range tops {
		inner, _ := filepath.Glob(top + "/*")
		for _, dir := range inner {
			if isDir(dir) {
				_ = syscall.Rmdir(dir)
			}
		}
		_ = syscall.Rmdir(top)
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// tailOf is the end of a log.
func tailOf(log []byte) string {
	const most = 4 << 10
	return strings.TrimSpace(string(log[max(0, len(log)-most):]))
}
