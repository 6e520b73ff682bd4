package bundle

import (
	"path"
	"slices"
	"strings"
)

// IsSource says whether Python would run the text of a file of this name.
func IsSource(name string) bool {
	return slices.Contains([]string{".py", ".pyw", ".pyi", ".pth"}, extension(name))
}

// IsCompiled says whether Python would load a file of this name as code that is no text, and that no heuristic can read.
func IsCompiled(name string) bool {
	return slices.Contains([]string{".pyc", ".pyo", ".so", ".pyd"}, extension(name))
}

func extension(name string) string { return strings.ToLower(path.Ext(name)) }
