package testenv

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFindGVisor: an old program on PATH is as good as none, whoever has put it there.
func TestFindGVisor(t *testing.T) {
	for version, usable := range map[string]bool{
		"runsc version release-20240101.0\nspec: 1.1.0-rc.1": true,
		"runsc version release-20231231.0\nspec: 1.1.0-rc.1": false,
		"runsc version 0.0~20221219.0-2+b3\nspec: 1.0.2":     false,
		"runsc version VERSION_MISSING\nspec: 1.2.0":         true, // built from source
		"runsc version release-x":                            true,
	} {
		dir := t.TempDir()
		program := filepath.Join(dir, "runsc")
		require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\ncat <<'END'\n"+version+"\nEND\n"), 0o755))
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
		path, err := FindGVisor()
		if usable {
			require.NoError(t, err, version)
			require.Equal(t, program, path)
			continue
		}
		require.ErrorContains(t, err, oldestGVisor.Format(time.DateOnly), version)
		require.Equal(t, "{}", string(dockerConfig()))
	}
	t.Setenv("PATH", t.TempDir())
	_, err := FindGVisor()
	require.Error(t, err)
}
