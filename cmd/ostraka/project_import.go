package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/canonical"
)

func newProjectImport(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	var key string
	var settings bool
	cmd := &cobra.Command{
		Use: "import DIR", Short: "Make what a project's export holds again, in the project of this installation", Args: arguments(1),
		Long: `Make what ostraka project export has put into a folder again, in a project of this or another installation. All files are held against
their digests before anything is sent. It takes an owner's key; every step is decided by the guardian and recorded, as if you had done
it by hand. What is there already stays as it is: the same command continues an import that was cut off. Settings are set only in a
project that has no functions and no jobs yet, or with --settings; what they change is printed.

Versions are pushed in their order. At the first runtime, module, function or workflow that is refused the import stops: the guardian
asks a person before it takes the first runtime of a key, for example. Approve it, then run the same command again.

Schedules come paused, so that nothing runs in both places: ostraka schedule resume NAME. Webhooks come paused and with other secrets:
ostraka webhook rotate NAME, then resume. Functions come without signatures: where the project signs, ostraka signing-key create signs
them again. What only an operator may set is named in the end. The log of the old project stays a file, which ostraka audit verify
--export verifies.`,
		Example: "  ostraka project import ./moving --context other --key \"$(cat log.key)\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			i := &projectImport{t: t, dir: projectFolder(args[0]), key: strings.TrimSpace(key), versions: map[string]int64{}, mayset: settings}
			if err := i.open(); err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			i.c = c
			if err := i.run(cmd.Context()); err != nil {
				return i.explain(err)
			}
			return i.show(&output)
		},
	}
	output.register(cmd.Flags())
	cmd.Flags().BoolVar(&settings, "settings", false, "set what an owner may set also in a project that has functions or jobs already")
	cmd.Flags().StringVar(&key, "key", "", "the key of the old project's log, as ostraka audit checkpoint shows it: an archive with a receipt by another one is refused")
	return cmd
}

// projectImport makes a project of an export.
type projectImport struct {
	t   *terminal
	c   *connection
	dir projectFolder
	key string
	m   exportedProject

	versions map[string]int64 // here, of "function NAME version N", "module NAME version N" and "workflow NAME version N", where N is there
	mayset   bool             // settings: the project has nothing yet, or somebody wants it
	result   importResult
}

// importResult says what became of the parts of an export.
type importResult struct {
	Made    int64    `json:"made"`
	There   int64    `json:"there"`   // before
	Changed []string `json:"changed"` // what has another number here
	Failed  []string `json:"failed"`
}

// open reads the manifest.
func (i *projectImport) open() (err error) {
	if _, err := os.Stat(i.dir.unfinished()); err == nil {
		return &exitError{code: exitFailed, err: fmt.Errorf("the export in %s is not whole", i.dir), hint: "ostraka project export with the same folder continues it"}
	}
	i.m, err = i.dir.readManifest()
	if errors.Is(err, os.ErrNotExist) {
		return usageError("%s holds no export of a project: it has no %s", i.dir, projectManifest)
	}
	if err != nil {
		return &exitError{code: exitFailed, err: err}
	}
	return nil
}

