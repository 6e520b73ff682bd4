package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strings"
)

// System is the machine besides its files.
type System interface {
	// Booted says whether systemd runs this machine.
	Booted() bool
	// HasUser says whether there is such a user.
	HasUser(name string) (bool, error)
	// Run runs a program of the system's.
	Run(ctx context.Context, program string, arguments ...string) error
}

// Machine is this machine.
type Machine struct{}

// Booted implements System, as sd_booted(3) does.
func (Machine) Booted() bool {
	info, err := os.Lstat("/run/systemd/system")
	return runtime.GOOS == "linux" && err == nil && info.IsDir()
}

// HasUser implements System.
func (Machine) HasUser(name string) (bool, error) {
	_, err := user.Lookup(name)
	var unknown user.UnknownUserError
	if errors.As(err, &unknown) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking up the user %s: %w", name, err)
	}
	return true, nil
}

// Run implements System.
func (Machine) Run(ctx context.Context, program string, arguments ...string) error {
	cmd := exec.CommandContext(ctx, program, arguments...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", program, strings.Join(arguments, " "), err, strings.TrimSpace(said.String()))
	}
	return nil
}
