//go:build unix

package python

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ownedByUs refuses what belongs to another user.
func ownedByUs(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if ok && int64(stat.Uid) != int64(os.Geteuid()) {
		return fmt.Errorf("belongs to user %d", stat.Uid)
	}
	return nil
}
