package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Step is something that was done, or would be.
type Step struct {
	What   string // in words
	Detail string // the file's content, where it is short and no secret
}

// ErrInstalled says that it is installed already.
var ErrInstalled = errors.New("installed as a service already")

// installer does the steps, or only says them.
type installer struct {
	Options
	system   System
	dryRun   bool
	say      func(Step)
	manifest Manifest
}

// Install installs an agent or a server, enables and starts it where systemd runs the machine. say is told each step. With dryRun nothing is
// done. What fails half-way can be taken back with Uninstall.
func Install(ctx context.Context, system System, o Options, dryRun bool, say func(Step)) error {
	if err := o.check(); err != nil {
		return err
	}
	i := &installer{Options: o, system: system, dryRun: dryRun, say: say, manifest: Manifest{Version: manifestVersion}}
	before, err := o.readManifest()
	switch {
	case errors.Is(err, ErrNotInstalled):
	case err != nil:
		return err
	case len(before.Files) > 0:
		return fmt.Errorf("%s is %w: run ostraka %s uninstall first; its data stays", o.Kind.Title, ErrInstalled, o.Kind.noun)
	default: // an earlier installation was removed but for its data: its user and folders are ours
		i.manifest.User, i.manifest.Folders = before.User, before.Folders
	}
	if err := i.refuseForeign(); err != nil {
		return err
	}
	if err := i.files(); err != nil {
		return err
	}
	if err := i.user(ctx); err != nil {
		return err
	}
	return i.start(ctx)
}

// refuseForeign leaves alone what somebody else has put there.
func (i *installer) refuseForeign() error {
	for _, path := range i.Kind.knownFiles() {
		if _, err := os.Lstat(i.at(path)); err == nil {
			return fmt.Errorf("%s is there already, and no installation of ours has made it: move it away first", i.at(path))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("looking for %s: %w", i.at(path), err)
		}
	}
	return nil
}

func (i *installer) files() error {
	unit, err := i.unit()
	if err != nil {
		return err
	}
	program, err := os.Open(i.Program)
	if err != nil {
		return fmt.Errorf("reading the program: %w", err)
	}
	defer program.Close()
	for _, f := range []struct {
		path   string
		mode   fs.FileMode
		from   io.Reader
		detail string
	}{
		{i.Kind.environmentPath(), 0o600, bytes.NewReader(i.environment()), ""},
		{i.Kind.programPath(), 0o755, program, ""},
		{i.Kind.unitPath(), 0o644, bytes.NewReader(unit), string(unit)},
	} {
		i.say(Step{fmt.Sprintf("write %s (mode %04o)", i.at(f.path), f.mode), f.detail})
		if i.dryRun {
			continue
		}
		if err := i.write(f.path, f.mode, f.from); err != nil {
			return err
		}
	}
	return nil
}

// write makes a file and notes it. The manifest is written after each, so that an installation that breaks off can be taken back.
func (i *installer) write(path string, mode fs.FileMode, from io.Reader) error {
	if err := i.folder(filepath.Dir(path)); err != nil {
		return err
	}
	to, err := os.OpenFile(i.at(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("installing: %w", err)
	}
	_, err = io.Copy(to, from)
	if err == nil {
		err = to.Chmod(mode) // whatever the umask is
	}
	if closeErr := to.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("installing %s: %w", i.at(path), err)
	}
	digest, err := digestOfFile(i.at(path))
	if err != nil {
		return fmt.Errorf("installing %s: %w", i.at(path), err)
	}
	i.manifest.Files = append(i.manifest.Files, File{path, digest})
	return i.writeManifest(i.manifest)
}

// folder makes a folder and those around it, and notes which ones were not there.
func (i *installer) folder(path string) error {
	var missing []string
	for at := path; at != "/"; at = filepath.Dir(at) {
		if _, err := os.Stat(i.at(at)); err == nil {
			break
		}
		missing = append(missing, at)
	}
	slices.Reverse(missing)
	for _, at := range missing {
		if err := os.Mkdir(i.at(at), 0o755); err != nil {
			return fmt.Errorf("installing: %w", err)
		}
		i.manifest.Folders = append(i.manifest.Folders, at)
	}
	return nil
}

// user makes the service's user where it is missing.
func (i *installer) user(ctx context.Context) error {
	if i.Root != "" {
		i.say(Step{What: "make no user: that is for the machine that boots from " + i.Root})
		return nil
	}
	there, err := i.system.HasUser(i.User)
	if err != nil {
		return err
	}
	switch {
	case there:
		i.say(Step{What: "use the user " + i.User})
		return nil
	case i.User != i.Kind.Name:
		return fmt.Errorf("there is no user %s: make it, or leave --user out", i.User)
	}
	i.say(Step{What: "make the system user " + i.User})
	if i.dryRun {
		return nil
	}
	if err := i.system.Run(ctx, "useradd", "--system", "--user-group", "--no-create-home", "--home-dir", i.Kind.StateDir(), "--shell", "/usr/sbin/nologin", i.User); err != nil {
		return fmt.Errorf("making the user: %w", err)
	}
	i.manifest.User = i.User
	return i.writeManifest(i.manifest)
}

// start lets systemd run the service, now and at every start of the machine.
func (i *installer) start(ctx context.Context) error {
	if i.Root != "" || !i.system.Booted() {
		i.say(Step{What: "start nothing: systemd does not run here; on the machine itself: systemctl enable --now " + i.Kind.Name})
		return nil
	}
	i.say(Step{What: "systemctl daemon-reload, systemctl enable --now " + i.Kind.Name})
	if i.dryRun {
		return nil
	}
	i.manifest.Enabled = true
	if err := i.writeManifest(i.manifest); err != nil {
		return err
	}
	if err := i.system.Run(ctx, "systemctl", "daemon-reload"); err != nil {
		return err
	}
	return i.system.Run(ctx, "systemctl", "enable", "--now", i.Kind.Name+".service")
}
