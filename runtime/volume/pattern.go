package volume

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// MaxPatternBytes is the length of a pattern of paths.
const MaxPatternBytes = 1024

// CheckPattern refuses a pattern that could match no folder.
func CheckPattern(pattern string) error {
	switch {
	case len(pattern) > MaxPatternBytes:
		return fmt.Errorf("a pattern has at most %d bytes", MaxPatternBytes)
	case !strings.HasPrefix(pattern, "/") || path.Clean(pattern) != pattern:
		return fmt.Errorf("%q matches nothing: a pattern begins at /, has no . or .. or // in it and does not end with /", pattern)
	case strings.Contains(pattern, "**"):
		return fmt.Errorf("%q: write one *; a pattern stands for all that lies below a folder as well", pattern)
	}
	if _, err := path.Match(pattern, "/"); err != nil {
		return fmt.Errorf("%q is no pattern: * stands for a part of one name, ? for one character, [a-z] for one of several", pattern)
	}
	return nil
}

// Matches says whether a pattern names a path, or a folder above it.
func Matches(pattern, of string) bool {
	if pattern == "/" {
		return true
	}
	names := strings.Split(filepath.ToSlash(of), "/")
	depth := strings.Count(pattern, "/") + 1
	if len(names) < depth {
		return false
	}
	matched, err := path.Match(pattern, strings.Join(names[:depth], "/"))
	return err == nil && matched
}
