package verify

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestClass(t *testing.T) {
	server := Machine{System: "linux", Arch: "x86_64", Libc: "glibc 2.36", Interpreter: "cpython 3.14.6 (embedded:0123456789abcdef)"}
	agent := Machine{System: "Linux", Arch: "amd64", Libc: "glibc 2.36", Interpreter: "cpython 3.14.6"}
	require.Equal(t, "linux/amd64, glibc 2.36, cpython 3.14.6", server.Class())
	require.Equal(t, server.Class(), agent.Class(), "the server and an agent of its platform are of one class")
	for want, m := range map[string]Machine{
		"linux/arm64, musl 1.2.5, cpython 3.14.6": {System: "linux", Arch: "aarch64", Libc: " musl  1.2.5 ", Interpreter: "CPython 3.14.6 (system)"},
		"darwin/arm64, cpython 3.14.6":            {System: "darwin", Arch: "arm64", Interpreter: "cpython 3.14.6"},
		"amd64, pypy 7.3":                         {Arch: "amd64", Interpreter: "pypy 7.3"},
		"":                                        {System: "linux", Arch: "amd64", Libc: "glibc 2.36"},
	} {
		require.Equal(t, want, m.Class())
	}
	require.Empty(t, Machine{Interpreter: "cpython 3.14.6"}.Class(), "an unknown architecture is no class")
	require.Empty(t, Machine{Arch: "amd64", Interpreter: "(nothing)"}.Class())
}

func TestBlock(t *testing.T) {
	for address, want := range map[string]string{
		"203.0.113.7": "203.0.113.0/24", "203.0.113.255": "203.0.113.0/24", "203.0.114.0": "203.0.114.0/24",
		"2a01:4f8:1:2::7": "2a01:4f8:1::/48", "2a01:4f8:1:ffff::1": "2a01:4f8:1::/48", "2a01:4f8:2::": "2a01:4f8:2::/48",
		"::ffff:203.0.113.7": "203.0.113.0/24",
		"127.0.0.1":          "", "::1": "", "10.1.2.3": "", "192.168.1.1": "", "172.16.0.1": "", "fd00::1": "", "169.254.1.1": "", "fe80::1%eth0": "",
		"100.64.0.1": "", "100.127.255.255": "", "100.128.0.0": "100.128.0.0/24", "0.0.0.0": "", "::": "", "224.0.0.1": "", "::ffff:10.0.0.1": "",
	} {
		require.Equal(t, want, Block(netip.MustParseAddr(address)), address)
	}
	require.Empty(t, Block(netip.Addr{}), "an address that is not known")
	rapid.Check(t, func(t *rapid.T) {
		from := netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "address")))
		if block := Block(from); block != "" {
			require.True(t, netip.MustParsePrefix(block).Contains(from))
		}
	})
}
