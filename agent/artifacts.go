package agent

import (
	"context"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/statement"
)

// claimOf is what a result states and the agent signs. Of a script that includes all that it printed.
func claimOf(r client.ShardResult, script bool) statement.Claim {
	c := statement.Claim{Status: string(r.Status), OutputDigest: r.OutputDigest}
	if script {
		c.StdoutDigest = r.StdoutDigest
	}
	if r.Exception != nil {
		c.ExceptionType, c.ExceptionMessage = r.Exception.Type, r.Exception.Message
	}
	for _, f := range r.Files {
		c.Files = append(c.Files, statement.File{Path: f.Path, Size: f.Size, Digest: f.Digest})
	}
	return c
}

// storeArtifacts sends the files that the last shard left, each once, before its result says so. The shard's processes are gone; what
// lies there is still hostile, so it is opened below the folder only, and the server refuses what has another digest than was stated.
func (w *work) storeArtifacts(ctx context.Context, files []client.File) error {
	if len(files) == 0 {
		return nil
	}
	root, err := os.OpenRoot(w.session.OutputDir())
	if err != nil {
		return fmt.Errorf("opening the folder of artifacts: %w", err)
	}
	defer root.Close()
	sent := map[string]bool{}
	for _, f := range files {
		if sent[f.Digest] {
			continue
		}
		if err := w.storeArtifact(ctx, root, f); err != nil {
			return err
		}
		sent[f.Digest] = true
	}
	return nil
}

func (w *work) storeArtifact(ctx context.Context, root *os.Root, f client.File) error {
	in, err := root.OpenFile(f.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("reading the artifact %q: %w", f.Path, err)
	}
	defer in.Close()
	err = w.persist(ctx, "storing an artifact", func(ctx context.Context) error {
		return w.server.putOutput(ctx, w.lease.ID, f.Digest, io.NewSectionReader(in, 0, f.Size))
	})
	if err != nil {
		return fmt.Errorf("storing the artifact %q: %w", f.Path, err)
	}
	return nil
}
