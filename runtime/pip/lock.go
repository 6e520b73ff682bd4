package pip

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Lock is what a runtime was made of: a file of requirements for pip, with comments that say what pip does not know.
type Lock struct {
	Requirements string    // the SHA-256 of the file of requirements that it was made from
	Python       string    // which interpreter, such as "3.14.6 linux/amd64 sha256:…"
	Libraries    []Library // the libraries of this machine that lie in the tree
	Runtime      string    // the digest of the tree
	Options      []string  // the lines of the requirements that say where wheels are
	Packages     []Package
}

// Library is a shared library of the machine on which a runtime was made.
type Library struct{ Name, SHA256 string }

// MaxLockBytes is the size of a lock: thousands of packages.
const MaxLockBytes = 1 << 20

const (
	lockTitle  = "# What a runtime was made of, by `ostraka runtime build`. Commit it: with --locked exactly this is built, or nothing."
	lockFormat = "# format 1"
)

var (
	namePattern    = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	versionPattern = regexp.MustCompile(`^[A-Za-z0-9.!+_-]{1,100}$`)
	separators     = regexp.MustCompile(`[-_.]+`)
	pinPattern     = regexp.MustCompile(`^([a-z0-9-]+)(?:==(\S+)| @ (\S+)) --hash=sha256:([0-9a-f]{64})(?: # (\S+))?$`)
)

// normal is a package's name as all tools write it.
func normal(name string) string { return strings.ToLower(separators.ReplaceAllString(name, "-")) }

// String is the text of a lock.
func (l *Lock) String() string {
	var b strings.Builder
	fmt.Fprintln(&b, lockTitle)
	fmt.Fprintln(&b, lockFormat)
	fmt.Fprintf(&b, "# requirements sha256:%s\n# python %s\n# runtime sha256:%s\n", l.Requirements, l.Python, l.Runtime)
	for _, lib := range l.Libraries {
		fmt.Fprintf(&b, "# library %s sha256:%s\n", lib.Name, lib.SHA256)
	}
	for _, o := range l.Options {
		fmt.Fprintln(&b, o)
	}
	for _, p := range l.Packages {
		if p.URL != "" {
			fmt.Fprintf(&b, "%s @ %s --hash=sha256:%s # %s\n", p.Name, p.URL, p.SHA256, p.Version)
			continue
		}
		fmt.Fprintf(&b, "%s==%s --hash=sha256:%s\n", p.Name, p.Version, p.SHA256)
	}
	return b.String()
}

var errNoLock = errors.New("it is not written as a lock is: build without --locked, which writes it anew")

// ParseLock reads a lock. What it accepts prints the same again.
func ParseLock(text []byte) (l Lock, err error) {
	if len(text) > MaxLockBytes {
		return l, fmt.Errorf("it has more than %d bytes", MaxLockBytes)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if err := l.read(line); err != nil {
			return Lock{}, err
		}
	}
	if !bytes.Equal([]byte(l.String()), text) {
		return Lock{}, errNoLock
	}
	return l, nil
}

func (l *Lock) read(line string) error {
	digest := func(s string) string { return strings.TrimPrefix(s, "sha256:") }
	key, value, isComment := strings.Cut(strings.TrimPrefix(line, "# "), " ")
	switch {
	case line == lockTitle || line == lockFormat:
	case isComment && strings.HasPrefix(line, "# "):
		switch key {
		case "requirements":
			l.Requirements = digest(value)
		case "python":
			l.Python = value
		case "runtime":
			l.Runtime = digest(value)
		case "library":
			name, sum, _ := strings.Cut(value, " ")
			l.Libraries = append(l.Libraries, Library{Name: name, SHA256: digest(sum)})
		}
	case isOption(line):
		l.Options = append(l.Options, line)
	default:
		pin := pinPattern.FindStringSubmatch(line)
		if pin == nil {
			return fmt.Errorf("%.80q: %w", line, errNoLock)
		}
		p := Package{Name: pin[1], Version: pin[2], URL: pin[3], SHA256: pin[4]}
		if p.URL != "" {
			p.Version = pin[5]
		}
		l.Packages = append(l.Packages, p)
	}
	return nil
}

// options are those that say where wheels are.
var options = []string{"-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--no-index", "--trusted-host"}

func isOption(line string) bool {
	word := strings.TrimSpace(line)
	if end := strings.IndexAny(word, " ="); end >= 0 {
		word = word[:end]
	}
	return slices.Contains(options, word)
}

// OptionsOf are the lines of a file of requirements that say where wheels are.
func OptionsOf(requirements []byte) (lines []string) {
	for line := range strings.Lines(string(requirements)) {
		if line = strings.TrimSpace(line); isOption(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// CheckAgainst refuses another file under a name and a version that an earlier lock has.
func (l *Lock) CheckAgainst(earlier *Lock) error {
	for _, p := range l.Packages {
		i := slices.IndexFunc(earlier.Packages, func(e Package) bool { return e.Name == p.Name && e.Version == p.Version })
		if i >= 0 && earlier.Packages[i].SHA256 != p.SHA256 {
			return fmt.Errorf("%w: %s %s has the SHA-256 %s, and the lock says %s", ErrHash, p.Name, p.Version, p.SHA256, earlier.Packages[i].SHA256)
		}
	}
	return nil
}

// OtherLibraries names those that are not as an earlier lock has them.
func (l *Lock) OtherLibraries(earlier *Lock) (names []string) {
	for _, lib := range l.Libraries {
		if !slices.Contains(earlier.Libraries, lib) {
			names = append(names, lib.Name)
		}
	}
	return names
}
