//go:build linux

package docker

import (
	"context"
	"errors"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/client"

	"github.com/ostraka/ostraka/runtime/recheck"
)

// classify says what an error of the daemon means to an operator. What is
// classified already stays as it is.
func classify(err error) error {
	var done *recheck.Error
	var foreign *imageError
	switch {
	case err == nil, errors.As(err, &done):
		return err
	case errors.As(err, &foreign):
		return &recheck.Error{Class: recheck.Image, Err: err}
	case errors.Is(err, errSlow), errors.Is(err, context.DeadlineExceeded), errdefs.IsDeadlineExceeded(err):
		return &recheck.Error{Class: recheck.Slow, Err: err, Hint: "see what the Docker daemon's machine is busy with"}
	case client.IsErrConnectionFailed(err), errdefs.IsUnavailable(err), errdefs.IsUnauthorized(err), errdefs.IsPermissionDenied(err):
		return &recheck.Error{Class: recheck.Unavailable, Err: err, Hint: "start the Docker daemon, let this user reach it, or name it with --docker-host"}
	case isFull(err.Error()):
		return &recheck.Error{Class: recheck.Full, Err: err, Hint: "make room on the Docker daemon's machine"}
	case errdefs.IsNotFound(err) && strings.Contains(strings.ToLower(err.Error()), "no such image"):
		return &recheck.Error{Class: recheck.Image, Err: err, Hint: "it is loaded again by the next recheck"}
	}
	return &recheck.Error{Class: recheck.Broken, Err: err}
}

// isFull knows what kernel and daemon say when there is no room. They say it in words only.
func isFull(text string) bool {
	for _, words := range []string{"no space left on device", "cannot allocate memory", "disk quota exceeded", "resource temporarily unavailable", "too many open files"} {
		if strings.Contains(strings.ToLower(text), words) {
			return true
		}
	}
	return false
}

// errSlow says that something has not come in the time that it has.
var errSlow = errors.New("no answer in time")

// crashed says that a container ended in the middle of its batch.
func crashed(err error) error {
	return &recheck.Error{Class: recheck.Crashed, Err: err, Hint: "it is tried again; if it keeps happening, see the daemon's log"}
}
