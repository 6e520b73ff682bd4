package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/registry"
)

// store reads a stream to its end, as the real service does.
func (f *fake) store(r io.Reader) error {
	if err := f.begin(); err != nil {
		return err
	}
	var err error
	f.stored, err = io.ReadAll(r)
	return err
}

func (f *fake) StoreObject(_ context.Context, _ functions.Principal, _ uuid.UUID, digest string, r io.Reader) (functions.Object, error) {
	f.digest = digest
	err := f.store(r)
	return functions.Object{Digest: digest, Size: int64(len(f.stored))}, err
}

// brokenReader fails after some bytes, as an object that is not what it should be.
type brokenReader struct{ left []byte }

func (b *brokenReader) Read(p []byte) (int, error) {
	if len(b.left) == 0 {
		return 0, errors.New("the stored bytes are not what they should be")
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}

func (f *fake) open() (io.ReadCloser, int64, error) {
	if f.breakAt > 0 {
		return io.NopCloser(&brokenReader{f.object[:f.breakAt]}), int64(len(f.object)), f.begin()
	}
	return io.NopCloser(bytes.NewReader(f.object)), int64(len(f.object)), f.begin()
}

func (f *fake) OpenObject(context.Context, uuid.UUID, string) (io.ReadCloser, int64, error) {
	return f.open()
}

func (f *fake) CreateUpload(_ context.Context, _ functions.Principal, _ uuid.UUID, digest string, size int64, idem functions.Idempotency) (registry.Upload, bool, error) {
	f.digest, f.idem = digest, idem
	return registry.Upload{ID: thingID, Digest: digest, Size: size, Method: "PUT", URL: "https://objects.example/x"}, f.replayed, f.begin()
}

func (f *fake) ReceiveUpload(_ context.Context, _, _ uuid.UUID, r io.Reader) (functions.Object, error) {
	err := f.store(r)
	return functions.Object{Size: int64(len(f.stored))}, err
}

func (f *fake) CompleteUpload(context.Context, uuid.UUID, uuid.UUID) (functions.Object, error) {
	return functions.Object{Digest: strings.Repeat("ab", 32)}, f.begin()
}

func (f *fake) PutFile(_ context.Context, _ functions.Principal, _ uuid.UUID, name, digest string, r io.Reader, when registry.FileCondition) (registry.NamedFile, error) {
	f.name, f.digest, f.when = name, digest, when
	err := f.store(r)
	return registry.NamedFile{Name: name, Digest: strings.Repeat("ab", 32), Size: int64(len(f.stored))}, err
}

func (f *fake) NameObject(_ context.Context, _ functions.Principal, _ uuid.UUID, name, digest string, when registry.FileCondition) (registry.NamedFile, error) {
	f.name, f.digest, f.when = name, digest, when
	return registry.NamedFile{Name: name, Digest: digest}, f.begin()
}

func (f *fake) GetFile(_ context.Context, _ uuid.UUID, name string) (registry.NamedFile, error) {
	f.name = name
	return registry.NamedFile{Name: name, Digest: strings.Repeat("ab", 32)}, f.begin()
}

func (f *fake) ListFiles(_ context.Context, _ uuid.UUID, prefix string, page functions.ListPage) ([]registry.NamedFile, error) {
	f.name = prefix
	return list(f, page, func(n int) registry.NamedFile { return registry.NamedFile{Name: fmt.Sprintf("texts/%03d", n)} })
}

func (f *fake) DeleteFile(_ context.Context, _ functions.Principal, _ uuid.UUID, name string, when registry.FileCondition) error {
	f.name, f.when = name, when
	return f.begin()
}
