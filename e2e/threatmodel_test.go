package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheThreatModelNamesTestsThatExist keeps docs/threat-model.md honest: what it says holds is held by a test of that name.
func TestTheThreatModelNamesTestsThatExist(t *testing.T) {
	text, err := os.ReadFile("../docs/threat-model.md")
	require.NoError(t, err)
	named := regexp.MustCompile("`([a-z0-9/]+)\\.(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(named), 50)
	for _, n := range named {
		require.True(t, hasTest(t, filepath.Join("..", n[1]), n[2]), "docs/threat-model.md names %s.%s, which is no test", n[1], n[2])
	}
}

func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		if strings.Contains(string(text), "func "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}
