package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/migrations"
)

// Format is the number of the layout that this program writes. It reads no other.
const Format = 1

// The names in a folder.
const (
	manifestName   = "manifest.json"
	unfinishedName = "UNFINISHED"
	databaseName   = "database.dump"
	listName       = "objects.list"
	objectsName    = "objects"
)

// maxManifest bounds what is read of a manifest, which has a line for each project.
const maxManifest = 64 << 20

// ErrUnfinished says that a folder holds a backup that was cut off.
var ErrUnfinished = errors.New("the backup is not finished")

// ErrChanged says that something in a folder is not what the manifest says.
var ErrChanged = errors.New("the backup is not what its manifest says")

// Piece is a file of a backup.
type Piece struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Elsewhere is what a server needs and no backup has.
type Elsewhere struct {
	What  string `json:"what"`
	Where string `json:"where"`
}

// Objects says which objects a backup has.
type Objects struct {
	Count   int64 `json:"count"`
	Bytes   int64 `json:"bytes"`
	Missing int64 `json:"missing"` // that the database refers to, and the object store did not have
	List    Piece `json:"list"`
}

// Manifest says what a backup is. It is written last.
type Manifest struct {
	Format     int                 `json:"format"`
	Program    string              `json:"program"`  // the version that made it
	TakenAt    time.Time           `json:"taken_at"` // the moment that the database is of, by its own clock
	FinishedAt time.Time           `json:"finished_at"`
	Postgres   string              `json:"postgres"` // the server's version
	PgDump     int                 `json:"pg_dump"`  // the version of the program that copied the database: none that is older reads it
	Tables     int64               `json:"tables"`
	Schemas    []migrations.Schema `json:"schemas"`
	Projects   []uuid.UUID         `json:"projects"`
	Database   Piece               `json:"database"`
	Objects    Objects             `json:"objects"`
	Elsewhere  []Elsewhere         `json:"elsewhere"`
}

// Read reads the manifest of a folder, and returns its own digest with it.
func Read(dir string) (m Manifest, digest string, err error) {
	f, err := os.Open(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(dir, unfinishedName)); err == nil {
			return m, "", fmt.Errorf("reading %s: %w", dir, ErrUnfinished)
		}
		return m, "", fmt.Errorf("reading %s: there is no %s in it: %w", dir, manifestName, fs.ErrNotExist)
	}
	if err != nil {
		return m, "", fmt.Errorf("reading the manifest: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return m, "", fmt.Errorf("reading the manifest: %w", err)
	}
	m, err = parseManifest(text)
	if err != nil {
		return m, "", fmt.Errorf("reading %s: %w", filepath.Join(dir, manifestName), err)
	}
	sum := sha256.Sum256(text)
	return m, hex.EncodeToString(sum[:]), nil
}

// parseManifest takes only what this program could have written: a folder may have been on other people's machines.
func parseManifest(text []byte) (m Manifest, err error) {
	if len(text) > maxManifest {
		return m, fmt.Errorf("it has more than %d bytes", maxManifest)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return Manifest{Format: formatOf(text)}, fmt.Errorf("it is no manifest: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return m, errors.New("something follows the manifest")
	}
	return m, m.check()
}

// formatOf is the format of a manifest that has more than this program knows.
func formatOf(text []byte) int {
	var m struct {
		Format int `json:"format"`
	}
	_ = json.Unmarshal(text, &m) // 0 where it is none
	return m.Format
}

func (m Manifest) check() error {
	if m.Format != Format {
		return fmt.Errorf("it has format %d, and this program reads %d", m.Format, Format)
	}
	for _, p := range []struct {
		is   Piece
		name string
	}{{m.Database, databaseName}, {m.Objects.List, listName}} {
		if p.is.Name != p.name || p.is.Bytes < 0 {
			return fmt.Errorf("it names %q where %s belongs", p.is.Name, p.name)
		}
		if err := blob.CheckDigest(p.is.SHA256); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	for _, project := range m.Projects {
		if project == uuid.Nil {
			return errors.New("it names a project without an ID")
		}
	}
	return nil
}

// write puts the manifest into the folder, whole and durable, which makes it a backup.
func (m Manifest) write(dir string) (digest string, err error) {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return "", fmt.Errorf("encoding the manifest: %w", err)
	}
	text = append(text, '\n')
	path := filepath.Join(dir, manifestName)
	if err := writeDurably(path+".new", text); err != nil {
		return "", fmt.Errorf("writing the manifest: %w", err)
	}
	if err := errors.Join(os.Rename(path+".new", path), syncFolder(dir)); err != nil {
		return "", fmt.Errorf("writing the manifest: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

func writeDurably(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// pieceOf reads a file of a folder and says what it is.
func pieceOf(dir, name string) (Piece, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return Piece{}, err
	}
	defer f.Close()
	hash := sha256.New()
	n, err := io.Copy(hash, f)
	if err != nil {
		return Piece{}, fmt.Errorf("reading %s: %w", name, err)
	}
	return Piece{Name: name, Bytes: n, SHA256: hex.EncodeToString(hash.Sum(nil))}, nil
}

// verify says whether a piece is still what the manifest says.
func (p Piece) verify(dir string) error {
	is, err := pieceOf(dir, p.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is missing", ErrChanged, p.Name)
	}
	if err != nil {
		return err
	}
	if is != p {
		return fmt.Errorf("%w: %s has %d bytes with the digest %s, and should have %d with %s", ErrChanged, p.Name, is.Bytes, is.SHA256, p.Bytes, p.SHA256)
	}
	return nil
}
