package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/tree"
)

func newProjectExport(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	var archive bool
	cmd := &cobra.Command{
		Use: "export DIR", Short: "Copy the project into a folder, for another installation", Args: arguments(1),
		Long: `Copy the project into a folder, from which ostraka project import makes it again in another installation: functions, modules and
workflows with all versions, runtimes, files, rules, schedules, webhooks, the guardian's rules, settings, the archives of ended jobs
with what their results refer to, and the audit log. All is held against its digest on the way. It takes an owner's key.

Not in it are keys, tokens, agents and what is known of them, signatures of functions (they hold for this project alone), secrets of
webhooks, runs of workflows, and jobs that are not archived; these are named. --archive archives those that have ended before.

The folder is an export once it has a project.json, which is written last. One that was cut off goes on with the same command.
URLs of webhooks, inputs and outputs are in it: keep it as you keep the project.`,
		Example: "  ostraka project export ./moving --archive\n  ostraka project import ./moving --context other",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			e := &projectExport{t: t, c: c, dir: projectFolder(args[0]), archive: archive, sizes: map[string]int64{}}
			if err := e.run(cmd.Context()); err != nil {
				return explainExport(err)
			}
			return e.show(&output)
		},
	}
	output.register(cmd.Flags())
	cmd.Flags().BoolVar(&archive, "archive", false, "archive jobs that have ended first, here: their shards leave the database (ostraka job archive)")
	return cmd
}

func explainExport(err error) error {
	if errors.Is(err, context.Canceled) {
		return &exitError{code: exitInterrupted, err: errors.New("the export was interrupted"), hint: "the same command continues it"}
	}
	return err
}

// projectExport copies a project into a folder. Archives come first and what they name after them, so that a project that is worked on
// meanwhile leaves nothing out that is referred to: versions and objects in use are never removed.
type projectExport struct {
	t       *terminal
	c       *connection
	dir     projectFolder
	archive bool

	m     exportedProject
	sizes map[string]int64 // of the objects that belong to it; -1: not known yet
	mu    sync.Mutex
}

