//go:build linux

package harness

import "golang.org/x/sys/unix"

// spread is what a shard has added to the file systems that share its limits,
// all together. Unlike a walk, the file systems count removed files that are
// still open, and files by the pages that they take.
func (f *flight) spread() space {
	now := taken(&f.shard)
	added := space{bytes: now.bytes - f.taken.bytes, inodes: now.inodes - f.taken.inodes}
	if f.cfg.Manifest.Script != "" { // its result passes through the workspace
		added.bytes -= f.limits.OutputBytes
		added.inodes--
	}
	return added
}

// taken is what is taken of the file systems that a shard can write, where
// there are several; else nothing.
func taken(shard *Shard) (all space) {
	for _, mount := range shard.Mounts {
		var s unix.Statfs_t
		if err := unix.Statfs(mount, &s); err != nil {
			continue // its own size holds
		}
		all.bytes += int64(s.Blocks-s.Bfree) * s.Bsize
		all.inodes += int64(s.Files - s.Ffree)
	}
	return all
}
