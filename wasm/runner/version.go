package runner

import (
	"crypto/sha256"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

const enginePath = "github.com/tetratelabs/wazero"

// Engine names the compiler: its version and the machine that it compiles for.
// It is part of the compile cache's key. A binary whose build information does
// not tell the version (tests) is named by its own digest instead: compiled code
// of another version must never be loaded.
var Engine = sync.OnceValues(func() (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == enginePath && d.Replace == nil {
				return "wazero/" + d.Version + "/" + runtime.GOARCH, nil
			}
		}
	}
	binary, err := os.ReadFile(executable())
	if err != nil {
		return "", fmt.Errorf("naming the wasm engine by this binary's digest: %w", err)
	}
	return fmt.Sprintf("wazero/%x/%s", sha256.Sum256(binary), runtime.GOARCH), nil
})
