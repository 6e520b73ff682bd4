//go:build linux

package docker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
)

// foreignAge is after what time containers of this installation that another
// machine's process made, and that do not run any more, are taken for left over.
// Such a container ends by itself when its process is gone.
const foreignAge = time.Hour

// removeLeftovers removes the containers of this installation whose process is
// gone. Containers of others, and of processes that live, are left alone.
func (e *engine) removeLeftovers(ctx context.Context) (removed int, err error) {
	list, err := e.client.ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(
		filters.Arg("label", labelOurs), filters.Arg("label", labelInstallation+"="+e.cfg.Installation))})
	if err != nil {
		return 0, fmt.Errorf("looking for containers that are left over: %w", err)
	}
	for _, c := range list {
		if !leftover(c, time.Now()) {
			continue
		}
		if failed := e.remove(ctx, c.ID); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		removed++
	}
	return removed, err
}

func leftover(c container.Summary, now time.Time) bool {
	ended := c.State != container.StateRunning && c.State != container.StatePaused
	return gone(c.Labels) || c.Labels[labelMachine] != machine() && ended && now.Sub(time.Unix(c.Created, 0)) > foreignAge
}

// removeEvery is how long to wait for a daemon that is at work on a container before it is asked again to remove it.
const removeEvery = 50 * time.Millisecond

// remove ends and removes a container, and returns when it is gone.
func (e *engine) remove(ctx context.Context, id string) error {
	for {
		err := e.client.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
		switch {
		case err == nil || errdefs.IsNotFound(err):
			return nil
		case !errdefs.IsConflict(err): // it is being started, or removed already
			return fmt.Errorf("removing container %.12s: %w", id, err)
		}
		select {
		case <-time.After(removeEvery):
		case <-ctx.Done():
			return fmt.Errorf("removing container %.12s: %w", id, err)
		}
	}
}
