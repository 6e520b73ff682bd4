package registry

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/registry/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/inputfile"
)

// NamedFile is a name that a project has given to a stored object.
type NamedFile struct {
	Name      string    `json:"name"`
	Digest    string    `json:"digest" doc:"SHA-256 of its bytes, in hexadecimal; it is also the ETag."`
	Size      int64     `json:"size" doc:"Bytes."`
	CreatedAt time.Time `json:"created_at" doc:"When the name was given first."`
	UpdatedAt time.Time `json:"updated_at"`
	UpdatedBy string    `json:"updated_by"`
}

// FileCondition says what a file must be for a change. The zero value asks for nothing.
type FileCondition struct {
	New    bool   `json:"new,omitempty"`    // there is no such file
	Digest string `json:"digest,omitempty"` // the file has this digest
}

// ErrFileChanged says that a file is not what the request takes it for.
var ErrFileChanged = &functions.Error{
	Kind: functions.KindPrecondition, Code: "file_changed", Message: "the file is not the one that the request expects",
	Hint: "look at it with ostraka file list; send its ETag in If-Match, or leave the conditions out to replace it",
}

func checkFileName(name string) error {
	if err := inputfile.CheckName(name); err != nil {
		return functions.Invalid("bad_file_name", fmt.Sprintf("%.80q is not the name of a file: %v", name, err), "choose a path with slashes that every system reads alike, such as texts/2024/a.txt")
	}
	return nil
}

// checkPrefix says whether files may have names that begin so.
func checkPrefix(prefix string) error {
	if len(prefix) > inputfile.MaxNameBytes {
		return functions.Invalid("bad_file_name", fmt.Sprintf("the prefix has %d bytes, a name at most %d", len(prefix), inputfile.MaxNameBytes), "give the first part of the names")
	}
	return nil
}

// PutFile stores what it reads and gives it a name, which then means this object and no other. digest, when not empty, must be the
// SHA-256 of it. The object that the name meant before stays under its digest: jobs may read it.
func (s *Service) PutFile(ctx context.Context, by functions.Principal, project uuid.UUID, name, digest string, r io.Reader, when FileCondition) (NamedFile, error) {
	if err := checkFileName(name); err != nil {
		return NamedFile{}, err
	}
	if err := s.AskUpload(ctx, by, project, guardian.File{Name: name, Digest: digest, Bytes: -1}, when); err != nil {
		return NamedFile{}, err
	}
	o, err := s.PutObject(ctx, project, digest, r)
	if err != nil {
		return NamedFile{}, err
	}
	return s.nameObject(ctx, by, project, name, o, when)
}

// NameObject gives a name to an object that is stored already.
func (s *Service) NameObject(ctx context.Context, by functions.Principal, project uuid.UUID, name, digest string, when FileCondition) (NamedFile, error) {
	if err := checkFileName(name); err != nil {
		return NamedFile{}, err
	}
	if err := CheckDigest(digest); err != nil {
		return NamedFile{}, err
	}
	size, err := s.env.Blobs.Stat(ctx, project, digest)
	if err != nil {
		return NamedFile{}, ObjectError(err, digest)
	}
	if err := s.AskUpload(ctx, by, project, guardian.File{Name: name, Digest: digest, Bytes: size}, when); err != nil {
		return NamedFile{}, err
	}
	return s.nameObject(ctx, by, project, name, functions.Object{Digest: digest, Size: size}, when)
}

// AskUpload asks the guardian whether something may be stored, before any of it is read.
func (s *Service) AskUpload(ctx context.Context, by functions.Principal, project uuid.UUID, f guardian.File, when FileCondition) error {
	intent := uploadIntent(by, project, f)
	intent.Asked = when
	return s.env.Do(ctx, intent, nothingElse)
}

func uploadIntent(by functions.Principal, project uuid.UUID, f guardian.File) base.Intent {
	subject := f.Name
	if subject == "" {
		subject = f.Digest
	}
	return base.Intent{By: by, Project: project, Kind: guardian.FileUpload, Subject: subject, Facts: guardian.UploadFacts{File: f}}
}

func (s *Service) nameObject(ctx context.Context, by functions.Principal, project uuid.UUID, name string, o functions.Object, when FileCondition) (f NamedFile, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		before, _, err := store.One[NamedFile](ctx, tx, sql.GetFile, name)
		if err != nil {
			return err
		}
		row, done, err := store.One[NamedFile](ctx, tx, sql.PutFile, name, o.Digest, o.Size, by.Actor(), when.New, when.Digest)
		if err == nil && !done {
			return ErrFileChanged.With("the file %q is not the one that the request expects", name)
		}
		if f = row; err != nil || before.Digest == "" || before.Digest == o.Digest {
			return err
		}
		return leaveObject(ctx, tx, project, before.Digest)
	})
	return f, err
}

// leaveObject has an object looked at in a day to which a name does not refer any more. It is the last thing that a transaction does.
func leaveObject(ctx context.Context, tx *store.Tx, project uuid.UUID, digest string) error {
	server, err := tx.AsServer(ctx)
	if err != nil {
		return err
	}
	_, err = store.Exec(ctx, server, sql.LookLater, project, digest, objectStays)
	return err
}

// GetFile returns what a name means.
func (s *Service) GetFile(ctx context.Context, project uuid.UUID, name string) (f NamedFile, err error) {
	if err := checkFileName(name); err != nil {
		return f, err
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		row, found, err := store.One[NamedFile](ctx, tx, sql.GetFile, name)
		if err != nil || !found {
			return noFile(err, name)
		}
		f = row
		return nil
	})
	return f, err
}

func noFile(err error, name string) error {
	if err == nil {
		return functions.NotFound("file", name)
	}
	return err
}

// ListFiles lists the files whose names begin with prefix, in the order of the bytes of their names.
func (s *Service) ListFiles(ctx context.Context, project uuid.UUID, prefix string, page functions.ListPage) (list []NamedFile, err error) {
	if err := checkPrefix(prefix); err != nil {
		return nil, err
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		list, err = store.Many[NamedFile](ctx, tx, sql.ListFiles, prefix, page.After, base.PageLimit(page))
		return err
	})
	return list, err
}

// DeleteFile takes a name away. The object stays under its digest.
func (s *Service) DeleteFile(ctx context.Context, by functions.Principal, project uuid.UUID, name string, when FileCondition) error {
	if err := checkFileName(name); err != nil {
		return err
	}
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		f, found, err := store.One[NamedFile](ctx, tx, sql.GetFile, name)
		if err != nil || !found {
			return noFile(err, name)
		}
		facts := guardian.DataFacts{Data: guardian.Data{Type: "file", Name: name, Bytes: f.Size}}
		intent := base.Intent{By: by, Project: project, Kind: guardian.DataDelete, Subject: name, Facts: facts, Asked: FileCondition{Digest: f.Digest}}
		if err := s.env.Ask(ctx, tx, intent); err != nil {
			return err
		}
		n, err := store.Exec(ctx, tx, sql.DeleteFile, name, when.Digest)
		if err == nil && n == 0 {
			return ErrFileChanged.With("the file %q is not the one that the request expects", name)
		}
		if err != nil {
			return err
		}
		if err := base.Audit(ctx, tx, by.Actor(), "file.delete", name, map[string]any{"digest": f.Digest, "size": f.Size}); err != nil {
			return err
		}
		return leaveObject(ctx, tx, project, f.Digest)
	})
}
