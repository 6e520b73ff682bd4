package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/runtime/pip"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/runtime/tree"
)

// lockName is the file beside the requirements that says what was chosen.
const lockName = "runtime.lock"

// maxRequirementsBytes is the size of a file of requirements.
const maxRequirementsBytes = 1 << 20

// runtimeBuildOptions are the flags of `ostraka runtime build`.
type runtimeBuildOptions struct {
	runtimeMaking
	wanted pip.Wanted
	python string
}

func newRuntimeBuild(t *terminal, server *serverFlags) *cobra.Command {
	o := &runtimeBuildOptions{runtimeMaking: runtimeMaking{terminal: t, server: server}}
	cmd := &cobra.Command{
		Use: "build NAME --requirements FILE", Short: "Make a runtime of the packages that a requirements file names",
		Long: `Make a runtime of the Python that this program carries and of the packages that a requirements file names. pip, which
the program carries too, chooses them on this machine: wheels only, so that no code of a package runs. Without --find-links
and --index-url it asks what your settings of pip name (PIP_INDEX_URL, pip.conf), which is where passwords belong.

What was chosen is written with digests into runtime.lock beside the requirements: commit it. With --locked exactly that is
built, or nothing. The same wheels on the same system make the same digest. Shared libraries of this machine that Python
and the packages need come along, the C library among them.

It is sent in pieces of a few MiB, and what the server has already is not sent again. What comes out is the line for
function.toml.`,
		Example: "  ostraka runtime build science --requirements requirements.txt\n" +
			"  ostraka runtime build science --requirements requirements.txt --locked\n" +
			"  ostraka runtime build mine --requirements requirements.txt --find-links ./wheels --dry-run",
		Args: arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return o.build(cmd.Context())
		},
	}
	f := cmd.Flags()
	o.register(f)
	o.registerDryRun(f)
	f.StringVar(&o.wanted.Requirements, "requirements", "requirements.txt", "the packages that are wanted, as pip reads them")
	f.StringArrayVar(&o.wanted.FindLinks, "find-links", nil, "a folder of wheels; several times: then no index is asked, and nothing of the network")
	f.StringVar(&o.wanted.IndexURL, "index-url", "", "the index to ask, without a password; left out: that of your settings of pip")
	f.StringVar(&o.python, "python", "embedded", "the interpreter: embedded, which this program carries; for one of this machine there is `runtime import`")
	f.BoolVar(&o.wanted.Locked, "locked", false, "build what "+lockName+" names, and nothing else")
	return cmd
}

func (o *runtimeBuildOptions) build(ctx context.Context) error {
	if err := o.checkFlags(); err != nil {
		return err
	}
	requirements, err := readBounded(o.wanted.Requirements, maxRequirementsBytes)
	if err != nil {
		return usageError("--requirements %s: %w", o.wanted.Requirements, err)
	}
	earlier, err := o.readLock(requirements)
	if err != nil {
		return err
	}
	return o.run(ctx, func(ctx context.Context, dir string) (*packedRuntime, error) {
		return o.pack(ctx, dir, requirements, earlier)
	})
}

func (o *runtimeBuildOptions) checkFlags() error {
	here := runtime.GOOS + "/" + runtime.GOARCH
	switch {
	case o.python != "embedded":
		return usageError("--python %s: runtimes are built of the embedded one; `ostraka runtime import` takes one of this machine", o.python)
	case here != tree.Platform:
		return usageError("this program carries Python for %s, and runtimes are for %s: run it there, in a container for example", here, tree.Platform)
	case len(o.wanted.FindLinks) > 0 && o.wanted.IndexURL != "":
		return usageError("--find-links and --index-url exclude one another")
	}
	if u, err := url.Parse(o.wanted.IndexURL); err != nil || u.User != nil {
		return usageError("--index-url: give an address without a user and a password; those belong into ~/.netrc or into PIP_INDEX_URL, where nobody sees them")
	}
	for i, folder := range o.wanted.FindLinks {
		info, err := os.Stat(folder)
		if err != nil || !info.IsDir() {
			return usageError("--find-links %s: there is no such folder", folder)
		}
		if o.wanted.FindLinks[i], err = filepath.Abs(folder); err != nil {
			return err
		}
	}
	return nil
}

func (o *runtimeBuildOptions) lockFile() string {
	return filepath.Join(filepath.Dir(o.wanted.Requirements), lockName)
}

// readLock reads what an earlier run has written, if there is any. With --locked there has to be, and of the same requirements.
func (o *runtimeBuildOptions) readLock(requirements []byte) (*pip.Lock, error) {
	text, err := os.ReadFile(o.lockFile())
	switch {
	case errors.Is(err, fs.ErrNotExist) && !o.wanted.Locked:
		return nil, nil //nolint:nilnil // there is none, which is no error
	case err != nil:
		return nil, &exitError{code: exitUsage, err: fmt.Errorf("reading the lock: %w", err), hint: "without --locked it is made"}
	}
	l, err := pip.ParseLock(text)
	switch {
	case err != nil && !o.wanted.Locked:
		return nil, &exitError{code: exitUsage, err: fmt.Errorf("reading %s: %w", o.lockFile(), err), hint: "move the file away, and build again"}
	case err != nil:
		return nil, usageError("reading %s: %w", o.lockFile(), err)
	case o.wanted.Locked && l.Requirements != tree.DigestOf(requirements):
		return nil, &exitError{code: exitUsage, err: fmt.Errorf("%s has changed since %s was made of it", o.wanted.Requirements, o.lockFile()), hint: "build without --locked, and commit both"}
	}
	return &l, nil
}

