package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
)

// server is the real program, run as `ostraka dev` without agents on the bench's Postgres.
type server struct {
	cmd  *exec.Cmd
	dir  string
	info devInfo

	project uuid.UUID
	owner   *client.ClientWithResponses // speaks with the key of the project's owner
}

type devInfo struct {
	URL            string `json:"url"`
	Project        string `json:"project"`
	OwnerKey       string `json:"owner_key"`
	OperatorKey    string `json:"operator_key"`
	EnrolmentToken string `json:"enrolment_token"`
}

// startLimit bounds how long the server may take to be ready: it migrates and compiles nothing, so that this is generous.
const startLimit = time.Minute

// startServer starts a server on an empty database; a flag that is given again counts.
func (b *bench) startServer(ctx context.Context, flags ...string) (*server, error) {
	if err := b.freshDatabase(ctx); err != nil {
		return nil, err
	}
	return b.launch(ctx, filepath.Join(b.dir, "dev"), append([]string{"--agents", "0", "--database-url", b.databaseURL}, flags...)...)
}

// launch starts ostraka dev on a folder, and waits until it is ready.
func (b *bench) launch(ctx context.Context, dir string, flags ...string) (*server, error) {
	cmd := exec.CommandContext(ctx, b.binary, append([]string{"dev", "--data", dir, "--listen", "127.0.0.1:0"}, flags...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = startLimit
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s (make build makes it): %w", b.binary, err)
	}
	s := &server{cmd: cmd, dir: dir}
	if err := s.waitReady(bufio.NewScanner(out)); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *server) waitReady(lines *bufio.Scanner) error {
	late := time.AfterFunc(startLimit, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "ready ") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(s.dir, "dev.json"))
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &s.info); err != nil {
			return err
		}
		if s.project, err = uuid.Parse(s.info.Project); err != nil {
			return err
		}
		s.owner, err = connect(s.info.URL, s.info.OwnerKey)
		return err
	}
	return errors.New("the server ended before it was ready")
}

// stop ends the server and deletes what it has kept.
func (s *server) stop() error { return errors.Join(s.end(), os.RemoveAll(s.dir)) }

func (s *server) end() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	err := s.cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil
	}
	return err
}

// peakMiB is the largest resident memory that the server has had so far.
func (s *server) peakMiB() (float64, error) {
	kib, err := s.memoryKiB("VmHWM:")
	return kib / 1024, err
}

// rssKiB is the server's resident memory.
func (s *server) rssKiB() (float64, error) { return s.memoryKiB("VmRSS:") }

func (s *server) memoryKiB(what string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if kib, found := strings.CutPrefix(line, what); found {
			return strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(kib), "kB")), 64)
		}
	}
	return 0, errors.New("the kernel does not tell the server's memory")
}
