package bundle

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	// pinnedPattern is a runtime with packages as a bundle names it, and runtimePattern as people may before it is packed.
	pinnedPattern  = regexp.MustCompile(`^([a-z][a-z0-9-]{0,62})@sha256:([0-9a-f]{64})$`)
	runtimePattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)
)

// IsRuntimeName says whether a runtime may be called so.
func IsRuntimeName(name string) bool { return runtimePattern.MatchString(name) }

// PinnedRuntime is how function.toml names a runtime with packages.
func PinnedRuntime(name, digest string) string { return name + "@sha256:" + digest }

// RuntimeDigest is the digest of the runtime with packages that the function runs in; empty: it runs in what agents have.
func (m *Manifest) RuntimeDigest() string {
	if found := pinnedPattern.FindStringSubmatch(m.Runtime); found != nil {
		return found[2]
	}
	return ""
}

// RuntimeName is the name of that runtime.
func (m *Manifest) RuntimeName() string {
	name, _, _ := strings.Cut(m.Runtime, "@")
	return name
}

func (m *Manifest) checkRuntime() error {
	switch {
	case m.Runtime == RuntimePython3, m.Runtime == RuntimeWasm, m.RuntimeDigest() != "":
		return nil
	case runtimePattern.MatchString(m.Runtime):
		return fmt.Errorf("runtime = %[1]q: which tree of that name? `ostraka runtime show %[1]s` prints the line with its digest; without packages it is %q, and %q for WebAssembly",
			m.Runtime, RuntimePython3, RuntimeWasm)
	}
	return fmt.Errorf("runtime = %.100q: the runtimes are %q, %q, and one with packages as NAME@sha256:DIGEST", m.Runtime, RuntimePython3, RuntimeWasm)
}
