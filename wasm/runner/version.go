package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
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
	digest, err := digestOf(executable)
	if err != nil {
		return "", fmt.Errorf("naming the wasm engine by this binary's digest: %w", err)
	}
	return "wazero/" + digest + "/" + runtime.GOARCH, nil
})

func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
