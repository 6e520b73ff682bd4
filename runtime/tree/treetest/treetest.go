// Package treetest makes runtimes for tests of other packages: from the Debian packages on this machine, and from wheels.
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

	"github.com/ostraka/ostraka/runtime/pip"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/runtime/tree"
)

// Runtime is one that a test has made.
type Runtime struct {
	Manifest tree.Manifest
	Digest   string
	Objects  map[string][]byte // the manifest and the pieces, by their digests
}

var numpy = sync.OnceValues(func() (*Runtime, error) {
	dir, err := os.MkdirTemp("", "ostraka-numpy-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is in the system's folder for what may be lost
	return pack(dir)
})

func pack(dir string) (*Runtime, error) {
	ctx := context.Background()
	return packFrom(ctx, tree.Source{Root: "/", Python: "/usr/bin/python3", Packages: []string{"numpy"}}, dir)
}

func packFrom(ctx context.Context, from tree.Source, dir string) (*Runtime, error) {
	found, err := tree.Collect(ctx, from, dir)
	if err != nil {
		return nil, err
	}
	if err := tree.Compile(ctx, &found, dir); err != nil {
		return nil, err
	}
	n := &Runtime{Objects: map[string][]byte{}}
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

// OfWheels makes a runtime of the interpreter that this program carries, and of a package in a folder of wheels.
func OfWheels(t testing.TB, wheels, wanted string) *Runtime {
	t.Helper()
	own, err := python.Open(t.Context(), python.Options{})
	require.NoError(t, err)
	work, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	requirements, site, into := filepath.Join(work, "requirements.txt"), filepath.Join(work, "site"), filepath.Join(work, "tree")
	require.NoError(t, os.WriteFile(requirements, []byte(wanted), 0o600))
	require.NoError(t, os.Mkdir(into, 0o700))
	_, err = pip.Install(t.Context(), own, pip.Wanted{Requirements: requirements, FindLinks: []string{wheels}}, site)
	require.NoError(t, err)
	r, err := packFrom(t.Context(), tree.Source{Root: "/", Python: own.Interpreter, Site: site}, into)
	require.NoError(t, err)
	return r
}

// OfNumpy makes a runtime of this machine's Python with numpy, once for all tests of a package.
func OfNumpy(t testing.TB) *Runtime {
	t.Helper()
	n, err := numpy()
	require.NoError(t, err)
	return n
}

// Fetch is where a cache has it from.
func (n *Runtime) Fetch(_ context.Context, digest string) (io.ReadCloser, error) {
	data, there := n.Objects[digest]
	if !there {
		return nil, fmt.Errorf("there is no object %s", digest)
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// Folder writes a function that runs in the runtime, and says where.
func (n *Runtime) Folder(t testing.TB, source, manifest string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte(source), 0o600))
	text := fmt.Sprintf("name = \"f\"\nruntime = \"numpy@sha256:%s\"\n%s", n.Digest, manifest)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "function.toml"), []byte(text), 0o600))
	return dir
}
