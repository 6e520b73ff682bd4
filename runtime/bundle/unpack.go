package bundle

import (
	"fmt"
	"os"
	"path"
)

// Unpack writes the bundle's files into dst, an existing empty directory that
// only the caller can write to. Files become read-only. It works through an
// os.Root: nothing is written outside dst even if dst is tampered with.
func (b *Bundle) Unpack(dst string) error {
	if err := b.unpack(dst); err != nil {
		return fmt.Errorf("unpacking the bundle: %w", err)
	}
	return nil
}

func (b *Bundle) unpack(dst string) error {
	root, err := os.OpenRoot(dst)
	if err != nil {
		return err
	}
	defer root.Close()
	return walk(b.archive,
		func(f File, content []byte) error { return writeFile(root, f, content) },
		func(string) error { return nil })
}

func writeFile(root *os.Root, f File, content []byte) error {
	if dir := path.Dir(f.Path); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	mode := os.FileMode(modeFile)
	if f.Executable {
		mode = modeExecutable
	}
	out, err := root.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = out.Write(content)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return err
}
