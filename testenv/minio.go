package testenv

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/ostraka/ostraka/blob"
)

const (
	// MinIOEnv names the MinIO program to test with.
	MinIOEnv = "OSTRAKA_TEST_MINIO"
	// minioInRepository is where `make test` installs it.
	minioInRepository = ".cache/bin/minio"
	// minioStartLimit bounds one start; it takes about a second.
	minioStartLimit = 60 * time.Second
	// minioStarts is how often a port is tried: another process may take a port
	// between our choosing it and MinIO's listening on it.
	minioStarts = 3
)

// minioServer is the shared server, once a test has asked for it.
type minioServer struct {
	once   sync.Once
	err    error
	config blob.S3Config
}

// MinIO returns a bucket of its own (not made yet) on a real MinIO server.
func MinIO(t testing.TB) blob.S3Config {
	t.Helper()
	m := &shared.minio
	m.once.Do(func() { m.err = m.open() })
	if m.err != nil {
		t.Fatalf("preparing MinIO for the tests: %v", m.err)
	}
	cfg := m.config
	cfg.Bucket = "test-" + strings.ToLower(rand.Text()[:20])
	return cfg
}

func (m *minioServer) open() error {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	program, err := findMinIO()
	if err != nil {
		return err
	}
	dir, err := shared.directory()
	if err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	m.config = blob.S3Config{Plaintext: true, AccessKey: rand.Text(), SecretKey: rand.Text()}
	for range minioStarts {
		if err = m.start(program, filepath.Join(dir, "minio")); err == nil {
			return nil
		}
	}
	return err
}

// findMinIO looks where the environment says, in the repository and on PATH.
func findMinIO() (string, error) {
	if path := os.Getenv(MinIOEnv); path != "" {
		return path, nil
	}
	dir, err := os.Getwd()
	for err == nil {
		path := filepath.Join(dir, minioInRepository)
		if _, statErr := os.Stat(path); statErr == nil {
			return path, nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	if path, err := exec.LookPath("minio"); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("the program minio is neither at $%s nor at %s nor on PATH: `make test` installs it", MinIOEnv, minioInRepository)
}

func (m *minioServer) start(program, dir string) error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	log, err := os.CreateTemp(filepath.Dir(dir), "minio-*.log")
	if err != nil {
		return fmt.Errorf("making MinIO's log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(program, "server", "--quiet", "--address", address, dir)
	cmd.Env = []string{
		"PATH=/usr/bin:/bin", "HOME=" + filepath.Dir(dir), "MINIO_BROWSER=off", "MINIO_UPDATE=off",
		"MINIO_ROOT_USER=" + m.config.AccessKey, "MINIO_ROOT_PASSWORD=" + m.config.SecretKey,
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	done, err := startTied(cmd)
	if err != nil {
		return fmt.Errorf("starting %s: %w", program, err)
	}
	stop := func() {
		_ = cmd.Process.Kill() // its files go with it
		<-done
	}
	if err := m.awaitReady(address, done); err != nil {
		stop()
		said, _ := os.ReadFile(log.Name())
		return fmt.Errorf("starting %s: %w; it said: %s", program, err, said)
	}
	m.config.Endpoint = address
	shared.stops = append(shared.stops, stop)
	return nil
}

// freeAddress finds a port on the loopback interface that is free now.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("finding a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// startTied starts a child that the kernel ends with us. Its parent-death signal
// belongs to the thread that starts it, which is therefore held.
func startTied(cmd *exec.Cmd) (<-chan struct{}, error) {
	started, done := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(done)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	return done, <-started
}

// awaitReady asks until the server answers a signed request. Its health page
// says "ready" before that.
func (m *minioServer) awaitReady(address string, done <-chan struct{}) error {
	transport, err := minio.DefaultTransport(false)
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	client, err := minio.New(address, &minio.Options{
		Creds: credentials.NewStaticV4(m.config.AccessKey, m.config.SecretKey, ""), Transport: transport, MaxRetries: 1,
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), minioStartLimit)
	defer cancel()
	for {
		_, err := client.ListBuckets(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-done:
			return errors.New("it ended at once")
		case <-ctx.Done():
			return fmt.Errorf("it was not ready after %v: %w", minioStartLimit, err)
		case <-time.After(eventuallyPace):
		}
	}
}
