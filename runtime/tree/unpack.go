package tree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"slices"
)

// Open opens a piece. What it reads is believed no more than the network is.
type Open func(ctx context.Context, p Piece) (io.ReadCloser, error)

// Unpack writes a checked manifest's files into dst, an existing empty folder that no other user can write to. Each piece is checked before
// anything of it is written.
func Unpack(ctx context.Context, m *Manifest, dst string, open Open) error {
	root, err := os.OpenRoot(dst)
	if err != nil {
		return fmt.Errorf("unpacking a runtime: %w", err)
	}
	defer root.Close()
	in := &pieces{ctx: ctx, left: m.Pieces, open: open}
	for _, e := range m.Entries {
		if err := writeEntry(root, e, in); err != nil {
			return fmt.Errorf("unpacking a runtime: %w", err)
		}
	}
	return nil
}

func writeEntry(root *os.Root, e Entry, in io.Reader) error {
	if err := makeFolders(root, path.Dir(e.Path)); err != nil {
		return err
	}
	if e.Link != "" {
		return root.Symlink(e.Link, e.Path)
	}
	out, err := root.OpenFile(e.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, e.mode())
	if err != nil {
		return err
	}
	_, err = io.CopyN(out, in, e.Size)
	if err == nil {
		err = out.Chmod(e.mode()) // whatever the umask is
	}
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return err
}

// makeFolders makes a folder and those above it, which others may read whatever the umask is.
func makeFolders(root *os.Root, dir string) error {
	if _, err := root.Stat(dir); err == nil {
		return nil
	}
	if err := makeFolders(root, path.Dir(dir)); err != nil {
		return err
	}
	if err := root.Mkdir(dir, 0o755); err != nil {
		return err
	}
	return root.Chmod(dir, 0o755)
}

func (e *Entry) mode() os.FileMode {
	if e.Executable {
		return 0o555
	}
	return 0o444
}

// pieces reads the contents of all pieces one after the other.
type pieces struct {
	ctx  context.Context //nolint:containedctx // of one Unpack
	left []Piece
	open Open
	at   []byte // what is left of the piece that was opened last
}

// Read implements io.Reader.
func (p *pieces) Read(into []byte) (int, error) {
	for len(p.at) == 0 {
		if len(p.left) == 0 {
			return 0, io.ErrUnexpectedEOF
		}
		if p.ctx.Err() != nil {
			return 0, context.Cause(p.ctx)
		}
		data, err := readPiece(p.ctx, p.left[0], p.open)
		if err != nil {
			return 0, err
		}
		p.at, p.left = data, p.left[1:]
	}
	n := copy(into, p.at)
	p.at = p.at[n:]
	return n, nil
}

func readPiece(ctx context.Context, p Piece, open Open) ([]byte, error) {
	r, err := open(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("opening piece %.12s…: %w", p.Digest, err)
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, p.Size+1))
	if err != nil {
		return nil, fmt.Errorf("reading piece %.12s…: %w", p.Digest, err)
	}
	if int64(len(data)) != p.Size || DigestOf(data) != p.Digest {
		return nil, fmt.Errorf("%w: %.12s…", errPiece, p.Digest)
	}
	return data, nil
}

// Compare says whether a folder holds exactly what a manifest lists: paths, sizes, rights, links and contents.
func Compare(ctx context.Context, m *Manifest, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	found, err := list(ctx, root)
	if err != nil {
		return err
	}
	if !slices.Equal(found, m.Entries) {
		return errors.New("its files are not those that its manifest lists")
	}
	c := &comparer{left: m.Pieces}
	for _, e := range m.Entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if e.Link != "" {
			continue
		}
		if err := copyFile(root, e, c); err != nil {
			return err
		}
	}
	return nil // checkPieces has seen that the pieces end where the files do
}

// comparer compares what is written to it with pieces, one after the other.
type comparer struct {
	left []Piece
	sum  hash.Hash
	n    int64
}

// Write implements io.Writer.
func (c *comparer) Write(data []byte) (n int, err error) {
	for len(data) > 0 {
		if c.sum == nil {
			c.sum, c.n = sha256.New(), 0
		}
		some := min(int64(len(data)), c.left[0].Size-c.n)
		c.sum.Write(data[:some])
		c.n, n, data = c.n+some, n+int(some), data[some:]
		if c.n < c.left[0].Size {
			continue
		}
		if hex.EncodeToString(c.sum.Sum(nil)) != c.left[0].Digest {
			return n, errPiece
		}
		c.sum, c.left = nil, c.left[1:]
	}
	return n, nil
}
