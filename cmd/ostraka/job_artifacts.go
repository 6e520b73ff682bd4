package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
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
	c, id, err := o.server.connectAbout(ctx, "job", job)
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
	if err := os.MkdirAll(o.download, 0o755); err != nil {
		return fmt.Errorf("making the folder to download to: %w", err)
	}
	root, err := os.OpenRoot(o.download)
	if err != nil {
		return fmt.Errorf("opening the folder to download to: %w", err)
	}
	defer root.Close()
	bar := newProgress(o.terminal, "files")
	defer bar.finish()
	for _, shard := range shards {
		if err := checkPlaces(shard, runtime.GOOS); err != nil {
			return err
		}
		for _, f := range shard.Files {
			if err := copyArtifact(ctx, c, root, shard.Shard, f); err != nil {
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

// checkPlaces refuses files that would overwrite one another where the system does not tell capital letters from small ones.
func checkPlaces(shard client.ShardArtifacts, system string) error {
	if system != "darwin" && system != "windows" {
		return nil
	}
	seen, fold := map[string]string{}, cases.Fold()
	for _, f := range shard.Files {
		key := norm.NFC.String(fold.String(f.Path))
		if first, taken := seen[key]; taken {
			return fmt.Errorf("the files %q and %q of shard %d are one on this system: download them on another, or get each with ostraka object get", first, f.Path, shard.Shard)
		}
		seen[key] = f.Path
	}
	return nil
}

// copyArtifact gets one file. The server says what it is called, so it is not trusted with where it goes: no name and no link leads
// out of the folder.
func copyArtifact(ctx context.Context, c *connection, root *os.Root, shard int64, f client.File) error {
	name := filepath.Join(strconv.FormatInt(shard, 10), filepath.FromSlash(f.Path))
	if !filepath.IsLocal(filepath.FromSlash(f.Path)) || strings.ContainsFunc(f.Path, unicode.IsControl) || path.Clean(f.Path) != f.Path || f.Path == "." {
		return fmt.Errorf("shard %d has a file %q, whose name leads out of the folder or is none on this system: get it with ostraka object get %s", shard, f.Path, f.Digest)
	}
	if sameFile(root, name, f) {
		return nil
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("making the folder of shard %d: %w", shard, err)
	}
	body, err := answer.Stream(c.GetObject(ctx, c.project, f.Digest))
	if err != nil {
		return explain("reading the object", err)
	}
	defer body.Close()
	return writeVerified(root, name, io.LimitReader(body, f.Size+1), f.Digest)
}

// writeVerified writes a file that is complete under its name, or not there.
func writeVerified(root *os.Root, name string, from io.Reader, digest string) error {
	part := filepath.Join(filepath.Dir(name), ".ostraka-"+uuid.NewString())
	out, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	defer func() { _ = root.Remove(part) }() // gone already when all went well
	err = copyVerified(out, from, digest)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err := root.Rename(part, name); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// sameFile says whether the file is there already. A link counts for none, wherever it leads.
func sameFile(root *os.Root, name string, f client.File) bool {
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() != f.Size {
		return false
	}
	in, err := root.Open(name)
	if err != nil {
		return false
	}
	defer in.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return false
	}
	return hex.EncodeToString(sum.Sum(nil)) == f.Digest
}
