package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
)

// artifactsOptions are the flags of `ostraka job artifacts`.
type artifactsOptions struct {
	listFlags
	terminal *terminal
	server   *serverFlags
	download string
}

func newJobArtifacts(t *terminal, server *serverFlags) *cobra.Command {
	o := &artifactsOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "artifacts JOB", Short: "List or download the files that a job's shards left",
		Long: `List the files that accepted shards left under $OSTRAKA_OUTPUT; agents had to agree on them as on
outputs. With --download they are copied to DIR/SHARD/PATH and checked by their digests; files that are
there already are left alone, so that a download that broke off goes on.`,
		Example: `  ostraka job artifacts JOB
  ostraka job artifacts JOB --download plots`,
		Args: arguments(1), ValidArgsFunction: server.complete(jobIDs),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	o.register(cmd.Flags())
	cmd.Flags().StringVar(&o.download, "download", "", "copy the files of all shards into this folder")
	return cmd
}

func (o *artifactsOptions) run(ctx context.Context, job string) error {
	if err := o.check(); err != nil {
		return err
	}
	c, id, err := o.server.connectAbout("job", job)
	if err != nil {
		return err
	}
	page := func(cursor *string, size *int64) (*http.Response, error) {
		return c.ListArtifacts(ctx, c.project, id, &client.ListArtifactsParams{Cursor: cursor, Limit: size})
	}
	if o.download != "" {
		return o.copyAll(ctx, c, id, page)
	}
	return show(o.terminal, &o.listFlags, "listing artifacts", []string{"SHARD", "FILES", "BYTES", "PATHS"}, func(a client.ShardArtifacts) []string {
		var size int64
		paths := ""
		for i, f := range a.Files {
			if size += f.Size; i > 0 {
				paths += ", "
			}
			paths += f.Path
		}
		return []string{strconv.FormatInt(a.Shard, 10), strconv.Itoa(len(a.Files)), strconv.FormatInt(size, 10), cut(paths)}
	}, page)
}

func (o *artifactsOptions) copyAll(ctx context.Context, c *connection, job uuid.UUID, page func(cursor *string, size *int64) (*http.Response, error)) error {
	shards, _, _, err := gather[client.ShardArtifacts](0, page)
	if err != nil {
		return explain("listing artifacts", err)
	}
	var total, done int64
	for _, shard := range shards {
		total += int64(len(shard.Files))
	}
	bar := newProgress(o.terminal, "files")
	defer bar.finish()
	for _, shard := range shards {
		for _, f := range shard.Files {
			if err := o.copy(ctx, c, shard.Shard, f); err != nil {
				return err
			}
			done++
			bar.update(done, total)
		}
	}
	bar.finish()
	o.terminal.say("%s of job %s in %s", count(total, "file"), job, o.download)
	return nil
}

// copy gets one file. The server says what it is called, so it is not trusted with where it goes.
func (o *artifactsOptions) copy(ctx context.Context, c *connection, shard int64, f client.File) error {
	name := filepath.Join(strconv.FormatInt(shard, 10), filepath.FromSlash(f.Path))
	if !filepath.IsLocal(name) {
		return fmt.Errorf("the file %q of shard %d has a path that leads out of the folder", f.Path, shard)
	}
	name = filepath.Join(o.download, name)
	if sameFile(name, f) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("making the folder of shard %d: %w", shard, err)
	}
	return getObject(ctx, o.terminal, c, f.Digest, name)
}

func sameFile(name string, f client.File) bool {
	in, err := os.Open(name)
	if err != nil {
		return false
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || info.Size() != f.Size {
		return false
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return false
	}
	return hex.EncodeToString(sum.Sum(nil)) == f.Digest
}
