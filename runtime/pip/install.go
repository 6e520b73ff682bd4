package pip

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/python"
)

//go:embed run.py
var program string

const (
	// maxWords is how much of what pip says is kept, from its end, in bytes.
	maxWords = 64 << 10
	// endWithin is how long pip may take to end when it is told to.
	endWithin = 5 * time.Second
)

// Wanted says what is to be installed, and where from.
type Wanted struct {
	Requirements string   // a file as pip reads it: the user's own, or a lock
	FindLinks    []string // folders of wheels: then no index is asked, and no setting of pip's counts
	IndexURL     string   // empty: what the user's settings of pip say
	// Locked says that the file is a lock: what it names is everything, and every file must have its digest.
	Locked bool
	Shown  io.Writer // where pip shows how far it is; nil: nowhere
}

// Package is one that was chosen.
type Package struct {
	Name    string
	Version string
	URL     string // where a requirement named the file itself; else it is found by name and version
	SHA256  string
	Yanked  bool
}

// Install has pip install packages into a folder that is not there yet, with a tree's interpreter, and says which. They are in order of
// their names.
func Install(ctx context.Context, t python.Tree, w Wanted, into string) ([]Package, error) {
	work, err := os.MkdirTemp("", "ostraka-pip-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for pip: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }() // it is in the system's folder for what may be lost
	lib := filepath.Join(work, "pip")
	if err := errors.Join(os.Mkdir(lib, 0o700), unpack(lib)); err != nil {
		return nil, fmt.Errorf("unpacking pip: %w", err)
	}
	report, skipped := filepath.Join(work, "report.json"), filepath.Join(work, "skipped.json")
	if err := run(ctx, t, append([]string{lib, skipped}, w.arguments(report, into)...), w); err != nil {
		return nil, explain(err, skipped)
	}
	chosen, err := readReport(report)
	if err != nil {
		return nil, err
	}
	if err := tidy(into); err != nil {
		return nil, fmt.Errorf("taking away what pip has put beside the packages: %w", err)
	}
	return chosen, nil
}

func (w *Wanted) arguments(report, into string) []string {
	list := []string{
		"install", "--no-input", "--no-color", "--only-binary", ":all:", "--ignore-installed", "--no-compile", "--no-warn-script-location",
		"--report", report, "--target", into, "--requirement", w.Requirements,
	}
	if w.Locked {
		list = append(list, "--no-deps", "--require-hashes")
	}
	if w.Shown == nil {
		list = append(list, "--progress-bar", "off")
	}
	if len(w.FindLinks) > 0 {
		list = append(list, "--isolated", "--no-index")
	}
	for _, dir := range w.FindLinks {
		list = append(list, "--find-links", dir)
	}
	if w.IndexURL != "" {
		list = append(list, "--index-url", w.IndexURL)
	}
	return list
}

// environment is the user's own, since pip finds its settings, its index and its proxy in it, without what is none of pip's business.
func (w *Wanted) environment() []string {
	list := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "OSTRAKA_") || strings.HasPrefix(v, "PYTHON") || len(w.FindLinks) > 0 && strings.HasPrefix(v, "PIP_")
	})
	if len(w.FindLinks) > 0 {
		list = append(list, "PIP_CONFIG_FILE="+os.DevNull)
	}
	return append(list, "PIP_USER=0", "PIP_REQUIRE_VIRTUALENV=0", "PIP_DISABLE_PIP_VERSION_CHECK=1")
}

// failure is pip's end with its own words.
type failure struct {
	err   error
	words string
}

func (f *failure) Error() string { return f.err.Error() }

func run(ctx context.Context, t python.Tree, arguments []string, w Wanted) error {
	interpreter, before := t.Program()
	before = append(before, "-I", "-S", "-B", "-X", "utf8", "-c", program)
	cmd := exec.CommandContext(ctx, interpreter, append(before, arguments...)...)
	cmd.Env, cmd.WaitDelay = w.environment(), endWithin
	words := &tail{}
	cmd.Stdout, cmd.Stderr = w.Shown, words
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return &failure{err: err, words: words.text.String()}
	}
	return nil
}

// tail keeps the end of what is written to it.
type tail struct{ text bytes.Buffer }

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.text.Write(p)
	if over := t.text.Len() - maxWords; over > 0 {
		t.text.Next(over)
	}
	return len(p), nil
}

// readReport reads what pip says that it has installed.
func readReport(name string) ([]Package, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading pip's report: %w", err)
	}
	var report struct {
		Install []struct {
			DownloadInfo struct {
				URL         string `json:"url"`
				ArchiveInfo struct {
					Hashes map[string]string `json:"hashes"`
				} `json:"archive_info"`
			} `json:"download_info"`
			IsDirect bool                           `json:"is_direct"`
			IsYanked bool                           `json:"is_yanked"`
			Metadata struct{ Name, Version string } `json:"metadata"`
		} `json:"install"`
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("reading pip's report: %w", err)
	}
	list := []Package{}
	for _, i := range report.Install {
		p := Package{Name: normal(i.Metadata.Name), Version: i.Metadata.Version, SHA256: i.DownloadInfo.ArchiveInfo.Hashes["sha256"], Yanked: i.IsYanked}
		if i.IsDirect {
			p.URL = i.DownloadInfo.URL
		}
		if err := p.check(); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Package) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// check refuses what a lock could not name.
func (p *Package) check() error {
	switch {
	case p.SHA256 == "":
		return fmt.Errorf("%s %s: its index gives no SHA-256 of it, so that it cannot be locked", p.Name, p.Version)
	case p.URL != "" && !strings.HasPrefix(p.URL, "https://"):
		return fmt.Errorf("%s %s is named by a place on this machine: name it by its name, and its folder with --find-links", p.Name, p.Version)
	case !namePattern.MatchString(p.Name) || !versionPattern.MatchString(p.Version) || !canonical.IsDigest(p.SHA256) || strings.ContainsAny(p.URL, " \t\r\n\\"):
		return fmt.Errorf("pip has installed %.80q %.80q, which no lock can name", p.Name, p.Version)
	}
	return nil
}
