package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Removal says what to remove besides what was installed.
type Removal struct {
	Kind   *Kind
	Root   string // as Options have it
	Force  bool   // files that were changed, too
	Purge  bool   // its data and its user, too
	DryRun bool
}

// ChangedError says which files were not removed because they are not what was installed.
type ChangedError struct{ Paths []string }

// Error implements error.
func (e *ChangedError) Error() string {
	return "not removed, because changed since it was installed: " + strings.Join(e.Paths, ", ")
}

// Uninstall stops the service and removes what Install has made. A file that was changed since stays and is named by the error; all
// else is removed.
func Uninstall(ctx context.Context, system System, r Removal, say func(Step)) error {
	u := &remover{Removal: r, options: Options{Kind: r.Kind, Root: r.Root}, system: system, say: say}
	var err error
	if u.manifest, err = u.options.readManifest(); err != nil {
		return err
	}
	if err := u.stop(ctx); err != nil {
		return err
	}
	changed, err := u.files()
	if err != nil {
		return err
	}
	if err := u.purge(ctx); err != nil {
		return err
	}
	if err := u.finish(ctx, changed); err != nil {
		return err
	}
	if len(changed) > 0 {
		return &ChangedError{changed}
	}
	return nil
}

type remover struct {
	Removal
	options  Options
	system   System
	say      func(Step)
	manifest Manifest
	data     bool // the data stays
}

// stop ends the service and all that it has started: systemd kills what is left of its cgroup.
func (u *remover) stop(ctx context.Context) error {
	if u.Root != "" || !u.system.Booted() {
		return nil
	}
	u.say(Step{What: "systemctl disable --now " + u.Kind.Name})
	if u.DryRun {
		return nil
	}
	return u.system.Run(ctx, "systemctl", "disable", "--now", u.Kind.Name+".service")
}

// files removes the files that are what was installed.
func (u *remover) files() (changed []string, err error) {
	var kept []File
	for _, f := range u.manifest.Files {
		path := u.options.at(f.Path)
		same, err := u.unchanged(path, f.SHA256)
		if errors.Is(err, fs.ErrNotExist) {
			u.say(Step{What: path + " is gone already"})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("looking at %s: %w", path, err)
		}
		if !same && !u.Force {
			u.say(Step{What: "keep " + path + ": it was changed since it was installed"})
			changed, kept = append(changed, path), append(kept, f)
			continue
		}
		what := "remove " + path
		if f.Path == u.Kind.environmentPath() {
			what += ": the next installation needs " + u.Kind.needs
		}
		u.say(Step{What: what})
		if u.DryRun {
			continue
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("uninstalling: %w", err)
		}
	}
	u.manifest.Files = kept
	return changed, nil
}

// unchanged says whether a file is what was installed. A link is not, wherever it leads.
func (u *remover) unchanged(path, digest string) (bool, error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	now, err := digestOfFile(path)
	return now == digest, err
}

// purge removes the data and the user that was made for it. Without it both stay: a new installation goes on where this one was.
func (u *remover) purge(ctx context.Context) error {
	state := u.options.at(u.Kind.StateDir())
	info, err := os.Lstat(state)
	there := err == nil
	switch {
	case !u.Purge && there:
		u.say(Step{What: "keep " + state + ", the data of " + u.Kind.Title + " (--purge removes it)"})
	case u.Purge && there && !info.IsDir():
		return fmt.Errorf("%s is no folder: look at it, and remove it yourself", state)
	case u.Purge && there:
		u.say(Step{What: "remove " + state + " and all that is in it"})
		if !u.DryRun {
			if err := os.RemoveAll(state); err != nil {
				return fmt.Errorf("removing the data of %s: %w", u.Kind.Title, err)
			}
		}
		there = false
	}
	u.data = there
	if u.manifest.User == "" || there { // files of a user that is gone would be the next user's
		return nil
	}
	u.say(Step{What: "remove the user " + u.manifest.User})
	if u.DryRun {
		return nil
	}
	if err := u.system.Run(ctx, "userdel", u.manifest.User); err != nil {
		return fmt.Errorf("removing the user: %w", err)
	}
	u.manifest.User = ""
	return nil
}

// finish forgets the installation, or what is left of it, and removes the folders that are empty now.
func (u *remover) finish(ctx context.Context, changed []string) error {
	if u.DryRun {
		return nil
	}
	u.manifest.Enabled = false
	if len(changed) > 0 || u.data { // so that --purge finds them later
		if err := u.options.writeManifest(u.manifest); err != nil {
			return err
		}
	} else if err := os.Remove(u.options.at(u.Kind.manifestPath())); err != nil {
		return fmt.Errorf("uninstalling: %w", err)
	}
	for _, folder := range slices.Backward(u.manifest.Folders) {
		_ = os.Remove(u.options.at(folder)) // one that is not empty is somebody else's too, and stays
	}
	if u.Root == "" && u.system.Booted() {
		return u.system.Run(ctx, "systemctl", "daemon-reload")
	}
	return nil
}
