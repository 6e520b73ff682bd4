package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/registry/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/tree"
)

const (
	// MaxRuntimes is how many runtimes a project has.
	MaxRuntimes = 50
	// MaxAskedObjects is of how many objects one request may ask whether they are stored.
	MaxAskedObjects = 500
)

// Runtime is a tree with an interpreter, packages and native code.
type Runtime struct {
	ID        uuid.UUID `json:"id"`
	Name      string    `json:"name"`
	Digest    string    `json:"digest" doc:"SHA-256 of its manifest, in hexadecimal."`
	Platform  string    `json:"platform" doc:"On what it runs, such as linux/amd64."`
	Python    string    `json:"python" doc:"The version that its manifest states."`
	Bytes     int64     `json:"bytes" doc:"Of all files."`
	Files     int64     `json:"files"`
	Pieces    int64     `json:"pieces" doc:"Of how many objects besides the manifest it is made."`
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
}

// Line is how a function.toml names it.
func (r Runtime) Line() string { return bundle.PinnedRuntime(r.Name, r.Digest) }

// NewRuntime is what is asked for: the manifest with this digest is stored as an object, as its pieces are.
type NewRuntime struct {
	Name   string `json:"name" pattern:"^[a-z][a-z0-9-]{0,62}$" doc:"Lower-case letters, digits and hyphens. Several trees may have one name; a function names one of them by its digest."`
	Digest string `json:"digest" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 of the manifest, which was stored as an object."`
}

// MissingObjects tells which of some objects are not stored, each once. The others stay for a day at least.
func (s *Service) MissingObjects(ctx context.Context, project uuid.UUID, digests []string) (missing []string, err error) {
	if len(digests) > MaxAskedObjects {
		return nil, functions.Invalid("invalid_request", fmt.Sprintf("it asks about %d objects", len(digests)), fmt.Sprintf("ask about at most %d at a time", MaxAskedObjects))
	}
	sizes, err := s.sizesOf(ctx, project, digests)
	if err != nil {
		return nil, err
	}
	missing = []string{}
	for _, d := range digests {
		if _, there := sizes[d]; !there && !slices.Contains(missing, d) {
			missing = append(missing, d)
		}
	}
	return missing, nil
}

// sizesOf are the sizes of those objects that are stored; the collector leaves them alone for a day.
func (s *Service) sizesOf(ctx context.Context, project uuid.UUID, digests []string) (map[string]int64, error) {
	sizes := map[string]int64{}
	asked := map[string]bool{}
	for _, d := range digests {
		if asked[d] {
			continue
		}
		asked[d] = true
		if err := CheckDigest(d); err != nil {
			return nil, err
		}
		size, err := s.env.Blobs.Stat(ctx, project, d) // an object's row comes before the object, so the row alone says too little
		if errors.Is(err, blob.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("looking for object %s: %w", d, err)
		}
		sizes[d] = size
	}
	return sizes, nil
}

// AddRuntime makes a runtime of a manifest and pieces that were stored as objects. The same again is the runtime that it is already, with
// created false.
func (s *Service) AddRuntime(ctx context.Context, by functions.Principal, project uuid.UUID, want NewRuntime) (r Runtime, created bool, err error) {
	if err := functions.CheckName("runtime", want.Name); err != nil {
		return r, false, err
	}
	if want.Name == bundle.RuntimePython3 || want.Name == bundle.RuntimeWasm {
		return r, false, functions.Invalid("bad_name", fmt.Sprintf("%q is the name of a built-in runtime", want.Name), "choose another name")
	}
	m, err := s.readManifest(ctx, project, want.Digest)
	if err != nil {
		return r, false, err
	}
	objects, err := s.piecesOf(ctx, project, &m)
	if err != nil {
		return r, false, err
	}
	about := guardian.Runtime{Name: want.Name, Digest: want.Digest, Platform: m.Platform, Bytes: m.Bytes(), Files: int64(len(m.Entries))}
	err = s.env.Project(ctx, project, func(tx *store.Tx) (err error) {
		if about.PublisherKnown, _, err = store.Value[bool](ctx, tx, sql.RuntimePublisherKnown, by.Actor(), want.Digest); err != nil {
			return err
		}
		intent := base.Intent{By: by, Project: project, Kind: guardian.RuntimePublish, Subject: want.Name, Facts: guardian.RuntimeFacts{Runtime: about}}
		if err := s.env.Ask(ctx, tx, intent); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.LockRuntimes); err != nil {
			return err
		}
		var found bool
		if r, found, err = store.One[Runtime](ctx, tx, sql.GetRuntime, want.Digest); err != nil || found {
			return sameName(r, want, err)
		}
		created = true
		return s.addRuntime(ctx, tx, by, want, &m, append(objects, want.Digest), &r)
	})
	return r, created, err
}

