package api_test

import (
	"context"
	"io"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/registry"
)

func (f *fake) MissingObjects(_ context.Context, _ uuid.UUID, digests []string) ([]string, error) {
	return digests, f.begin()
}

func (f *fake) AddRuntime(_ context.Context, _ functions.Principal, _ uuid.UUID, want registry.NewRuntime) (registry.Runtime, bool, error) {
	return registry.Runtime{ID: thingID, Name: want.Name, Digest: want.Digest}, !f.replayed, f.begin()
}

func (f *fake) ListRuntimes(_ context.Context, _ uuid.UUID, name string, page functions.ListPage) ([]registry.Runtime, error) {
	return list(f, page, func(int) registry.Runtime { return registry.Runtime{ID: thingID, Name: name} })
}

func (f *fake) GetRuntime(_ context.Context, _ uuid.UUID, name string) (registry.Runtime, error) {
	return registry.Runtime{ID: thingID, Name: name}, f.begin()
}

func (f *fake) DeleteRuntime(_ context.Context, _ functions.Principal, _ uuid.UUID, digest string) error {
	f.digest = digest
	return f.begin()
}

func (f *fake) LeaseRuntime(_ context.Context, _, _ uuid.UUID, digest string) (io.ReadCloser, int64, error) {
	f.digest = digest
	return f.open()
}