// pack installs what is wanted, packs it with the interpreter, and writes the lock or holds to it.
func (o *runtimeBuildOptions) pack(ctx context.Context, dir string, requirements []byte, earlier *pip.Lock) (_ *packedRuntime, err error) {
	interpreter, err := openPython(ctx, o.terminal, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, interpreter.Release()) }()
	lock := pip.Lock{Requirements: tree.DigestOf(requirements), Python: pythonOfLock(interpreter), Options: pip.OptionsOf(requirements)}
	if o.wanted.Locked && earlier.Python != lock.Python {
		return nil, &exitError{
			code: exitUsage, err: fmt.Errorf("%s is of Python %s, and this program carries %s", o.lockFile(), earlier.Python, lock.Python),
			hint: "build without --locked, or with the version of this program that made the lock",
		}
	}
	site := filepath.Join(dir, "site")
	if lock.Packages, err = o.install(ctx, interpreter, site); err != nil {
		return nil, err
	}
	if err := o.checkAgainst(&lock, earlier); err != nil {
		return nil, err
	}
	p, err := o.packTree(ctx, dir, interpreter, site, &lock)
	if err != nil {
		return nil, err
	}
	lock.Runtime = p.digest
	if o.wanted.Locked {
		return p, o.hold(&lock, earlier)
	}
	return p, o.writeLock(&lock)
}

// pythonOfLock is an interpreter as a lock names it.
func pythonOfLock(t python.Tree) string {
	return fmt.Sprintf("%s %s sha256:%s", t.Version, tree.Platform, t.Digest)
}

func (o *runtimeBuildOptions) install(ctx context.Context, interpreter python.Tree, site string) ([]pip.Package, error) {
	version, err := pip.Version()
	if err != nil {
		return nil, err
	}
	w := o.wanted
	if w.Locked {
		w.Requirements = o.lockFile()
	}
	if o.terminal.live {
		w.Shown = o.terminal.talk
	}
	o.terminal.say("installing what %s names with pip %s for Python %s", w.Requirements, version, interpreter.Version)
	packages, err := pip.Install(ctx, interpreter, w, site)
	switch {
	case errors.Is(err, pip.ErrHash):
		return nil, &exitError{code: exitFailed, err: err, hint: "find out who changed the file; where that is meant, build without --locked"}
	case errors.Is(err, pip.ErrUnresolved):
		return nil, &exitError{code: exitFailed, err: err, hint: "runtimes have wheels for Python " + interpreter.Version + " on " + tree.Platform + " only, and wheels for any platform"}
	case err != nil:
		return nil, &exitError{code: exitFailed, err: err}
	}
	for _, p := range packages {
		if p.Yanked {
			o.terminal.say("%s %s was withdrawn by its makers: choose another version", p.Name, p.Version)
		}
	}
	return packages, nil
}

// packTree lays the interpreter, the packages and the libraries that they need together, and packs them.
func (o *runtimeBuildOptions) packTree(ctx context.Context, dir string, interpreter python.Tree, site string, lock *pip.Lock) (*packedRuntime, error) {
	at, err := filepath.EvalSymlinks(site)
	if err != nil {
		return nil, fmt.Errorf("looking for the packages: %w", err)
	}
	from := runtimeImportOptions{runtimeMaking: o.runtimeMaking, from: tree.Source{Root: "/", Python: interpreter.Interpreter, Site: at}}
	p, err := from.pack(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, e := range p.manifest.Entries {
		folder, name := path.Split(e.Path)
		if path.Clean(folder) != p.manifest.Libraries[0] {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, "tree", filepath.FromSlash(e.Path)))
		if err != nil {
			return nil, fmt.Errorf("reading a library for the lock: %w", err)
		}
		lock.Libraries = append(lock.Libraries, pip.Library{Name: name, SHA256: tree.DigestOf(data)})
	}
	return p, nil
}

// hold refuses a tree that is another than the lock names.
func (o *runtimeBuildOptions) hold(made, want *pip.Lock) error {
	if made.Runtime == want.Runtime {
		return nil
	}
	why := "this version of the program packs in another way"
	if others := made.OtherLibraries(want); len(others) > 0 {
		why = "this machine has other versions of " + strings.Join(others, ", ")
	}
	return &exitError{
		code: exitFailed, err: fmt.Errorf("it became the runtime %s, and %s names %s: %s", made.Runtime, o.lockFile(), want.Runtime, why),
		hint: "build on the same system (the same image of a container), or without --locked; functions then name the new digest",
	}
}

// checkAgainst refuses another file under the name and version that an earlier lock has.
func (o *runtimeBuildOptions) checkAgainst(lock, earlier *pip.Lock) error {
	if earlier == nil {
		return nil
	}
	if err := lock.CheckAgainst(earlier); err != nil {
		return &exitError{code: exitFailed, err: err, hint: "find out who changed the file; where that is meant, move " + o.lockFile() + " away and build again"}
	}
	return nil
}

// writeLock writes down what was chosen.
func (o *runtimeBuildOptions) writeLock(lock *pip.Lock) error {
	text := []byte(lock.String())
	if _, err := pip.ParseLock(text); err != nil { // what cannot be read later is not written now
		return fmt.Errorf("writing %s: %w", o.lockFile(), err)
	}
	if there, err := os.ReadFile(o.lockFile()); err == nil && bytes.Equal(there, text) {
		o.terminal.say("%s names it already", o.lockFile())
		return nil
	}
	err := writeWholeFile(o.lockFile(), "writing the lock", func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err == nil {
		o.terminal.say("wrote %s: %s, to be committed", o.lockFile(), count(int64(len(lock.Packages)), "package"))
	}
	return err
}
