package service

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// maxManifest is the largest manifest that is read, in bytes: ours has a few hundred.
const maxManifest = 64 << 10

// Manifest is what an installation has made, so that exactly that is removed.
type Manifest struct {
	Version int    `json:"version"`
	Files   []File `json:"files"`
	// Folders were made for the files, the outermost first.
	Folders []string `json:"folders"`
	// User is the user that was made; "" where it was there before.
	User string `json:"user,omitempty"`
	// Enabled says that systemd was told to start the service.
	Enabled bool `json:"enabled"`
}

// File is a file that was made.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// manifestVersion is the version of the manifest's form.
const manifestVersion = 1

// ErrNotInstalled says that there is nothing to uninstall.
var ErrNotInstalled = errors.New("it is not installed as a service here")

func (o *Options) readManifest() (m Manifest, err error) {
	f, err := os.Open(o.at(o.Kind.manifestPath()))
	if errors.Is(err, fs.ErrNotExist) {
		return m, ErrNotInstalled
	}
	if err != nil {
		return m, fmt.Errorf("reading what was installed: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return m, fmt.Errorf("reading what was installed: %w", err)
	}
	return m, m.check(o.Kind)
}

func (m *Manifest) check(k *Kind) error {
	if m.Version != manifestVersion {
		return fmt.Errorf("the installation has a manifest of version %d, and this program knows version %d: uninstall with the program that installed it", m.Version, manifestVersion)
	}
	for _, f := range m.Files {
		if !slices.Contains(k.knownFiles(), f.Path) {
			return fmt.Errorf("the manifest names %q, which an installation does not make: somebody has edited it", f.Path)
		}
	}
	for _, f := range m.Folders {
		if !slices.Contains(k.knownFolders(), f) {
			return fmt.Errorf("the manifest names the folder %q, which an installation does not make: somebody has edited it", f)
		}
	}
	if m.User != "" && m.User != k.Name {
		return fmt.Errorf("the manifest names the user %q, which an installation does not make: somebody has edited it", m.User)
	}
	return nil
}

func (o *Options) writeManifest(m Manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("writing down what was installed: %w", err)
	}
	if err := os.WriteFile(o.at(o.Kind.manifestPath()), append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing down what was installed: %w", err)
	}
	return nil
}

func digestOfFile(path string) (string, error) {
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
