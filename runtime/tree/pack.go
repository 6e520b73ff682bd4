package tree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// Pack makes the manifest of a folder. What about says of the interpreter is taken over; each piece is handed to put, in order, as soon as it
// is made: its bytes are the caller's no longer than the call lasts.
func Pack(ctx context.Context, dir string, about Manifest, put func(Piece, []byte) error) (m Manifest, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return m, fmt.Errorf("packing a runtime: %w", err)
	}
	defer root.Close()
	m = about
	m.Format, m.Entries, m.Pieces = Format, []Entry{}, []Piece{}
	if m.Entries, err = list(ctx, root); err != nil {
		return m, fmt.Errorf("packing a runtime: %w", err)
	}
	if err := errors.Join(checkBytes(m.Entries), m.checkEntries()); err != nil { // before anything is read
		return m, fmt.Errorf("packing a runtime: %w", err)
	}
	c := &cutter{put: func(data []byte) error {
		p := Piece{Digest: DigestOf(data), Size: int64(len(data))}
		m.Pieces = append(m.Pieces, p)
		return put(p, data)
	}}
	if err := cut(ctx, root, m.Entries, c); err != nil {
		return m, fmt.Errorf("packing a runtime: %w", err)
	}
	if err := m.check(); err != nil {
		return m, fmt.Errorf("packing a runtime: %w", err)
	}
	return m, nil
}

// namedLargest is how many packages an error names of a tree that is too large.
const namedLargest = 3

// checkBytes refuses a tree that is too large, and says what makes it so.
func checkBytes(entries []Entry) error {
	var all int64
	of := map[string]int64{}
	for _, e := range entries {
		all += e.Size
		of[packageOf(e.Path)] += e.Size
	}
	if all <= MaxTreeBytes {
		return nil
	}
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
	var largest []string
	for _, name := range names[:min(namedLargest, len(names))] {
		largest = append(largest, fmt.Sprintf("%s has %d", name, of[name]))
	}
	return fmt.Errorf("the files have more than %d bytes, %d: %s: leave packages out that no function imports", MaxTreeBytes, all, strings.Join(largest, ", "))
}

// list finds the files and links of a folder, in order of their paths.
func list(ctx context.Context, root *os.Root) (entries []Entry, err error) {
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case d.IsDir():
			return nil
		case len(entries) >= MaxEntries:
			return fmt.Errorf("more than %d files: leave packages out that no function imports", MaxEntries)
		}
		e, err := entryOf(root, name, d)
		entries = append(entries, e)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return entries, nil
}

func entryOf(root *os.Root, name string, d fs.DirEntry) (e Entry, err error) {
	e.Path = name
	switch {
	case d.Type() == fs.ModeSymlink:
		e.Link, err = root.Readlink(name)
		return e, err
	case !d.Type().IsRegular():
		return e, fmt.Errorf("%s is a device or another special file: a runtime holds files and links only", name)
	}
	info, err := d.Info()
	if err != nil {
		return e, err
	}
	e.Size, e.Executable = info.Size(), info.Mode()&0o111 != 0
	return e, nil
}

// cut reads all files one after the other into the cutter.
func cut(ctx context.Context, root *os.Root, entries []Entry, c *cutter) error {
	c.sizes = map[string]int64{}
	for _, e := range entries {
		c.sizes[packageOf(e.Path)] += e.Size
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := c.begin(e.Path); err != nil {
			return err
		}
		if e.Link != "" {
			continue
		}
		if err := copyFile(root, e, c); err != nil {
			return err
		}
	}
	return c.flush()
}

func copyFile(root *os.Root, e Entry, into io.Writer) error {
	file, err := root.Open(e.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	n, err := io.Copy(into, io.LimitReader(file, e.Size+1))
	if err != nil {
		return err
	}
	if n != e.Size {
		return fmt.Errorf("%s has changed meanwhile", e.Path)
	}
	return nil
}

// cutter makes pieces of what is written to it.
type cutter struct {
	put   func([]byte) error
	piece []byte
	of    string           // the package that is being written
	sizes map[string]int64 // of all packages
}

// begin says which file comes next. A large package has its own pieces, and small ones share one until it is large enough: so a change in one
// package moves the cuts of no other.
func (c *cutter) begin(file string) error {
	before, of := c.of, packageOf(file)
	if of == before {
		return nil
	}
	c.of = of
	if max(c.sizes[before], c.sizes[of], int64(len(c.piece))) < cutAfter {
		return nil
	}
	return c.flush()
}

// Write implements io.Writer.
func (c *cutter) Write(data []byte) (n int, err error) {
	for len(data) > 0 {
		some := min(len(data), MaxPieceBytes-len(c.piece))
		c.piece = append(c.piece, data[:some]...)
		n, data = n+some, data[some:]
		if len(c.piece) == MaxPieceBytes {
			if err := c.flush(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func (c *cutter) flush() error {
	if len(c.piece) == 0 {
		return nil
	}
	err := c.put(c.piece)
	c.piece = c.piece[:0]
	return err
}

// packageOf names what a file belongs to: a package below a folder of packages, else a folder two steps below the tree.
func packageOf(file string) string {
	parts := strings.Split(file, "/")
	for i, part := range parts {
		if (part == "site-packages" || part == "dist-packages") && i+1 < len(parts) {
			return path.Join(parts[:i+2]...)
		}
	}
	return path.Join(parts[:min(2, len(parts)-1)]...)
}

// errPiece says that a piece is not what its digest names.
var errPiece = errors.New("a piece does not have the digest that the manifest names")
