package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/agent/filelock"
	"github.com/ostraka/ostraka/agent/secretfile"
	"github.com/ostraka/ostraka/runtime/signing"
)

// MaxProjects is how many projects' keys an agent remembers: the file stays far below what secretfile takes.
const MaxProjects = 256

// From where a key is known.
const (
	ByToken    = "token"     // the enrolment token carried it
	AtJoining  = "joining"   // the server named it when the agent joined
	ByOwner    = "owner"     // the machine's owner said so
	AtFirstUse = "first use" // it came with a function, and the owner allows unsigned ones anyway
	ByOldKey   = "old key"   // the key before it vouches for it
)

// Key is a project's key that the agent trusts.
type Key struct {
	Fingerprint string    `json:"fingerprint"`
	How         string    `json:"how"`
	At          time.Time `json:"at"`
}

// Store is the file in the agent's data directory. It is read whenever it is used, so that the owner may change it while the agent
// runs.
type Store struct{ dir string }

// Open names the store of a data directory.
func Open(dataDir string) *Store { return &Store{dir: dataDir} }

// document is the file.
type document struct {
	// Servers are those whose projects' keys were learned when the agent joined. That happens once.
	Servers []string          `json:"servers,omitempty"`
	Keys    map[uuid.UUID]Key `json:"keys"`
}

func (s *Store) path() string { return filepath.Join(s.dir, "trust.json") }

func (s *Store) read() (d document, err error) {
	text, err := secretfile.Read(s.path())
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d, fmt.Errorf("reading which keys are trusted: %w; put a right %s back, or delete it and trust the keys anew", err, s.path())
	}
	for project, key := range d.Keys {
		if !signing.IsFingerprint(key.Fingerprint) {
			return d, fmt.Errorf("reading which keys are trusted: %s holds no fingerprint for project %s; put that right, or delete the file and trust the keys anew", s.path(), project)
		}
	}
	if d.Keys == nil {
		d.Keys = map[uuid.UUID]Key{}
	}
	return d, nil
}

// change reads, changes and writes the file while no other process does.
func (s *Store) change(do func(d *document) (changed bool, err error)) error {
	lock, err := filelock.Wait(filepath.Join(s.dir, "trust.lock"))
	if err != nil {
		return fmt.Errorf("keeping which keys are trusted: %w", err)
	}
	defer lock.Close()
	d, err := s.read()
	if err != nil {
		return err
	}
	changed, err := do(&d)
	if err != nil || !changed {
		return err
	}
	if len(d.Keys) > MaxProjects {
		return fmt.Errorf("the keys of %d projects are trusted already, at most %d can be: forget one with ostraka agent trust --forget PROJECT", MaxProjects, MaxProjects)
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding which keys are trusted: %w", err)
	}
	return secretfile.Write(s.path(), append(text, '\n'))
}

// Keys are all keys that are trusted.
func (s *Store) Keys() (map[uuid.UUID]Key, error) {
	d, err := s.read()
	return d.Keys, err
}

// Trusted is the fingerprint of a project's key, or empty.
func (s *Store) Trusted(project uuid.UUID) (string, error) {
	d, err := s.read()
	return d.Keys[project].Fingerprint, err
}

// Set trusts a key instead of whatever was trusted before.
func (s *Store) Set(project uuid.UUID, fingerprint, how string) error {
	return s.change(func(d *document) (bool, error) {
		d.Keys[project] = Key{fingerprint, how, time.Now().UTC().Truncate(time.Second)}
		return true, nil
	})
}

// Replace trusts another key, unless somebody has changed the one before meanwhile; that one may be empty.
func (s *Store) Replace(project uuid.UUID, before, fingerprint, how string) (changed bool, err error) {
	err = s.change(func(d *document) (bool, error) {
		if changed = d.Keys[project].Fingerprint == before; changed {
			d.Keys[project] = Key{fingerprint, how, time.Now().UTC().Truncate(time.Second)}
		}
		return changed, nil
	})
	return changed, err
}

// Forget trusts no key of the project any more.
func (s *Store) Forget(project uuid.UUID) (known bool, err error) {
	err = s.change(func(d *document) (bool, error) {
		_, known = d.Keys[project]
		delete(d.Keys, project)
		return known, nil
	})
	return known, err
}

// Learned says whether the keys of a server's projects were learned already.
func (s *Store) Learned(server string) (bool, error) {
	d, err := s.read()
	return slices.Contains(d.Servers, server), err
}

// Learn keeps the keys of a server's projects without a known key, and that it did so. It returns the new ones.
func (s *Store) Learn(server string, fingerprints map[uuid.UUID]string) (learned map[uuid.UUID]string, err error) {
	err = s.change(func(d *document) (bool, error) {
		learned = map[uuid.UUID]string{}
		if slices.Contains(d.Servers, server) {
			return false, nil
		}
		d.Servers = append(d.Servers, server)
		for project, fingerprint := range fingerprints {
			if _, known := d.Keys[project]; !known {
				d.Keys[project] = Key{fingerprint, AtJoining, time.Now().UTC().Truncate(time.Second)}
				learned[project] = fingerprint
			}
		}
		return true, nil
	})
	return learned, err
}
