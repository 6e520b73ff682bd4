//go:build linux

package linux

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseHierarchy(t *testing.T) {
	tests := map[string]struct {
		mounts, self string
		v1           map[string]string
		v2           string
	}{
		"version 2": {
			"30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/user.slice/agent.scope\n",
			map[string]string{},
			"/sys/fs/cgroup/user.slice/agent.scope",
		},
		"version 1 beside 2": {
			"31 23 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n32 23 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n33 23 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			"4:memory:/a/b\n2:cpu,cpuacct:/\n1:name=systemd:/\n0::/\n",
			map[string]string{"cpu": "/sys/fs/cgroup/cpu,cpuacct", "cpuacct": "/sys/fs/cgroup/cpu,cpuacct", "memory": "/sys/fs/cgroup/memory/a/b"},
			"/sys/fs/cgroup/unified",
		},
		"a container that sees its own part": {
			"30 23 0:26 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", "4:memory:/docker/x/inner\n",
			map[string]string{"memory": "/sys/fs/cgroup/memory/inner"},
			"",
		},
		"nothing":  {"", "", map[string]string{}, ""},
		"nonsense": {"a - \n - \n1 2 3\n", "x\n::\n", map[string]string{}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := parseHierarchy(test.mounts, test.self)
			require.Equal(t, test.v1, h.v1)
			require.Equal(t, test.v2, h.v2)
		})
	}
}

func TestLeftovers(t *testing.T) {
	mine := groupPrefix + strconv.Itoa(os.Getpid()) + "-"
	for name, left := range map[string]bool{
		mine + StartedAt(os.Getpid()) + "-1": false, // this process lives
		mine + "1-1":                         true,  // another one had its number
		groupPrefix + "4194305-5-1":          true,  // there can be no such process
		groupPrefix + "x-5-1":                false, // not one of ours
		"system.slice":                       false,
		groupPrefix + "1":                    false,
	} {
		require.Equal(t, left, leftover(name), name)
	}
}

func TestUserNumbers(t *testing.T) {
	first, err := slotsIn("         0          0 4294967295\n")
	require.NoError(t, err)
	require.Equal(t, firstUID, first)
	first, err = slotsIn("0 100000 65536\n")
	require.NoError(t, err)
	require.LessOrEqual(t, first+MaxSlots, 65520)
	_, err = slotsIn("0 1000 1\n")
	require.ErrorContains(t, err, "ordinary user")
	_, err = slotsIn("nonsense\n")
	require.Error(t, err)
}

func TestWithoutInner(t *testing.T) {
	got := withoutInner([]bind{{Target: "/python", Dir: true}, {Target: "/python/lib/x.so"}, {Target: "/lib/a.so"}, {Target: "/lib/a.so"}, {Target: "/pythonic"}})
	require.Equal(t, []bind{{Target: "/python", Dir: true}, {Target: "/lib/a.so"}, {Target: "/pythonic"}}, got)
}

// TestFiltersFit: the kernel takes at most 4096 instructions, and jumps of 255.
func TestFiltersFit(t *testing.T) {
	require.Less(t, len(sandboxFilter(true, true)), 4096)
	require.Less(t, len(sandboxFilter(false, true)), 4096)
	filter, own := shardFilter()
	require.Zero(t, len(filter)%8)
	require.Len(t, own, 4, "kill, tgkill and two ways to queue a signal")
}

// TestMarksOfAContainer: a virtual machine that was made from a container's image bears the marks, and is none.
func TestMarksOfAContainer(t *testing.T) {
	root := t.TempDir()
	require.False(t, containerMarks(root))
	require.NoError(t, os.WriteFile(filepath.Join(root, ".dockerenv"), nil, 0o600))
	require.True(t, containerMarks(root))

	first := map[string]string{"pid": "pid:[4026531836]", "uts": "uts:[4026531838]", "ipc": "ipc:[4026531839]", "cgroup": "cgroup:[4026531835]"}
	for _, other := range []string{"", "pid", "uts", "ipc", "cgroup"} {
		got := ownsTheMachine(func(path string) (string, error) {
			name := filepath.Base(path)
			if name == other {
				return name + ":[4026532201]", nil
			}
			return first[name], nil
		})
		require.Equal(t, other == "", got, other)
	}
	require.False(t, ownsTheMachine(func(string) (string, error) { return "", os.ErrNotExist }))
}
