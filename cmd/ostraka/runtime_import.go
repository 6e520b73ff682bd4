package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/tree"
)

// runtimeImportOptions are the flags of `ostraka runtime import`.
type runtimeImportOptions struct {
	outputFlag
	terminal *terminal
	server   *serverFlags
	name     string
	from     tree.Source
	dryRun   bool
}

// askedAtOnce is of how many objects one request asks whether they are stored: as many as the API takes.
const askedAtOnce = 500

func newRuntimeImport(t *terminal, server *serverFlags) *cobra.Command {
	o := &runtimeImportOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "import NAME --from-root DIR --python PATH", Short: "Make a runtime of an interpreter with packages that is there already",
		Long: `Make a runtime of a Python that lies in a root file system: this machine's own (/), an unpacked container, a
folder that debootstrap has made. Its library, the packages that --package names and every shared library that these need
are packed, the dynamic loader among them. The same files make the same digest on every machine.

It is sent in pieces of a few MiB. What the server has already is not sent again, so that an upload that was cut off goes on,
and a change in one package sends its own pieces. What comes out is the line for function.toml.`,
		Example: "  ostraka runtime import numpy --from-root / --python /usr/bin/python3 --package numpy",
		Args:    arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	o.register(f)
	f.StringVar(&o.from.Root, "from-root", "/", "the folder that the paths begin at")
	f.StringVar(&o.from.Python, "python", "/usr/bin/python3", "the interpreter in it")
	f.StringArrayVar(&o.from.Packages, "package", nil, "what functions import, such as numpy; several times; left out: all that its folders of packages hold")
	f.BoolVar(&o.dryRun, "dry-run", false, "pack it and print its digest, and send nothing")
	return cmd
}

func (o *runtimeImportOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ostraka-runtime-")
	if err != nil {
		return fmt.Errorf("making a folder for the runtime: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is in the system's folder for what may be lost
	packed, err := o.pack(ctx, dir)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	o.terminal.say("packed %s in %s of Python %s: %s", sizeOf(packed.manifest.Bytes()), count(int64(len(packed.manifest.Entries)), "file"), packed.manifest.Python, count(int64(len(packed.manifest.Pieces)), "piece"))
	if o.dryRun {
		return o.print(client.Runtime{Name: o.name, Digest: packed.digest})
	}
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	doc, err := packed.push(ctx, o.terminal, c, o.name)
	if err != nil {
		return err
	}
	if o.json() {
		return writeJSON(o.terminal.out, doc.Raw)
	}
	return o.print(doc.Value)
}

// print prints the line for function.toml.
func (o *runtimeImportOptions) print(r client.Runtime) error {
	if o.json() {
		return writeValue(o.terminal.out, map[string]string{"name": r.Name, "digest": r.Digest})
	}
	_, err := fmt.Fprintln(o.terminal.out, runtimeLine(r))
	return err
}

// pack collects what is wanted into a folder, and packs it beside that.
func (o *runtimeImportOptions) pack(ctx context.Context, dir string) (*packedRuntime, error) {
	into := filepath.Join(dir, "tree")
	if err := os.Mkdir(into, 0o700); err != nil {
		return nil, fmt.Errorf("making a folder for the runtime: %w", err)
	}
	found, err := tree.Collect(ctx, o.from, into)
	if err != nil {
		return nil, err
	}
	if err := tree.Compile(ctx, &found, into); err != nil {
		return nil, err
	}
	return packRuntime(ctx, found.About, into, filepath.Join(dir, "objects"))
}

// packedRuntime is a runtime as it is sent.
type packedRuntime struct {
	manifest tree.Manifest
	digest   string
	objects  map[string]localFile // the manifest and the pieces by their digests
	order    []string
}

// packRuntime packs a folder, and lays what is sent into another one.
func packRuntime(ctx context.Context, about tree.Manifest, from, objects string) (*packedRuntime, error) {
	if err := os.Mkdir(objects, 0o700); err != nil {
		return nil, fmt.Errorf("making a folder for the pieces: %w", err)
	}
	p := &packedRuntime{objects: map[string]localFile{}}
	var err error
	p.manifest, err = tree.Pack(ctx, from, about, func(piece tree.Piece, data []byte) error { return p.lay(objects, piece.Digest, data) })
	if err != nil {
		return nil, err
	}
	text, err := p.manifest.Encode()
	if err != nil {
		return nil, err
	}
	p.digest = tree.DigestOf(text)
	return p, p.lay(objects, p.digest, text)
}

func (p *packedRuntime) lay(dir, digest string, data []byte) error {
	if _, there := p.objects[digest]; there {
		return nil
	}
	f := localFile{path: filepath.Join(dir, digest), name: digest, size: int64(len(data))}
	p.objects[digest], p.order = f, append(p.order, digest)
	return os.WriteFile(f.path, data, 0o600)
}

// push sends the objects that the server does not have, and makes the runtime of them all.
func (p *packedRuntime) push(ctx context.Context, t *terminal, c *connection, name string) (doc answer.Document[client.Runtime], err error) {
	missing, err := p.missing(ctx, c)
	if err != nil {
		return doc, explain("asking which pieces the server has", err)
	}
	if err := p.send(ctx, t, c, missing); err != nil {
		return doc, explain("sending the runtime (the same command continues where it was)", err)
	}
	t.say("%s sent, %d were there already", count(int64(len(missing)), "object"), len(p.order)-len(missing))
	doc, err = answer.Read[client.Runtime](c.AddRuntime(ctx, c.project, nil, client.NewRuntime{Name: name, Digest: p.digest}))
	if err == nil && doc.Status == http.StatusOK {
		t.say("this is a runtime of the project already")
	}
	return doc, explain("making the runtime "+name, err)
}

func (p *packedRuntime) missing(ctx context.Context, c *connection) (missing []string, err error) {
	for left := p.order; len(left) > 0; {
		n := min(len(left), askedAtOnce)
		doc, err := answer.Read[client.MissingObjects](c.FindMissingObjects(ctx, c.project, nil, client.MissingObjectsRequest{Digests: left[:n]}))
		if err != nil {
			return nil, err
		}
		missing, left = append(missing, doc.Value.Missing...), left[n:]
	}
	return missing, nil
}

func (p *packedRuntime) send(ctx context.Context, t *terminal, c *connection, missing []string) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(uploads)
	for _, digest := range missing {
		work.Go(func() error {
			_, err := newUpload(t, c).object(ctx, p.objects[digest])
			return err
		})
	}
	return work.Wait()
}
