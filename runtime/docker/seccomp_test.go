//go:build linux

package docker

import (
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the seccomp profile anew")

// rule is one of the profile's, as Docker reads it.
type rule struct {
	Names    []string   `json:"names"`
	Action   string     `json:"action"`
	ErrnoRet *uint      `json:"errnoRet,omitempty"`
	Args     []argument `json:"args,omitempty"`
	Comment  string     `json:"comment,omitempty"`
}

type argument struct {
	Index    uint   `json:"index"`
	Value    uint64 `json:"value"`
	ValueTwo uint64 `json:"valueTwo"`
	Op       string `json:"op"`
}

const (
	equal  = "SCMP_CMP_EQ"
	masked = "SCMP_CMP_MASKED_EQ" // argument & value == valueTwo
)

// TestProfile holds the profile to the lists of runtime/linux: what a sandbox of
// an agent may call with any arguments, a container may, and of the rest only
// what is listed here.
func TestProfile(t *testing.T) {
	want := profile(t)
	if *update {
		require.NoError(t, os.WriteFile("seccomp.json", want, 0o644))
	}
	require.JSONEq(t, string(want), seccompProfile, "run go test ./runtime/docker -run TestProfile -update")
	for _, never := range []string{`"socket"`, `"connect"`, `"io_uring_setup"`, `"ptrace"`, `"bpf"`, `"unshare"`, `"mount"`, `"keyctl"`, `"userfaultfd"`, `"memfd_create"`, `"execveat"`} {
		require.NotContains(t, seccompProfile, never)
	}
}

func profile(t *testing.T) []byte {
	t.Helper()
	const (
		newNamespaces = 0x7E020080 // CLONE_NEW*
		unix, stream  = 1, 1
		seqpacket     = 5
		passCred      = 16
	)
	var free []string
	for _, f := range []string{"calls.go", "calls_amd64.go", "calls_arm64.go"} {
		free = append(free, callsIn(t, "../linux/"+f, "commonCalls")...)
		free = append(free, callsIn(t, "../linux/"+f, "machineCalls")...)
	}
	free = append(free, "capset") // gives up what it has not got
	slices.Sort(free)
	free = slices.Compact(free)
	allow := func(comment string, names ...string) rule {
		return rule{Names: names, Action: "SCMP_ACT_ALLOW", Comment: comment}
	}
	when := func(r rule, args ...argument) rule { r.Args = args; return r }
	one := func(call string, index uint, comment string, values ...uint64) (out []rule) {
		for _, v := range values {
			out = append(out, when(allow(comment, call), argument{Index: index, Value: v, Op: equal}))
		}
		return out
	}
	unknown := uint(38)
	rules := []rule{
		allow("harmless whatever the arguments are", free...),
		when(allow("no new namespaces", "clone"), argument{Index: 0, Value: newNamespaces, Op: masked}),
		{Names: []string{"clone3"}, Action: "SCMP_ACT_ERRNO", ErrnoRet: &unknown, Comment: "its arguments cannot be seen; the C library takes clone then"},
		when(allow("local pairs only", "socketpair"), argument{Index: 0, Value: unix, Op: equal}, argument{Index: 1, Value: 0xf, ValueTwo: stream, Op: masked}),
		when(allow("local pairs only", "socketpair"), argument{Index: 0, Value: unix, Op: equal}, argument{Index: 1, Value: 0xf, ValueTwo: seqpacket, Op: masked}),
		when(allow("who sends", "setsockopt"), argument{Index: 1, Value: 1, Op: equal}, argument{Index: 2, Value: passCred, Op: equal}),
	}
	rules = append(rules, one("ioctl", 1, "descriptors", 0x5450, 0x5451, 0x5421, 0x541b, 0x5401, 0x5413)...)
	rules = append(rules, one("fcntl", 1, "no signals and leases of files", 0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1031, 1032, 1033, 1034)...)
	rules = append(rules, one("prctl", 0, "of the process itself", 1, 2, 3, 4, 15, 16, 21, 22, 23, 30, 36, 37, 38, 39, 40, 47, 0x53564d41)...)
	for _, call := range []string{"prlimit64", "sched_setscheduler", "sched_setparam", "sched_setattr"} {
		rules = append(rules, one(call, 0, "of the process itself", 0)...)
	}
	rules = append(rules,
		when(allow("of the process itself", "setpriority"), argument{Index: 0, Value: 0, Op: equal}, argument{Index: 1, Value: 0, Op: equal}),
		when(allow("of the process itself", "ioprio_set"), argument{Index: 0, Value: 1, Op: equal}, argument{Index: 1, Value: 0, Op: equal}))
	for _, kind := range []uint64{0o010000, 0o100000, 0} {
		rules = append(rules,
			when(allow("no devices", "mknodat"), argument{Index: 2, Value: 0o170000, ValueTwo: kind, Op: masked}),
			when(allow("no devices", "mknod"), argument{Index: 1, Value: 0o170000, ValueTwo: kind, Op: masked}))
	}
	rules = append(rules, one("arch_prctl", 0, "thread-local storage", 0x1002, 0x1003)...)
	text, err := json.MarshalIndent(map[string]any{
		"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": unknown,
		"archMap": []map[string]any{
			{"architecture": "SCMP_ARCH_X86_64", "subArchitectures": []string{}},
			{"architecture": "SCMP_ARCH_AARCH64", "subArchitectures": []string{}},
		},
		"syscalls": rules,
	}, "", "  ")
	require.NoError(t, err)
	return append(text, '\n')
}

// callsIn reads a list of calls from a source of runtime/linux.
func callsIn(t *testing.T, file, list string) (names []string) {
	t.Helper()
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(source), "var "+list+" = []uintptr{")
	if !found {
		return nil
	}
	body, _, _ := strings.Cut(rest, "\n}")
	for _, m := range regexp.MustCompile(`unix\.SYS_([A-Z0-9_]+)`).FindAllStringSubmatch(body, -1) {
		names = append(names, strings.ToLower(m[1]))
	}
	return names
}