// sameName refuses a tree that has another name already: functions and people would call one thing two.
func sameName(r Runtime, want NewRuntime, err error) error {
	if err != nil || r.Name == want.Name {
		return err
	}
	return &functions.Error{
		Kind: functions.KindConflict, Code: "runtime_named", Message: fmt.Sprintf("the same tree is the runtime %s already", r.Name),
		Hint: fmt.Sprintf("write runtime = %q", r.Line()),
	}
}

func (s *Service) addRuntime(ctx context.Context, tx *store.Tx, by functions.Principal, want NewRuntime, m *tree.Manifest, objects []string, r *Runtime) error {
	n, _, err := store.Value[int](ctx, tx, sql.CountRuntimes)
	if err != nil {
		return err
	}
	if n >= MaxRuntimes {
		return &functions.Error{
			Kind: functions.KindConflict, Code: "too_many_runtimes", Message: fmt.Sprintf("a project has at most %d runtimes", MaxRuntimes),
			Hint: "delete one that no function needs: ostraka runtime list",
		}
	}
	_, err = store.Exec(ctx, tx, sql.AddRuntime, base.NewID(), want.Name, want.Digest, m.Platform, m.Python, m.Bytes(), len(m.Entries), len(m.Pieces), by.Actor())
	if err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, sql.AddRuntimeObjects, want.Digest, objects); err != nil {
		return err
	}
	if *r, _, err = store.One[Runtime](ctx, tx, sql.GetRuntime, want.Digest); err != nil {
		return err
	}
	return base.Audit(ctx, tx, by.Actor(), "runtime.push", want.Name, map[string]any{"digest": want.Digest, "bytes": m.Bytes(), "files": len(m.Entries)})
}

// readManifest reads a manifest that was stored as an object, and checks it.
func (s *Service) readManifest(ctx context.Context, project uuid.UUID, digest string) (m tree.Manifest, err error) {
	in, size, err := s.OpenObject(ctx, project, digest)
	if err != nil {
		return m, err
	}
	defer in.Close()
	if size > tree.MaxManifestBytes {
		return m, badRuntime(fmt.Errorf("its manifest has %d bytes, at most %d are allowed", size, tree.MaxManifestBytes))
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return m, ObjectError(err, digest)
	}
	if m, err = tree.Parse(data); err != nil {
		return m, badRuntime(err)
	}
	return m, nil
}

func badRuntime(err error) error {
	return &functions.Error{
		Kind: functions.KindInvalid, Code: "bad_runtime", Message: err.Error(), Hint: "make it with `ostraka runtime import`", Err: err,
	}
}

// piecesOf makes sure that all pieces are stored.
func (s *Service) piecesOf(ctx context.Context, project uuid.UUID, m *tree.Manifest) (digests []string, err error) {
	digests = make([]string, len(m.Pieces))
	for i, p := range m.Pieces {
		digests[i] = p.Digest
	}
	sizes, err := s.sizesOf(ctx, project, digests)
	if err != nil {
		return nil, err
	}
	for _, p := range m.Pieces {
		size, there := sizes[p.Digest]
		if !there {
			return nil, &functions.Error{
				Kind: functions.KindConflict, Code: "runtime_incomplete", Message: fmt.Sprintf("piece %.12s… of the runtime is not stored", p.Digest),
				Hint: "store its pieces as objects first; the same command again sends only what is missing",
			}
		}
		if size != p.Size {
			return nil, badRuntime(fmt.Errorf("piece %.12s… has %d bytes, and the manifest says %d", p.Digest, size, p.Size))
		}
	}
	return digests, nil
}

// GetRuntime returns the runtime with this digest, or the newest of this name.
func (s *Service) GetRuntime(ctx context.Context, project uuid.UUID, name string) (r Runtime, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		r, err = getRuntime(ctx, tx, name)
		return err
	})
	return r, err
}

