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

// remove ends and removes a container. One that is gone, or going, is as good.
func (e *engine) remove(ctx context.Context, id string) error {
	err := e.client.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	if err == nil || errdefs.IsNotFound(err) || errdefs.IsConflict(err) {
		return nil
	}
	return fmt.Errorf("removing container %.12s: %w", id, err)
}
