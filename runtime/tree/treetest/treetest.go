// Package treetest makes runtimes for tests of other packages from the Debian packages on this machine.
package treetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/tree"
)

// Numpy is a runtime of this machine's Python with numpy.
type Numpy struct {
	Manifest tree.Manifest
	Digest   string
	Objects  map[string][]byte // the manifest and the pieces, by their digests
}

var numpy = sync.OnceValues(func() (*Numpy, error) {
	dir, err := os.MkdirTemp("", "ostraka-numpy-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is in the system's folder for what may be lost
	return pack(dir)
})

func pack(dir string) (*Numpy, error) {
	ctx := context.Background()
	found, err := tree.Collect(ctx, tree.Source{Root: "/", Python: "/usr/bin/python3", Packages: []string{"numpy"}}, dir)
	if err != nil {
		return nil, err
	}
	if err := tree.Compile(ctx, &found, dir); err != nil {
		return nil, err
	}
	n := &Numpy{Objects: map[string][]byte{}}
	n.Manifest, err = tree.Pack(ctx, dir, found.About, func(p tree.Piece, data []byte) error {
		n.Objects[p.Digest] = bytes.Clone(data)
		return nil
	})
	if err != nil {
		return nil, err
	}
	manifest, err := n.Manifest.Encode()
	n.Digest = tree.DigestOf(manifest)
	n.Objects[n.Digest] = manifest
	return n, err
}

// OfNumpy makes it, once for all tests of a package.
func OfNumpy(t testing.TB) *Numpy {
	t.Helper()
	n, err := numpy()
	require.NoError(t, err)
	return n
}

// Fetch is where a cache has it from.
func (n *Numpy) Fetch(_ context.Context, digest string) (io.ReadCloser, error) {
	data, there := n.Objects[digest]
	if !there {
		return nil, fmt.Errorf("there is no object %s", digest)
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// Folder writes a function that runs in the runtime, and says where.
func (n *Numpy) Folder(t testing.TB, source, manifest string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte(source), 0o600))
	text := fmt.Sprintf("name = \"f\"\nruntime = \"numpy@sha256:%s\"\n%s", n.Digest, manifest)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "function.toml"), []byte(text), 0o600))
	return dir
}
