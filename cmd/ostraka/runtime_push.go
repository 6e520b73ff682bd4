package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/tree"
)

// askedAtOnce is of how many objects one request asks whether they are stored: as many as the API takes.
const askedAtOnce = 500

// runtimeMaking is what all commands have that make a runtime.
type runtimeMaking struct {
	outputFlag
	terminal *terminal
	server   *serverFlags
	name     string
	dryRun   bool
	approve  string // why, where the guardian asks
}

func (o *runtimeMaking) registerDryRun(f *pflag.FlagSet) {
	f.BoolVar(&o.dryRun, "dry-run", false, "pack it and print its digest, and send nothing")
	f.StringVar(&o.approve, "approve", "", "say yes, for this reason, where the guardian asks whether native code of a new publisher may be published")
}

// run packs a runtime in a folder that is removed in the end, pushes it, and prints the line for function.toml.
func (o *runtimeMaking) run(ctx context.Context, pack func(ctx context.Context, dir string) (*packedRuntime, error)) error {
	if err := o.check(); err != nil {
		return err
	}
	if !bundle.IsRuntimeName(o.name) { // now, and not when all is packed and sent
		return usageError("%q is not a name for a runtime: use 1 to 63 lower-case letters, digits and hyphens, starting with a letter", o.name)
	}
	dir, err := os.MkdirTemp("", "ostraka-runtime-")
	if err != nil {
		return fmt.Errorf("making a folder for the runtime: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is in the system's folder for what may be lost
	packed, err := pack(ctx, dir)
	if err != nil {
		return err
	}
	o.terminal.say("packed %s in %s of Python %s: %s", sizeOf(packed.manifest.Bytes()), count(int64(len(packed.manifest.Entries)), "file"), packed.manifest.Python, count(int64(len(packed.manifest.Pieces)), "piece"))
	if err := keepRuntime(ctx, o.terminal, packed); err != nil {
		o.terminal.say("the runtime could not be kept on this machine for `ostraka function run` and `function check`: %v", err)
	}
	if o.dryRun {
		return o.print(client.Runtime{Name: o.name, Digest: packed.digest})
	}
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	doc, err := packed.push(ctx, o.terminal, c, o.name, o.approve)
	if err != nil {
		return err
	}
	if o.json() {
		return writeJSON(o.terminal.out, doc.Raw)
	}
	return o.print(doc.Value)
}

// print prints the line for function.toml.
func (o *runtimeMaking) print(r client.Runtime) error {
	if o.json() {
		return writeValue(o.terminal.out, map[string]string{"name": r.Name, "digest": r.Digest})
	}
	_, err := fmt.Fprintln(o.terminal.out, runtimeLine(r))
	return err
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
		return nil, &exitError{code: exitUsage, err: err}
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
func (p *packedRuntime) push(ctx context.Context, t *terminal, c *connection, name, approve string) (doc answer.Document[client.Runtime], err error) {
	missing, err := p.missing(ctx, c)
	if err != nil {
		return doc, explain("asking which pieces the server has", err)
	}
	if err := p.send(ctx, t, c, missing); err != nil {
		if ctx.Err() != nil {
			t.say("what was sent stays for a day at least: the same command continues there")
		}
		return doc, explain("sending the runtime (the same command continues where it was)", err)
	}
	t.say("%s sent, %d were there already", count(int64(len(missing)), "object"), len(p.order)-len(missing))
	add := func() (answer.Document[client.Runtime], error) {
		return answer.Read[client.Runtime](c.AddRuntime(ctx, c.project, nil, client.NewRuntime{Name: name, Digest: p.digest}))
	}
	doc, err = add()
	if approve != "" && errors.Is(err, errApprovalNeeded) {
		if err := approveRuntime(ctx, t, c, name, p.digest, approve, err); err != nil {
			return doc, explain("approving the runtime "+name, err)
		}
		doc, err = add()
	}
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
	files := make([]localFile, len(missing))
	for i, digest := range missing {
		files[i] = p.objects[digest]
	}
	return newUpload(t, c).objects(ctx, files)
}
