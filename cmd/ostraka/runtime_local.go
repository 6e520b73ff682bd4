package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ostraka/ostraka/agent/filelock"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/runtime/tree"
)

// localRuntimes are the runtimes that this user's commands have unpacked, beside the interpreter. One command uses the folder at a time.
type localRuntimes struct {
	cache *tree.Cache
	lock  *os.File
}

func openLocalRuntimes(t *terminal) (*localRuntimes, error) {
	if tree.Runs() == "" {
		return nil, &exitError{code: exitUsage, err: errors.New("runtimes run on linux/amd64 with AVX2 and FMA, which this machine is not"), hint: "push the function and run a job with one shard: ostraka function call"}
	}
	interpreters, err := pythonDir(t)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(filepath.Dir(interpreters), "runtimes")
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return nil, fmt.Errorf("making a folder for runtimes: %w", err)
	}
	lock, err := filelock.Wait(dir + ".lock")
	if err != nil {
		return nil, fmt.Errorf("waiting for the folder of runtimes: %w", err)
	}
	log, err := newLog(t, "warn")
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	cache, err := tree.NewCache(dir, tree.DefaultCacheBytes, log)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &localRuntimes{cache: cache, lock: lock}, nil
}

func (l *localRuntimes) close() error { return l.lock.Close() }

// keepRuntime unpacks a runtime that was just packed here, so that functions in it run without a server.
func keepRuntime(ctx context.Context, t *terminal, p *packedRuntime) error {
	if tree.Runs() == "" {
		return nil
	}
	local, err := openLocalRuntimes(t)
	if err != nil {
		return err
	}
	_, release, err := local.cache.Get(ctx, p.digest, func(_ context.Context, digest string) (io.ReadCloser, error) {
		return os.Open(p.objects[digest].path)
	})
	if err == nil {
		release()
	}
	return errors.Join(err, local.close())
}

// runtimeOf is the runtime of a function: unpacked here, or fetched from the server.
func (l *localRuntimes) runtimeOf(ctx context.Context, server *serverFlags, m *bundle.Manifest) (t python.Tree, release func(), err error) {
	var c *connection
	t, release, err = l.cache.Get(ctx, m.RuntimeDigest(), func(ctx context.Context, digest string) (io.ReadCloser, error) {
		if server == nil {
			return nil, errors.New("no server is asked")
		}
		if c == nil {
			if c, err = server.connectProject(); err != nil {
				return nil, err
			}
		}
		body, err := answer.Stream(c.GetObject(ctx, c.project, digest))
		if err != nil {
			return nil, err
		}
		defer body.Close()
		data, err := io.ReadAll(io.LimitReader(body, tree.MaxManifestBytes+1))
		return io.NopCloser(bytes.NewReader(data)), err
	})
	if err != nil {
		return t, nil, &exitError{
			code: exitUsage, err: fmt.Errorf("%s runs in the runtime %s, which is not here: %w", m.Name, m.RuntimeName(), err),
			hint: "make it here, which keeps it (ostraka runtime import or runtime build, with --dry-run where it is not to be sent), or name the server that has it",
		}
	}
	return t, release, nil
}