func (i *projectImport) run(ctx context.Context) error {
	i.result = importResult{Changed: []string{}, Failed: []string{}}
	if err := i.checkFiles(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{
		i.look, i.objects, i.runtimes, i.modules, i.functions, i.files, i.workflows, i.archives, i.rules, i.schedules, i.webhooks, i.settings, i.deprecations, i.guardian,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// checkFiles holds every file against its digest, before anything is sent.
func (i *projectImport) checkFiles(ctx context.Context) error {
	bar := newProgress(i.t, "checked")
	bar.unit = "file"
	defer bar.finish()
	all := i.onDisk()
	if err := i.checkCode(); err != nil {
		return err
	}
	for n, f := range all {
		if !canonical.IsDigest(f.Digest) {
			return &exitError{code: exitFailed, err: fmt.Errorf("%s names %.70q, which is no digest", i.dir.manifest(), f.Digest)}
		}
		got, err := digestOfFile(ctx, f.path)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || got != f.Digest {
			return &exitError{
				code: exitFailed, err: fmt.Errorf("%s is not the file that was exported: %s", f.path, differsFrom(got, f.Digest, err)),
				hint: "copy the folder again, or export into it again: ostraka project export repairs what differs",
			}
		}
		bar.update(int64(n+1), int64(len(all)))
	}
	return nil
}

// checkCode wants what is read from the folder as code to be among the objects, whose names are checked: a manifest from elsewhere may
// name anything, also a file outside.
func (i *projectImport) checkCode() error {
	objects := map[string]bool{}
	for _, o := range i.m.Objects {
		objects[o.Digest] = true
	}
	named := make([]string, 0, len(i.m.Functions)+len(i.m.Modules))
	for _, f := range i.m.Functions {
		named = append(named, f.Digest)
	}
	for _, m := range i.m.Modules {
		named = append(named, m.Digest)
	}
	for _, digest := range named {
		if !objects[digest] {
			return &exitError{code: exitFailed, err: fmt.Errorf("%s names %.70q, which is not among its objects", i.dir.manifest(), digest)}
		}
	}
	return nil
}

func differsFrom(got, want string, err error) string {
	if err != nil {
		return err.Error()
	}
	return "its digest is " + got + ", not " + want
}

// fileOnDisk is a file of an export, and what it should be.
type fileOnDisk struct {
	exportedObject
	path string
}

// onDisk are all files of the export besides the manifest.
func (i *projectImport) onDisk() (all []fileOnDisk) {
	all = append(all, fileOnDisk{i.m.Log, i.dir.log()})
	for _, o := range i.m.Objects {
		all = append(all, fileOnDisk{o, i.dir.object(o.Digest)})
	}
	for _, a := range i.m.Archives {
		name := i.dir.archive(a.Job)
		all = append(all, fileOnDisk{a.Document, name + documentSuffix}, fileOnDisk{a.Results, name + resultsSuffix})
		if a.Receipt != nil {
			all = append(all, fileOnDisk{*a.Receipt, name + receiptSuffix})
		}
	}
	return all
}

// took notes what became of one part. An answer that refuses it is kept for the end; anything else stops the import.
func (i *projectImport) took(what string, made bool, err error) error {
	var problem *answer.Error
	switch {
	case err == nil && made:
		i.result.Made++
	case err == nil:
		i.result.There++
	case errors.As(err, &problem) && !problem.Temporary() && exitCode(err) != exitAuth:
		text := err.Error()
		if hint := hintOf(err); hint != "" {
			text += " (" + hint + ")"
		}
		i.result.Failed = append(i.result.Failed, what+": "+text)
	default:
		return err
	}
	return nil
}

func (i *projectImport) explain(err error) error {
	if errors.Is(err, context.Canceled) {
		return &exitError{code: exitInterrupted, err: errors.New("the import was interrupted"), hint: "the same command continues it: what is there stays"}
	}
	return err
}

// show says what was made, and what is left to do.
func (i *projectImport) show(o *outputFlag) error {
	if o.json() {
		if err := writeValue(i.t.out, i.result); err != nil {
			return err
		}
	} else if err := printFields(i.t, [][2]string{
		{"imported", i.m.Project.ID.String() + "  " + plain(i.m.Project.Name)},
		{"into", i.c.project.String()},
		{"made", strconv.FormatInt(i.result.Made, 10)},
		{"there before", strconv.FormatInt(i.result.There, 10)},
	}); err != nil {
		return err
	}
	i.sayNext()
	if len(i.result.Failed) == 0 {
		return nil
	}
	for _, f := range i.result.Failed {
		i.t.say("not imported: %s", plain(f))
	}
	return &exitError{
		code: exitFailed, err: fmt.Errorf("%s of the export could not be imported", count(int64(len(i.result.Failed)), "part")),
		hint: "when the reasons above are gone, the same command imports them",
	}
}

// sayNext says what people have to do themselves.
func (i *projectImport) sayNext() {
	for _, c := range i.result.Changed {
		i.t.say("%s", plain(c))
	}
	if len(i.m.Schedules) > 0 {
		i.t.say("schedules are paused, so that nothing runs twice: pause them there (ostraka schedule pause NAME), and resume them here")
	}
	if len(i.m.Webhooks) > 0 {
		i.t.say("webhooks are paused and have other secrets: ostraka webhook rotate NAME shows one, then ostraka webhook resume NAME")
	}
	for _, f := range i.m.Functions {
		if f.Signed {
			i.t.say("functions were signed there, and are not here: ostraka signing-key create signs them for this project")
			break
		}
	}
	p := i.m.Project
	if p.Weight != defaultWeight {
		i.t.say("an operator may set: ostraka project set --weight %d", p.Weight)
	}
	if p.RecheckSeconds != 0 {
		i.t.say("an operator may set: ostraka project set --recheck-seconds %d", p.RecheckSeconds)
	}
	for _, name := range slices.Sorted(maps.Keys(i.m.Quotas)) {
		i.t.say("an operator may set: ostraka project set-quota %s=%d", plain(name), i.m.Quotas[name])
	}
	if len(i.m.Left) > 0 {
		i.t.say("%s not archived when it was exported, and stayed there", strings.Replace(are(len(i.m.Left), "job"), " is", " was", 1))
	}
	i.t.say("keys, tokens and agents are this project's own: ostraka key create, ostraka enrolment-token create")
}
