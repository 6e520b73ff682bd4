//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/blob"
)

// examineObjects writes an object, reads it and removes it again.
func examineObjects(ctx context.Context, config objectConfig) []diagnosis {
	const check = "objects"
	ctx, cancel := context.WithTimeout(ctx, doctorWait)
	defer cancel()
	where, fix := config.Dir, "give this user the folder: "+shellWord(config.Dir)
	if config.S3Endpoint != "" {
		where, fix = fmt.Sprintf("%s, bucket %s", config.S3Endpoint, config.S3Bucket), "check --s3-endpoint, --s3-bucket, --s3-plaintext and the keys, which must be allowed to put, get and delete"
	}
	store, err := config.open(ctx)
	if err != nil {
		return []diagnosis{failed(check, fix, "%v", err)}
	}
	if err := errors.Join(probe(ctx, store), store.Close()); err != nil {
		return []diagnosis{failed(check, fix, "%v", err)}
	}
	return []diagnosis{fine(check, "written, read and removed: %s", where)}
}

// probe uses a store as a separate project would, with a name that is not used elsewhere.
func probe(ctx context.Context, store *blob.Store) (err error) {
	project, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("making an ID: %w", err)
	}
	content := []byte("ostraka doctor " + project.String())
	digest, _, err := store.Put(ctx, project, bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return err
	}
	back, err := store.Get(ctx, project, digest, int64(len(content)))
	if err == nil && !bytes.Equal(back, content) {
		err = errors.New("an object that was written comes back as another")
	}
	return errors.Join(err, store.DeleteProject(ctx, project))
}
