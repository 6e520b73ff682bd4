package devdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// MinVersion is the oldest major version of Postgres that Ostraka's schema and
// queries are written for.
const MinVersion = 14

// ErrNotInstalled says that no usable Postgres server is installed. Its text
// around the wrap names the command that installs one.
var ErrNotInstalled = errors.New("no usable Postgres server is installed")

// packagedBinDirs is where Debian and its kin keep the server's programs, which
// are on nobody's PATH.
const packagedBinDirs = "/usr/lib/postgresql/*/bin"

// Binaries are the programs of one installed Postgres.
type Binaries struct {
	// Dir holds initdb and postgres.
	Dir string
	// Major is the major version, Version the whole one as the server prints it.
	Major   int
	Version string
}

func (b Binaries) initdb() string   { return filepath.Join(b.Dir, "initdb") }
func (b Binaries) postgres() string { return filepath.Join(b.Dir, "postgres") }

// FindBinaries finds the server's programs. With an override only that
// directory counts; otherwise it looks in /usr/lib/postgresql/*/bin, where
// `pg_config --bindir` points, and on PATH, and takes the newest. A cluster
// that already exists needs the major version it was made with: pass it as
// need, or 0 for any that is at least MinVersion.
func FindBinaries(ctx context.Context, override string, need int) (Binaries, error) {
	dirs := []string{override}
	if override == "" {
		dirs = candidateDirs(ctx)
	}
	var found []Binaries
	var problems []error
	for _, dir := range dirs {
		b, err := inspect(ctx, dir)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		found = append(found, b)
	}
	best, err := choose(found, need)
	if err != nil {
		return Binaries{}, errors.Join(append([]error{err}, problems...)...)
	}
	return best, nil
}

// choose picks the newest version, or the newest of the major version needed.
func choose(found []Binaries, need int) (Binaries, error) {
	var best Binaries
	for _, b := range found {
		fits := b.Major >= MinVersion && (need == 0 || b.Major == need)
		if fits && b.Major > best.Major {
			best = b
		}
	}
	switch {
	case best.Dir != "":
		return best, nil
	case need != 0:
		return best, fmt.Errorf("the data was made by Postgres %d, which is not among the installed ones (%s): %w: install it with `apt-get install postgresql-%d`, or name its programs' directory",
			need, describe(found), ErrNotInstalled, need)
	case len(found) > 0:
		return best, fmt.Errorf("found %s, but Ostraka needs Postgres %d or newer: %w: install it with `apt-get install postgresql`",
			describe(found), MinVersion, ErrNotInstalled)
	default:
		return best, fmt.Errorf("looking for the programs initdb and postgres: %w: install them with `apt-get install postgresql`, or use a server of your own with --database-url",
			ErrNotInstalled)
	}
}

func describe(found []Binaries) string {
	if len(found) == 0 {
		return "none"
	}
	words := make([]string, len(found))
	for i, b := range found {
		words[i] = b.Version + " in " + b.Dir
	}
	return strings.Join(words, ", ")
}

// candidateDirs lists the directories that hold a postgres program.
func candidateDirs(ctx context.Context) []string {
	dirs, _ := filepath.Glob(packagedBinDirs) // the pattern is well formed
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	return slices.DeleteFunc(dirs, func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "postgres"))
		return err != nil // a client-only installation
	})
}

// versionLine matches "postgres (PostgreSQL) 15.8 (Debian 15.8-1)" and "17beta1".
var versionLine = regexp.MustCompile(`\(PostgreSQL\) ((\d+)\S*)`)

// inspect asks the programs in dir which version they are.
func inspect(ctx context.Context, dir string) (Binaries, error) {
	b := Binaries{Dir: dir}
	if _, err := os.Stat(b.initdb()); err != nil {
		return b, fmt.Errorf("looking for initdb: %w", err)
	}
	out, err := exec.CommandContext(ctx, b.postgres(), "--version").Output()
	if err != nil {
		return b, fmt.Errorf("asking %s for its version: %w", b.postgres(), err)
	}
	m := versionLine.FindStringSubmatch(string(out))
	if m == nil {
		return b, fmt.Errorf("asking %s for its version: did not understand %.100q", b.postgres(), out)
	}
	if b.Major, err = strconv.Atoi(m[2]); err != nil {
		return b, fmt.Errorf("asking %s for its version: %w", b.postgres(), err)
	}
	b.Version = m[1]
	return b, nil
}
