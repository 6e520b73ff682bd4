package verify

import (
	"net/netip"
	"strings"
)

// Machine is what an agent or the server says about what it executes shards on.
type Machine struct {
	System      string // such as linux
	Arch        string // such as amd64 or x86_64
	Libc        string // such as "glibc 2.36"
	Interpreter string // such as "cpython 3.14.6 (embedded:0123456789abcdef)"
}

// Class names the platform of a machine, for Attempt.Class: two machines of one
// class have every reason to give the same answers. It is empty, which means
// unknown, where the architecture or the interpreter was not said. What stands
// in brackets behind the interpreter's version is where it was found, and does
// not tell platforms apart.
func (m Machine) Class() string {
	interpreter, _, _ := strings.Cut(m.Interpreter, "(")
	interpreter, arch := plain(interpreter), plain(m.Arch)
	if arch == "" || interpreter == "" {
		return ""
	}
	if usual, known := architectures[arch]; known {
		arch = usual
	}
	parts := []string{strings.TrimPrefix(plain(m.System)+"/"+arch, "/")}
	if libc := plain(m.Libc); libc != "" {
		parts = append(parts, libc)
	}
	return strings.Join(append(parts, interpreter), ", ")
}

// ClassWasm is the one class of all machines where a function is in WebAssembly: its answers are the same on each.
const ClassWasm = "wasm"

// ClassOfRuntime is the class of machines of a platform where a function brings its interpreter and libraries along: what else they have
// does not come into its answers.
func ClassOfRuntime(platform string) string { return "runtime, " + platform }

// architectures are the names that others than Go have for them.
var architectures = map[string]string{"x86_64": "amd64", "aarch64": "arm64", "i386": "386", "i686": "386"}

func plain(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// The blocks of addresses that one hand is taken to hold, in bits: what a
// provider gives to one customer.
const (
	BlockBitsIPv4 = 24
	BlockBitsIPv6 = 48
)

// carrierNAT is shared by a provider's customers (RFC 6598): it says as little
// about who somebody is as a private address.
var carrierNAT = netip.MustParsePrefix("100.64.0.0/10")

// Block names the block of addresses that an agent speaks from, for
// Attempt.Block. It is empty for addresses that say nothing about where in the
// world it is: those of the machine itself and of private networks.
func Block(from netip.Addr) string {
	from = from.Unmap().WithZone("")
	bits := BlockBitsIPv6
	switch {
	case !from.IsGlobalUnicast() || from.IsPrivate() || carrierNAT.Contains(from):
		return ""
	case from.Is4():
		bits = BlockBitsIPv4
	}
	block, err := from.Prefix(bits)
	if err != nil {
		return ""
	}
	return block.String()
}
