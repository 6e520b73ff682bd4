//go:build linux

package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"

	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/runtime/recheck"
)

// maxRuntimeImages is how many images with runtimes of projects a daemon keeps: each holds an interpreter and packages, and can be made again.
const maxRuntimeImages = 8

// runtimeImages are the images that were made of runtimes: each is the usual one with another interpreter in it.
type runtimeImages struct {
	mu   sync.Mutex
	made map[string]string // the image by the digest of the runtime
	tags []string          // longest unused first
}

// imageFor is what containers of a batch are made of where it is not the usual one: one with the runtime that the function brings along.
func (e *engine) imageFor(ctx context.Context, batch recheck.Batch) (string, error) {
	if batch.Tree == nil {
		return "", nil
	}
	if e.cfg.Image != "" {
		return "", &recheck.Error{
			Class: recheck.Broken, Err: errors.New("the function runs in a runtime with native code, and this server is to use one image only"),
			Hint: "leave out --recheck-image",
		}
	}
	e.runtimes.mu.Lock()
	defer e.runtimes.mu.Unlock()
	tag := e.runtimeTag(batch.Tree)
	id, err := e.madeOf(ctx, batch.Tree)
	if err != nil {
		return "", err
	}
	if id == "" {
		if id, err = e.makeRuntimeImage(ctx, batch.Tree, tag); err != nil {
			return "", err
		}
		e.runtimes.made[batch.Tree.Digest] = id
	}
	e.runtimes.tags = append(slices.DeleteFunc(e.runtimes.tags, func(t string) bool { return t == tag }), tag)
	e.removeRuntimeImages(ctx)
	return id, nil
}

// madeOf is the image that was made of a runtime; none where it is gone: others remove images too.
func (e *engine) madeOf(ctx context.Context, t *python.Tree) (string, error) {
	id := e.runtimes.made[t.Digest]
	if id == "" {
		return "", nil
	}
	_, err := e.client.ImageInspect(ctx, id)
	switch {
	case errdefs.IsNotFound(err):
		delete(e.runtimes.made, t.Digest)
		return "", nil
	case err != nil:
		return "", fmt.Errorf("looking for the image of a runtime: %w", err)
	}
	return id, nil
}

func (e *engine) runtimeTag(t *python.Tree) string {
	return fmt.Sprintf("%s:runtime-%s-%.16s", repository, e.cfg.Installation, t.Digest)
}

func (e *engine) makeRuntimeImage(ctx context.Context, t *python.Tree, tag string) (string, error) {
	all, err := parts(*t, e.cfg.Program)
	if err != nil {
		return "", fmt.Errorf("making the image of a runtime: %w", err)
	}
	b, err := build(all)
	if err != nil {
		return "", err
	}
	id, err := b.provide(ctx, e.client)
	if err != nil {
		return "", err
	}
	e.log.Info("made an image of a runtime", "runtime", t.Digest, "image", id, "bytes", b.bytes)
	if err := e.client.ImageTag(ctx, id, tag); err != nil {
		return "", fmt.Errorf("naming the image of a runtime: %w", err)
	}
	// From now on this name alone keeps it: with it the image goes.
	_, _ = e.client.ImageRemove(ctx, b.tag(), image.RemoveOptions{})
	return id, nil
}

// removeRuntimeImages removes those that were not used for longest. One that a container uses stays until the next time.
func (e *engine) removeRuntimeImages(ctx context.Context) {
	for i := 0; len(e.runtimes.tags) > maxRuntimeImages && i < len(e.runtimes.tags)-maxRuntimeImages; {
		tag := e.runtimes.tags[i]
		if _, err := e.client.ImageRemove(ctx, tag, image.RemoveOptions{}); err != nil {
			e.log.Warn("removing the image of a runtime", "image", tag, "error", err)
			i++
			continue
		}
		e.runtimes.tags = slices.Delete(e.runtimes.tags, i, i+1)
		for digest := range e.runtimes.made {
			if e.runtimeTag(&python.Tree{Digest: digest}) == tag {
				delete(e.runtimes.made, digest)
			}
		}
	}
}

// findRuntimeImages remembers those that an earlier process of this installation has made, so that they go in their turn.
func (e *engine) findRuntimeImages(ctx context.Context) error {
	prefix := fmt.Sprintf("%s:runtime-%s-*", repository, e.cfg.Installation)
	list, err := e.client.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("reference", prefix))})
	if err != nil {
		return fmt.Errorf("looking for images of runtimes: %w", err)
	}
	slices.SortFunc(list, func(a, b image.Summary) int { return int(a.Created - b.Created) })
	for _, i := range list {
		for _, tag := range i.RepoTags {
			if len(tag) > len(prefix)-1 && tag[:len(prefix)-1] == prefix[:len(prefix)-1] {
				e.runtimes.tags = append(e.runtimes.tags, tag)
			}
		}
	}
	return nil
}

// describe says what a batch's results are made in.
func (e *engine) describe(batch recheck.Batch) recheck.Description {
	d := e.description
	if batch.Tree != nil {
		d.Interpreter, d.Libc = "python ("+batch.Tree.Label()+")", ""
	}
	return d
}
