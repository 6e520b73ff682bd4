//go:build (linux && (amd64 || arm64)) || (darwin && (amd64 || arm64)) || (windows && amd64)

package python

import (
	"io/fs"
	_ "unsafe" // for go:linkname

	_ "github.com/kluctl/go-embed-python/python" // carries the files
)

// moduleFiles are the files that go-embed-python carries. The module offers no
// way to read them: only one that unpacks all of it, with what we prune, three
// copies of the interpreter, and without a check of what lies there already.
// Should a later version of the module call the variable something else, this
// one is nil, embedded says so, and a test fails.
//
//go:linkname moduleFiles github.com/kluctl/go-embed-python/python/internal/data.Data
var moduleFiles fs.FS

// embedded is the interpreter that this program carries.
func embedded() (source, error) {
	if moduleFiles == nil {
		return source{}, errNotEmbedded()
	}
	m, err := parseManifest(manifestText)
	if err != nil {
		return source{}, err
	}
	return source{files: moduleFiles, manifest: m, compile: compileSources}, nil
}
