//go:build linux

package linux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/volume"
)

// volumesName is the folder of links to volumes in the lease's folder on the host, where there is no root of its own.
const volumesName = "volumes"

// furnishVolumes makes, without a root of its own, the folder in which the function finds its volumes.
func (s *Sandbox) furnishVolumes() error {
	if len(s.volumes) == 0 || s.runner.cfg.Level != bundle.Landlock {
		return nil
	}
	if s.runner.root {
		for _, f := range s.volumes {
			if err := reachable(f.Path()); err != nil {
				return err
			}
		}
	}
	return volume.Link(filepath.Join(s.dir, volumesName), s.volumes)
}

// volumesDir is the folder of volumes as the sandbox sees it; empty: there are none.
func (s *Sandbox) volumesDir() string {
	switch {
	case s.runner.contained():
		return containedVolumes()
	case len(s.volumes) == 0:
		return ""
	case s.runner.cfg.Level == bundle.Landlock:
		return filepath.Join(s.dir, volumesName)
	}
	return volume.Root
}

// giveVolumes hands those that the function writes to to the user of its sandbox.
func (s *Sandbox) giveVolumes() error {
	if s.slot == nil {
		return nil
	}
	for _, f := range s.volumes {
		if err := f.Give(s.slot.uid, s.slot.uid); err != nil {
			return fmt.Errorf("giving volume %s to the sandbox: %w", f.Name, err)
		}
	}
	return nil
}

// volumeBinds show the volumes: read-only as all that is shown, but for those that the function writes to.
func (s *Sandbox) volumeBinds() (list []bind) {
	if s.runner.contained() {
		return containedVolumeBinds()
	}
	for _, f := range s.volumes {
		b := bind{Source: f.Path(), Target: filepath.Join(volume.Root, f.Name), Dir: true, Writable: f.Mode == volume.ReadWrite, folder: f}
		list = append(list, b)
	}
	if len(list) > 0 && s.runner.cfg.Level == bundle.Landlock { // the links themselves
		list = append(list, bind{Source: filepath.Join(s.dir, volumesName), Target: filepath.Join(s.dir, volumesName), Dir: true})
	}
	return list
}

// openFolder makes a detached copy of the mount that a folder lies in, beginning at the folder. What was mounted below it since the volume was opened,
// which refuses such a folder, is not part of that.
func openFolder(fd int) (int, error) {
	tree, err := unix.OpenTree(fd, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH)
	if errors.Is(err, unix.EINVAL) {
		return -1, errors.New("opening a volume to be mounted: something was mounted below it since, and an agent that is not root cannot leave it out: unmount it")
	}
	if err != nil {
		return -1, fmt.Errorf("opening a volume to be mounted: %w", err)
	}
	return tree, nil
}

// reopenVolume opens the folder of a volume in the launcher's own mounts, which alone it may mount.
func reopenVolume(b bind, held int) (int, error) {
	defer func() { _ = unix.Close(held) }()
	fd, err := volume.Reopen(b.Source, held)
	if err != nil {
		return -1, fmt.Errorf("opening volume %s: %w", filepath.Base(b.Target), err)
	}
	defer func() { _ = unix.Close(fd) }()
	return openFolder(fd)
}

// containedVolumes is the folder of volumes of the container that this process is in; empty: there are none. Who has made the container has put them
// there before any function is known.
func containedVolumes() string {
	if info, err := os.Lstat(volume.Root); err != nil || !info.IsDir() {
		return ""
	}
	return volume.Root
}

// containedVolumeBinds are what functions may do in the container's volumes: read, and write where the mount lets them.
func containedVolumeBinds() (list []bind) {
	if containedVolumes() == "" {
		return nil
	}
	list = append(list, bind{Source: volume.Root, Target: volume.Root, Dir: true})
	entries, err := os.ReadDir(volume.Root)
	if err != nil {
		return list // they can only be read
	}
	for _, e := range entries {
		path := filepath.Join(volume.Root, e.Name())
		if unix.Access(path, unix.W_OK) == nil {
			list = append(list, bind{Source: path, Target: path, Dir: true, Writable: true})
		}
	}
	return list
}
