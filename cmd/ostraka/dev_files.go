//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ostraka/ostraka/agent/secretfile"
)

// devInfo is dev.json: what a program needs to use the server that `ostraka dev` runs.
type devInfo struct {
	URL            string `json:"url"`
	Project        string `json:"project"`
	OwnerKey       string `json:"owner_key"`
	OperatorKey    string `json:"operator_key"`
	EnrolmentToken string `json:"enrolment_token"`
	DatabaseURL    string `json:"database_url"`
	// AgentTokens are those of the agents that run here, by their names: each has an owner of its own, because replicas of one shard never
	// go to one owner.
	AgentTokens map[string]string `json:"agent_tokens,omitempty"`
}

// devDir is where `ostraka dev` keeps everything, held against a second one.
type devDir struct {
	path      string
	temporary bool
	lock      *os.File
}

// openDevDir opens the folder that was asked for, or makes one that is removed at the end.
func openDevDir(path string) (*devDir, error) {
	d := &devDir{temporary: path == ""}
	var err error
	if d.temporary {
		d.path, err = os.MkdirTemp("", "ostraka-dev-")
	} else if d.path, err = filepath.Abs(path); err == nil {
		err = os.MkdirAll(d.path, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("making the data directory: %w", err)
	}
	if err := d.hold(); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *devDir) hold() error {
	lock, err := os.OpenFile(filepath.Join(d.path, "dev.lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("opening the lock of the data directory: %w", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		lock.Close()
		return &exitError{
			code: exitFailed, err: fmt.Errorf("another ostraka dev runs in %s", d.path),
			hint: "use that one (see dev.json there), stop it, or choose another folder with --data",
		}
	}
	d.lock = lock
	return nil
}

// close gives the folder up, and removes it where it was temporary.
func (d *devDir) close() error {
	defer d.lock.Close()
	if !d.temporary {
		return nil
	}
	if err := os.RemoveAll(d.path); err != nil {
		return fmt.Errorf("removing the temporary data directory: %w", err)
	}
	return nil
}

func (d *devDir) database() string            { return filepath.Join(d.path, "db") }
func (d *devDir) cache() string               { return filepath.Join(d.path, "cache") }
func (d *devDir) objects() string             { return filepath.Join(d.path, "objects") }
func (d *devDir) agent(name string) string    { return filepath.Join(d.path, "agents", name) }
func (d *devDir) agentLog(name string) string { return filepath.Join(d.path, "agents", name+".log") }
func (d *devDir) info() string                { return filepath.Join(d.path, "dev.json") }
func (d *devDir) environment() string         { return filepath.Join(d.path, "dev.env") }

// readInfo reads the dev.json of an earlier run; without one it returns nothing.
func (d *devDir) readInfo() (info devInfo, err error) {
	text, err := secretfile.Read(d.info())
	if errors.Is(err, fs.ErrNotExist) {
		return devInfo{}, nil
	}
	if err != nil {
		return devInfo{}, fmt.Errorf("reading the keys of an earlier run: %w", err)
	}
	if err := json.Unmarshal(text, &info); err != nil {
		return devInfo{}, fmt.Errorf("reading the keys of an earlier run from %s: %w; delete the file to get new ones", d.info(), err)
	}
	return info, nil
}

// writeInfo writes dev.json for programs and dev.env for shells.
func (d *devDir) writeInfo(info devInfo) error {
	var doc bytes.Buffer
	if err := writeValue(&doc, info); err != nil {
		return fmt.Errorf("encoding dev.json: %w", err)
	}
	if err := secretfile.Write(d.info(), doc.Bytes()); err != nil {
		return err
	}
	return secretfile.Write(d.environment(), []byte(info.shell()))
}

// shell is what a shell reads to talk to this server.
func (i devInfo) shell() string {
	var b strings.Builder
	for _, v := range []struct{ name, value string }{
		{"OSTRAKA_URL", i.URL}, {"OSTRAKA_PROJECT", i.Project}, {"OSTRAKA_KEY", i.OwnerKey},
	} {
		fmt.Fprintf(&b, "export %s=%s\n", v.name, shellQuote(v.value))
	}
	return b.String()
}
