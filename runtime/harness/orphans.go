//go:build linux

package harness

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"syscall"
)

// markName is the variable that marks every process of a session. Children
// inherit it, however often they fork.
const markName = "OSTRAKA_SANDBOX"

// maxOrphanPasses bounds the hunt for processes that fork while they are killed.
const maxOrphanPasses = 100

var errOrphans = errors.New("processes of the function are still there after killing them repeatedly")

// killMarked kills every process that carries the mark, until none is left. The
// zygote normally leaves none; this is for when it was killed itself.
func killMarked(mark string) error {
	want := []byte(markName + "=" + mark)
	clean := 0
	for range maxOrphanPasses {
		pids, err := marked(want)
		if err != nil {
			return err
		}
		// The process table is not read at one moment: one that was forked while it was read may be missing. It cannot be missing twice,
		// since its parent is dead by then.
		if len(pids) == 0 {
			if clean++; clean == 2 {
				return nil
			}
			continue
		}
		clean = 0
		for _, pid := range pids {
			// It may have gone meanwhile, which is as good.
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return errOrphans
}

// killBelow kills what descends from a process, until nothing does or it has been
// tried often enough. The process itself collects its orphans, so that none
// escapes it; their parents can be read where their environment cannot.
func killBelow(root int) {
	for range maxOrphanPasses {
		table, err := processes()
		if err != nil {
			return
		}
		found := descendants(table, root)
		if len(found) == 0 {
			return
		}
		for _, pid := range found {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have gone meanwhile, which is as good
		}
	}
}

// descendants are the processes below one, zombies left out: only their parent
// can do something about them.
func descendants(table []proc, root int) (found []int) {
	below := map[int]bool{root: true}
	for grown := true; grown; {
		grown = false
		for _, p := range table {
			if below[p.parent] && !below[p.pid] {
				below[p.pid], grown = true, true
				if p.rss > 0 {
					found = append(found, p.pid)
				}
			}
		}
	}
	return found
}

func marked(want []byte) ([]int, error) {
	table, err := processes()
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, p := range table {
		environ, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/environ")
		if err != nil || p.pid == os.Getpid() {
			continue
		}
		for _, entry := range bytes.Split(environ, []byte{0}) {
			if bytes.Equal(entry, want) {
				pids = append(pids, p.pid)
			}
		}
	}
	return pids, nil
}
