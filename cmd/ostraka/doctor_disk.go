//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Free space, in bytes, below which a disk is too full.
const (
	diskTight = 5 << 30   // 5 GiB: a day of objects of a busy installation
	diskFull  = 256 << 20 // 256 MiB: less than one upload and a compiled module may take
)

// examineDisks looks at the folders that a server writes to.
func examineDisks(config serverConfig) []diagnosis {
	folders := [][2]string{{"disk for modules", config.CacheDir}, {"disk for temporary files", os.TempDir()}}
	if config.Objects.Dir != "" {
		folders = append([][2]string{{"disk for objects", config.Objects.Dir}}, folders...)
	}
	var found []diagnosis
	for _, f := range folders {
		free, err := freeBytes(f[1])
		if err != nil {
			found = append(found, failed(f[0], "name a folder that this user can reach", "%v", err))
			continue
		}
		found = append(found, judgeDisk(f[0], f[1], free))
	}
	return found
}

// freeBytes is what this user may write where a folder is, or is to be made.
func freeBytes(folder string) (int64, error) {
	path, err := filepath.Abs(folder)
	if err != nil {
		return 0, fmt.Errorf("finding %s: %w", folder, err)
	}
	for {
		var s unix.Statfs_t
		err := unix.Statfs(path, &s)
		if errors.Is(err, fs.ErrNotExist) && path != filepath.Dir(path) {
			path = filepath.Dir(path)
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("asking for the free space of %s: %w", path, err)
		}
		return int64(s.Bavail) * s.Bsize, nil
	}
}

func judgeDisk(check, folder string, free int64) diagnosis {
	switch {
	case free < diskFull:
		return failed(check, "make room, or name another folder", "%s free at %s; less than %s is too little", sizeOf(free), folder, sizeOf(diskFull))
	case free < diskTight:
		return warned(check, "make room before it is full", "%s free at %s", sizeOf(free), folder)
	}
	return fine(check, "%s free at %s", sizeOf(free), folder)
}
