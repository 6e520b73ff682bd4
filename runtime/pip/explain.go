package pip

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Errors that ask for another step than mending the requirements.
var (
	// ErrUnresolved says that pip finds no set of wheels for this platform that the requirements allow.
	ErrUnresolved = errors.New("the requirements cannot be met")
	// ErrHash says that a file is not the one that a lock names.
	ErrHash = errors.New("a file is not the one that the lock names")
)

// maxNamed is how many files that were passed over an error names.
const maxNamed = 8

// skippedFile is one that pip has passed over.
type skippedFile struct{ File, Kind, Detail string }

// explain makes an error of pip's own words, and of the files that it saw and could not take.
func explain(err error, skipped string) error {
	var failed *failure
	if !errors.As(err, &failed) {
		return err
	}
	said := complaint(failed.words)
	switch {
	case strings.Contains(said, "DO NOT MATCH THE HASHES"):
		return fmt.Errorf("%w: %s", ErrHash, said)
	case said == "":
		return fmt.Errorf("running pip: %w: %s", failed.err, strings.TrimSpace(failed.words))
	}
	return fmt.Errorf("%w: %s%s", ErrUnresolved, said, passedOver(skipped))
}

// complaint is what pip says behind ERROR, as one text.
func complaint(words string) string {
	var lines []string
	for line := range strings.Lines(words) {
		rest, isError := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "ERROR: ")
		if isError || len(lines) > 0 && !strings.HasPrefix(line, "WARNING: ") {
			lines = append(lines, rest)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// passedOver names the files that were there and do not fit.
func passedOver(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return "" // pip has ended before it wrote it
	}
	var list []skippedFile
	if err := json.Unmarshal(text, &list); err != nil {
		return ""
	}
	var lines []string
	for _, s := range list {
		if line := s.line(); line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	more := ""
	if over := len(lines) - maxNamed; over > 0 {
		lines, more = lines[over:], fmt.Sprintf("\n(and %d others)", over) // an index has the newest last
	}
	if len(lines) == 0 {
		return ""
	}
	return "\nthere is:\n" + strings.Join(lines, "\n") + more
}

func (s *skippedFile) line() string {
	switch {
	case s.Kind == "platform_mismatch":
		return fmt.Sprintf("%s: a wheel for another platform or another Python", s.File)
	case s.Kind == "format_unsupported" && isSource(s.File):
		return s.File + ": a source distribution, which would have to be built: make a wheel of it (pip wheel), and name its folder with --find-links"
	case s.Kind == "requires_python_mismatch", s.Kind == "yanked", s.Kind == "format_invalid":
		return fmt.Sprintf("%s: %s", s.File, s.Detail)
	}
	return ""
}

func isSource(file string) bool {
	return strings.HasSuffix(file, ".tar.gz") || strings.HasSuffix(file, ".tar.bz2") || slices.Contains([]string{".zip", ".tgz"}, filepath.Ext(file))
}