func (e *projectExport) run(ctx context.Context) error {
	if err := e.dir.begin(e.c.project); err != nil {
		return err
	}
	e.m = exportedProject{Format: projectFormat, Program: version, ExportedAt: time.Now().UTC().Truncate(time.Second)}
	for _, step := range []func(context.Context) error{
		e.jobs, e.settings, e.rules, e.schedules, e.webhooks, e.workflows, e.functions, e.modules, e.runtimes, e.files, e.objects, e.log,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	for digest, size := range e.sizes {
		e.m.Objects = append(e.m.Objects, exportedObject{Digest: digest, Bytes: size})
	}
	slices.SortFunc(e.m.Objects, func(a, b exportedObject) int { return cmp.Compare(a.Digest, b.Digest) })
	return e.dir.finish(e.m)
}

// need says that an object belongs to the export.
func (e *projectExport) need(digests ...string) {
	for _, digest := range digests {
		if digest != "" {
			e.sizes[digest] = -1
		}
	}
}

// runtimes lists the runtimes, and fetches their manifests, which name their pieces.
func (e *projectExport) runtimes(ctx context.Context) error {
	all, err := everything[client.Runtime]("listing runtimes", e.listRuntimes(ctx))
	if err != nil {
		return err
	}
	for _, r := range all {
		if err := e.fetch(ctx, r.Digest); err != nil {
			return err
		}
		text, err := readBounded(e.dir.object(r.Digest), tree.MaxManifestBytes)
		if err != nil {
			return fmt.Errorf("reading the manifest of the runtime %s: %w", r.Name, err)
		}
		manifest, err := tree.Parse(text)
		if err != nil {
			return fmt.Errorf("the runtime %s: %w", r.Name, err)
		}
		e.need(r.Digest)
		for _, p := range manifest.Pieces {
			e.need(p.Digest)
		}
		e.m.Runtimes = append(e.m.Runtimes, exportedRuntime{Name: r.Name, Digest: r.Digest})
	}
	return nil
}

// objects fetches what is not there yet, some at a time.
func (e *projectExport) objects(ctx context.Context) error {
	bar := newProgress(e.t, "objects")
	bar.unit = "object"
	defer bar.finish()
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(uploads)
	var done int64
	all := make([]string, 0, len(e.sizes))
	for digest := range e.sizes {
		all = append(all, digest)
	}
	for _, digest := range all {
		if ctx.Err() != nil {
			break
		}
		work.Go(func() error {
			if err := e.fetch(ctx, digest); err != nil {
				return err
			}
			info, err := os.Stat(e.dir.object(digest))
			if err != nil {
				return fmt.Errorf("looking at an object: %w", err)
			}
			e.mu.Lock()
			defer e.mu.Unlock()
			e.sizes[digest] = info.Size()
			done++
			bar.update(done, int64(len(all)))
			return nil
		})
	}
	return work.Wait()
}

// fetch copies an object, unless it is there already.
func (e *projectExport) fetch(ctx context.Context, digest string) error {
	return e.fetchAs(ctx, digest, e.dir.object(digest))
}

func (e *projectExport) fetchAs(ctx context.Context, digest, path string) (err error) {
	if got, err := digestOfFile(ctx, path); err == nil && got == digest {
		return nil
	}
	for tries := newRetries(); ; {
		err = getObject(ctx, e.t, e.c, digest, path)
		if err == nil || !answer.Temporary(err) || !tries.again(ctx) {
			return err
		}
	}
}

// log copies the sealed audit log, to be verified anywhere.
func (e *projectExport) log(ctx context.Context) error {
	body, err := auditExport(ctx, e.c, &layerFlag{}, recordRange{})
	if err != nil {
		return err
	}
	defer body.Close()
	err = writeWholeFile(e.dir.log(), "writing the log", func(part io.Writer) error {
		e.m.Log.Bytes, err = io.Copy(part, body)
		if err != nil {
			return explain("exporting the audit log", &answer.Unreachable{Err: err})
		}
		return nil
	})
	if err == nil {
		e.m.Log.Digest, err = digestOfFile(ctx, e.dir.log())
	}
	return err
}

// show says what is in the export, and what is not.
func (e *projectExport) show(o *outputFlag) error {
	if o.json() {
		if err := writeValue(e.t.out, e.m); err != nil {
			return err
		}
	} else if err := printFields(e.t, e.m.fields(e.dir)); err != nil {
		return err
	}
	if len(e.m.Left) > 0 {
		e.t.say("%s not archived, and so not in it:", are(len(e.m.Left), "job"))
		for _, l := range e.m.Left[:min(len(e.m.Left), 10)] {
			e.t.say("  %s  %s: %s", l.Job, l.State, plain(l.Why))
		}
		if len(e.m.Left) > 10 {
			e.t.say("  and %d more: left in %s names them", len(e.m.Left)-10, projectManifest)
		}
	}
	e.t.say("not in it: keys, tokens, agents, signatures of functions, secrets of webhooks, runs of workflows")
	e.t.say("next: %s project import %s --context OTHER", e.t.program, shellWord(string(e.dir)))
	return nil
}

func are(n int, thing string) string {
	if n == 1 {
		return "1 " + thing + " is"
	}
	return count(int64(n), thing) + " are"
}

// fields are what a person reads of an export.
func (m *exportedProject) fields(dir projectFolder) [][2]string {
	var size int64
	for _, o := range m.Objects {
		size += o.Bytes
	}
	return [][2]string{
		{"export", string(dir)},
		{"project", m.Project.ID.String() + "  " + plain(m.Project.Name)},
		{"exported", shortTime(m.ExportedAt)},
		{"functions", count(int64(len(m.Functions)), "version")},
		{"modules", count(int64(len(m.Modules)), "version")},
		{"workflows", count(int64(len(m.Workflows)), "version")},
		{"runtimes", strconv.Itoa(len(m.Runtimes))},
		{"files", strconv.Itoa(len(m.Files))},
		{"rules", strconv.Itoa(len(m.Rules)) + ", and " + strconv.Itoa(len(m.GuardianRules)) + " of the guardian"},
		{"schedules", strconv.Itoa(len(m.Schedules))},
		{"webhooks", strconv.Itoa(len(m.Webhooks))},
		{"archives", strconv.Itoa(len(m.Archives))},
		{"objects", count(int64(len(m.Objects)), "object") + ", " + roughBytes(size)},
	}
}
