//go:build linux

package main

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestTheLeastMemoryCounts(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	machine := file("MemFree: 5 kB\nMemTotal:       4000 kB\n")
	group := file("0::/a/b\n")
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  int64
	}{
		"nobody says":              {fstest.MapFS{}, 0},
		"the machine":              {fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": group, "sys/fs/cgroup/a/b/memory.max": file("max\n")}, 4000 * 1024},
		"a group":                  {fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": group, "sys/fs/cgroup/a/b/memory.max": file("1000\n")}, 1000},
		"a group above":            {fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": group, "sys/fs/cgroup/a/memory.max": file("900\n"), "sys/fs/cgroup/a/b/memory.max": file("1000\n")}, 900},
		"a container's own root":   {fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("800\n")}, 800},
		"more than there is":       {fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": group, "sys/fs/cgroup/a/b/memory.max": file("99999999999\n")}, 4000 * 1024},
		"groups of the old layout": {fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": file("5:memory:/a\n")}, 4000 * 1024},
	} {
		require.Equal(t, c.want, availableMemory(c.files), name)
	}
	require.Positive(t, availableMemory(os.DirFS("/")))
}