func getRuntime(ctx context.Context, tx *store.Tx, name string) (Runtime, error) {
	r, found, err := store.One[Runtime](ctx, tx, sql.GetRuntime, name)
	if err == nil && !found {
		err = functions.NotFound("runtime", name)
	}
	return r, err
}

// ListRuntimes lists the runtimes in the order in which they came, those of one name where it is not empty.
func (s *Service) ListRuntimes(ctx context.Context, project uuid.UUID, name string, page functions.ListPage) (list []Runtime, err error) {
	after, err := base.AfterID(page)
	if err != nil {
		return nil, err
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		list, err = store.Many[Runtime](ctx, tx, sql.ListRuntimes, after, name, base.PageLimit(page))
		return err
	})
	return list, err
}

// DeleteRuntime deletes a runtime that no open job needs. Versions of functions in it stay, and no job of theirs can be submitted any more.
func (s *Service) DeleteRuntime(ctx context.Context, by functions.Principal, project uuid.UUID, digest string) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		if _, err := store.Exec(ctx, tx, sql.LockRuntimes); err != nil {
			return err
		}
		r, err := getRuntime(ctx, tx, digest)
		if err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.LockRuntime, r.Digest); err != nil { // jobs that are being made are there then
			return err
		}
		jobs, _, err := store.Value[int64](ctx, tx, sql.RuntimeInUse, r.Line())
		if err != nil {
			return err
		}
		if jobs > 0 {
			return &functions.Error{
				Kind: functions.KindConflict, Code: "runtime_in_use", Message: base.Plural(jobs, "job that has not ended runs", "jobs that have not ended run") + " in the runtime",
				Hint: "wait for it, or cancel it: ostraka job list",
			}
		}
		about := guardian.Data{Type: "runtime", Name: r.Name}
		if err := s.env.Ask(ctx, tx, base.Intent{By: by, Project: project, Kind: guardian.DataDelete, Subject: r.Name, Facts: guardian.DataFacts{Data: about}}); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.DeleteRuntime, r.Digest); err != nil {
			return err
		}
		return base.Audit(ctx, tx, by.Actor(), "runtime.delete", r.Name, map[string]any{"digest": r.Digest})
	})
}

// RuntimeOf is the runtime that a function runs in; the zero value: it runs in what agents have. One that was deleted is an error.
func RuntimeOf(ctx context.Context, tx *store.Tx, m *bundle.Manifest) (Runtime, error) {
	return runtimeOf(ctx, tx, sql.GetRuntime, m)
}

// HoldRuntime is RuntimeOf in a transaction that makes a job: until it ends the runtime cannot be deleted.
func HoldRuntime(ctx context.Context, tx *store.Tx, m *bundle.Manifest) error {
	_, err := runtimeOf(ctx, tx, sql.HoldRuntime, m)
	return err
}

func runtimeOf(ctx context.Context, tx *store.Tx, q store.Query, m *bundle.Manifest) (Runtime, error) {
	digest := m.RuntimeDigest()
	if digest == "" {
		return Runtime{}, nil
	}
	r, found, err := store.One[Runtime](ctx, tx, q, digest)
	if err != nil {
		return r, err
	}
	if !found || r.Line() != m.Runtime {
		return r, &functions.Error{
			Kind: functions.KindInvalid, Code: "no_runtime", Message: fmt.Sprintf("the project has no runtime %s", m.Runtime),
			Hint: "ostraka runtime list shows those that it has; ostraka runtime import makes one",
		}
	}
	return r, nil
}

// OpenRuntime opens objects of runtimes for the server's own executions.
func (s *Service) OpenRuntime(project uuid.UUID) tree.Fetch {
	return func(ctx context.Context, digest string) (io.ReadCloser, error) {
		r, _, err := s.env.Blobs.Open(ctx, project, digest)
		return r, err
	}
}

// OpenRuntimeObject opens an object of the runtime that a function runs in: its manifest or one of its pieces, and nothing else of the project.
func (s *Service) OpenRuntimeObject(ctx context.Context, project uuid.UUID, m *bundle.Manifest, digest string) (io.ReadCloser, int64, error) {
	err := CheckDigest(digest)
	if err != nil {
		return nil, 0, err
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		has, _, err := store.Value[bool](ctx, tx, sql.RuntimeHas, m.RuntimeDigest(), digest)
		if err == nil && !has {
			err = functions.NotFound("object of the runtime", digest)
		}
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return s.OpenChecked(ctx, project, digest, tree.MaxManifestBytes)
}
