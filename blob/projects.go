package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/google/uuid"
	"github.com/minio/minio-go/v7"
)

// allProjects is the prefix of everything that projects have.
const allProjects = "projects/"

// Projects lists the projects with anything in the store, whatever its origin.
func (s *Store) Projects(ctx context.Context) ([]uuid.UUID, error) {
	names, err := s.backend.folders(ctx, allProjects)
	if err != nil {
		return nil, fmt.Errorf("listing the projects of the object store: %w", err)
	}
	var projects []uuid.UUID
	for _, name := range names {
		if id, err := uuid.Parse(name); err == nil && id.String() == name {
			projects = append(projects, id)
		}
	}
	return projects, nil
}

func (d *directory) folders(ctx context.Context, prefix string) ([]string, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(d.root.FS(), strings.TrimSuffix(prefix, "/"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

func (b *bucket) folders(ctx context.Context, prefix string) (names []string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends a listing that is left early
	for o := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: prefix}) {
		if o.Err != nil {
			return nil, o.Err
		}
		names = append(names, path.Base(o.Key))
	}
	return names, nil
}
