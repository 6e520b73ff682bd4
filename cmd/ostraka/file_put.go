package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/inputfile"
)

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
	size int64
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
	u := newUpload(o.terminal, c)
	u.there = there
	if err := u.all(ctx, files); err != nil && folder {
		return fmt.Errorf("%w (the files before it are stored: the same command continues)", err)
	} else if err != nil {
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
		files = []localFile{{from, name, info.Size()}}
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
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		files = append(files, localFile{p, path.Join(name, filepath.ToSlash(inner)), info.Size()})
		return nil
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
