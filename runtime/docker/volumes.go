//go:build linux

package docker

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/docker/docker/api/types/mount"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/recheck"
	"github.com/ostraka/ostraka/runtime/volume"
)

// A daemon mounts what a path leads to when it makes a container, whatever was checked before: it takes no descriptor. So the container's own first process
// looks whether the folder that it was given is the one that was checked, while there is no code of a stranger in it. From then on nothing that happens to
// the path changes what is mounted.

// withVolumes executes shards in a container that shows the function's volumes. It is made for them and removed with them: the next batch may see other
// folders.
func (p *pool) withVolumes(ctx context.Context, image string, batch recheck.Batch, folders []*volume.Folder) ([]harness.Result, error) {
	s := shapeOf(batch.Bundle, inputsOf(batch))
	s.image = image
	for _, f := range folders {
		if f.Mode == volume.ReadWrite {
			s.memory += recheck.WrittenBytes
		}
	}
	p.kept.BeginNew()
	defer p.kept.End()
	b, err := p.e.start(ctx, s, folders...)
	if err != nil {
		return nil, err
	}
	results, err := b.run(ctx, batch)
	p.discard(b)
	return results, err
}

// mountsOf show folders read-only, without what else is mounted below them.
func mountsOf(folders []*volume.Folder) (list []mount.Mount) {
	for _, f := range folders {
		if f.Mode == volume.ReadWrite {
			continue
		}
		list = append(list, mount.Mount{
			Type: mount.TypeBind, Source: f.Path(), Target: filepath.Join(volume.Root, f.Name), ReadOnly: true,
			BindOptions: &mount.BindOptions{Propagation: mount.PropagationRPrivate, NonRecursive: true},
		})
	}
	return list
}

// emptyVolumes are mounts of memory for the volumes that the function writes to: the kernel bounds them, and they go with the container.
func emptyVolumes(u user, folders []*volume.Folder) map[string]string {
	list := map[string]string{}
	for _, f := range folders {
		if f.Mode == volume.ReadWrite {
			list[filepath.Join(volume.Root, f.Name)] = u.tmpfs(recheck.WrittenBytes, volume.MaxWritten)
		}
	}
	return list
}

// identities are what the container's first process knows the folders by.
func identities(folders []*volume.Folder) (list []volume.Identity, err error) {
	for _, f := range folders {
		id, err := f.Identity()
		if err != nil {
			return nil, err
		}
		list = append(list, id)
	}
	return list, nil
}

// findVolumes opens, in the container, the folders that its function wants.
func findVolumes(level bundle.Isolation, list []volume.Identity) (folders []*volume.Folder, err error) {
	for _, id := range list {
		f, err := id.FindShown(level == bundle.GVisor)
		if err != nil {
			return nil, errors.Join(err, volume.CloseAll(folders))
		}
		folders = append(folders, f)
	}
	return folders, nil
}

// lend opens the folders that a batch's function wants. The caller closes them.
func (x *Executor) lend(ctx context.Context, batch recheck.Batch) ([]*volume.Folder, error) {
	if len(batch.Bundle.Manifest.Volumes) == 0 {
		return nil, nil
	}
	folders, err := x.shelf.Lend(ctx, batch)
	if err != nil {
		return nil, fmt.Errorf("opening the function's volumes: %w", err)
	}
	return folders, nil
}

// Volumes are those that functions may have here.
func (x *Executor) Volumes() []volume.Offer { return x.shelf.Offers() }
