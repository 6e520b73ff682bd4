package volume

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Limits of a fingerprint.
const (
	// MaxEntries is how many files and folders a volume with a fingerprint has: each is looked at again before a function that pins it runs.
	MaxEntries = 100_000
	// MaxBytes is how much is in them: all of it is read once.
	MaxBytes = 256 << 30
	// settled is how long ago a file must have been changed for its digest to be kept: clocks of file systems are coarse, and a second change
	// in the same tick would not show.
	settled = 2 * time.Second
)

// ErrTooLarge says that a volume is too large to have a fingerprint.
var ErrTooLarge = errors.New("it is too large for a fingerprint")

// Known are the digests of files as they were read last, by their paths in the volume.
type Known map[string]KnownFile

// KnownFile is a file that was read. While nothing of it has changed it is not read again.
type KnownFile struct {
	Inode    uint64    `json:"inode"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	Changed  time.Time `json:"changed"` // which, unlike the other, cannot be set back
	SHA256   string    `json:"sha256"`
}

// Fingerprint is the SHA-256 of what lies in a volume: the line "ostraka-volume/1" and, for each file and folder in the order of their paths, one of
//
//	d <path>
//	l <where a link leads> NUL <path>
//	f <size> <SHA-256> <path>
//
// each of which ends with a NUL. Two folders with the same names, sizes and bytes have the same one, whatever their owners. known are the digests that an
// earlier call has returned: of files with the same inode, size and times they are believed.
func (f *Folder) Fingerprint(ctx context.Context, known Known) (fingerprint string, now Known, err error) {
	root, err := f.root()
	if err != nil {
		return "", nil, fmt.Errorf("reading volume %s: %w", f.Name, err)
	}
	defer root.Close()
	p := printing{root: root, sum: newSum(), known: known, now: Known{}, began: time.Now()}
	if err := fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil || path == "." {
			return err
		}
		return p.add(ctx, path, d)
	}); err != nil {
		return "", nil, fmt.Errorf("reading volume %s: %w", f.Name, err)
	}
	return hex.EncodeToString(p.sum.Sum(nil)), p.now, nil
}

func newSum() hash.Hash {
	sum := sha256.New()
	_, _ = io.WriteString(sum, "ostraka-volume/1\x00") // a hash takes everything
	return sum
}

// printing is a fingerprint in the making.
type printing struct {
	root    *os.Root
	sum     hash.Hash
	known   Known
	now     Known
	began   time.Time
	entries int
	bytes   int64
}

func (p *printing) add(ctx context.Context, path string, d fs.DirEntry) error {
	if p.entries++; p.entries > MaxEntries {
		return fmt.Errorf("%w: there are more than %d files and folders in it", ErrTooLarge, MaxEntries)
	}
	switch {
	case d.IsDir():
		fmt.Fprintf(p.sum, "d %s\x00", path)
		return nil
	case d.Type() == fs.ModeSymlink:
		to, err := p.root.Readlink(filepath.FromSlash(path))
		fmt.Fprintf(p.sum, "l %s\x00%s\x00", to, path)
		return err
	case !d.Type().IsRegular():
		return fmt.Errorf("%.200q is neither a file nor a folder nor a link: a volume with it has no fingerprint", path)
	}
	file, err := p.digest(ctx, path)
	if err != nil {
		return err
	}
	if p.bytes += file.Size; p.bytes > MaxBytes {
		return fmt.Errorf("%w: there are more than %d bytes in it", ErrTooLarge, int64(MaxBytes))
	}
	fmt.Fprintf(p.sum, "f %d %s %s\x00", file.Size, file.SHA256, path)
	return nil
}

// digest is that of a file, which is read where it is not known.
func (p *printing) digest(ctx context.Context, path string) (KnownFile, error) {
	name := filepath.FromSlash(path)
	info, err := p.root.Lstat(name)
	if err != nil {
		return KnownFile{}, err
	}
	if !info.Mode().IsRegular() {
		return KnownFile{}, fmt.Errorf("%.200q was changed while it was read: what changes has no fingerprint", path)
	}
	file := KnownFile{Inode: inode(info), Size: info.Size(), Modified: info.ModTime().UTC(), Changed: changed(info)}
	if k, found := p.known[path]; found && k.Inode == file.Inode && k.Size == file.Size && k.Modified.Equal(file.Modified) && k.Changed.Equal(file.Changed) {
		p.now[path] = k
		return k, nil
	}
	if file.Size > MaxBytes-p.bytes {
		return file, fmt.Errorf("%w: there are more than %d bytes in it", ErrTooLarge, int64(MaxBytes))
	}
	if file.SHA256, err = p.read(ctx, name, info); err != nil {
		return file, err
	}
	if p.began.Sub(file.Modified) > settled {
		p.now[path] = file
	}
	return file, nil
}

// read reads a file that is as it was before when it has been read.
func (p *printing) read(ctx context.Context, name string, before fs.FileInfo) (string, error) {
	in, err := p.root.Open(name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(&cancelled{ctx, in}, before.Size()+1))
	if err != nil {
		return "", err
	}
	after, err := in.Stat()
	switch {
	case err != nil:
		return "", err
	case n != before.Size() || after.Size() != n || !after.ModTime().Equal(before.ModTime()) || !os.SameFile(before, after):
		return "", fmt.Errorf("%.200q was changed while it was read: what changes has no fingerprint", name)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// cancelled stops reading when the context ends.
type cancelled struct {
	ctx  context.Context
	from io.Reader
}

// Read implements io.Reader.
func (c *cancelled) Read(p []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	return c.from.Read(p)
}
