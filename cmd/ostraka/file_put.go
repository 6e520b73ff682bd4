package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/inputfile"
)

// uploads is how many files are sent at a time: small ones cost a round trip each.
const uploads = 4

// filePutOptions are the flags of `ostraka file put`.
type filePutOptions struct {
	outputFlag
	terminal *terminal
	server   *serverFlags
}

func newFilePut(t *terminal, server *serverFlags) *cobra.Command {
	o := &filePutOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "put PATH [NAME]", Short: "Store a file, or a folder with all that is in it",
		Long: `Store a file under NAME, or under its own name; or every file of a folder under NAME/…, or under the
folder's own name. What the server has already under the same name with the same bytes is not sent
again, so that an upload that broke off goes on. A file that is there with other bytes is replaced;
jobs that were submitted before go on with what it was.`,
		Example: `  ostraka file put words.txt
  ostraka file put ./corpus texts/2024
  ostraka job run count --objects-prefix texts/2024/ --wait`,
		Args: argumentsBetween(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			name := ""
			if len(args) == 2 {
				name = args[1]
			}
			return o.run(cmd.Context(), args[0], name)
		},
	}
	o.register(cmd.Flags())
	return cmd
}

// localFile is a file to be stored.
type localFile struct {
	path string // here
	name string // there
}

func (o *filePutOptions) run(ctx context.Context, from, name string) error {
	files, folder, err := filesToPut(from, name)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	there, err := filesThere(ctx, c, files, folder)
	if err != nil {
		return err
	}
	u := &upload{c: c, there: there, bar: newProgress(o.terminal, "stored"), total: int64(len(files))}
	u.bar.unit = "file"
	err = u.all(ctx, files)
	u.bar.finish()
	if err != nil && folder {
		return fmt.Errorf("%w (the files before it are stored: the same command goes on)", err)
	}
	if err != nil {
		return err
	}
	if !folder {
		return printOne(o.terminal, &o.outputFlag, u.last.Raw, [][2]string{{"name", u.last.Value.Name}, {"digest", u.last.Value.Digest}, {"bytes", fmt.Sprint(u.last.Value.Size)}})
	}
	o.terminal.say("%s sent, %d were there already", count(u.sent, "file"), int64(len(files))-u.sent)
	return nil
}

// filesToPut lists what a path stands for. A folder may hold nothing that cannot be stored under its name.
func filesToPut(from, name string) (files []localFile, folder bool, err error) {
	info, err := os.Stat(from)
	if err != nil {
		return nil, false, fmt.Errorf("reading what is to be stored: %w", err)
	}
	if name == "" {
		whole, err := filepath.Abs(from)
		if err != nil {
			return nil, false, fmt.Errorf("finding the name of %s: %w", from, err)
		}
		name = filepath.Base(whole)
	}
	name = path.Clean(filepath.ToSlash(name))
	if !info.IsDir() {
		files = []localFile{{from, name}}
		return files, false, checkNames(files)
	}
	err = filepath.WalkDir(from, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return nil
		case !e.Type().IsRegular():
			return fmt.Errorf("%s is a link or a special file: take it out of the folder, or put what it leads to", p)
		}
		inner, err := filepath.Rel(from, p)
		files = append(files, localFile{p, path.Join(name, filepath.ToSlash(inner))})
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("the folder %s holds no file", from)
	}
	return files, true, errors.Join(err, checkNames(files))
}

func checkNames(files []localFile) error {
	for _, f := range files {
		if err := inputfile.CheckName(f.name); err != nil {
			return fmt.Errorf("%s cannot be stored as %q: %w", f.path, f.name, err)
		}
	}
	return nil
}

// filesThere are the digests of what the server has, by name.
func filesThere(ctx context.Context, c *connection, files []localFile, folder bool) (map[string]string, error) {
	there := map[string]string{}
	if !folder { // one is sent as quickly as it is asked for
		return there, nil
	}
	prefix := commonFolder(files)
	list, _, _, err := gather[client.NamedFile](0, func(cursor *string, size *int64) (*http.Response, error) { return c.files(ctx, prefix, cursor, size) })
	if err != nil {
		return nil, explain("looking for what is stored already", err)
	}
	for _, f := range list {
		there[f.Name] = f.Digest
	}
	return there, nil
}

// commonFolder is the folder that all names lie in, with its slash.
func commonFolder(files []localFile) string {
	dir := path.Dir(files[0].name)
	for _, f := range files {
		for dir != "." && !hasFolder(f.name, dir) {
			dir = path.Dir(dir)
		}
	}
	if dir == "." {
		return ""
	}
	return dir + "/"
}

func hasFolder(name, dir string) bool { return len(name) > len(dir) && name[:len(dir)+1] == dir+"/" }

// upload sends files, some at a time.
type upload struct {
	c     *connection
	there map[string]string

	mu    sync.Mutex
	bar   *progress
	total int64
	done  int64
	sent  int64
	last  answer.Document[client.NamedFile]
}

func (u *upload) all(ctx context.Context, files []localFile) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(uploads)
	for _, f := range files {
		if ctx.Err() != nil {
			break
		}
		work.Go(func() error { return u.one(ctx, f) })
	}
	return work.Wait()
}

func (u *upload) one(ctx context.Context, f localFile) error {
	digest, err := digestOfFile(f.path)
	if err != nil {
		return fmt.Errorf("reading %s: %w", f.path, err)
	}
	if u.there[f.name] == digest {
		u.note(nil)
		return nil
	}
	doc, err := putNamed(ctx, u.c, f, digest)
	if err != nil {
		return explain("storing "+f.path, err)
	}
	u.note(&doc)
	return nil
}

func (u *upload) note(sent *answer.Document[client.NamedFile]) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.done++; sent != nil {
		u.sent++
		u.last = *sent
	}
	u.bar.update(u.done, u.total)
}

// putNamed stores a file; sending it again does no harm.
func putNamed(ctx context.Context, c *connection, f localFile, digest string) (doc answer.Document[client.NamedFile], err error) {
	for tries := newRetries(); ; {
		doc, err = putNamedOnce(ctx, c, f, digest)
		if err == nil || !answer.Temporary(err) || !tries.again(ctx) {
			return doc, err
		}
	}
}

func putNamedOnce(ctx context.Context, c *connection, f localFile, digest string) (doc answer.Document[client.NamedFile], err error) {
	in, err := os.Open(f.path)
	if err != nil {
		return doc, err
	}
	defer in.Close()
	return answer.Read[client.NamedFile](c.PutFileWithBody(ctx, c.project, f.name, &client.PutFileParams{Digest: &digest}, octetStream, in))
}

func digestOfFile(name string) (string, error) {
	in, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
