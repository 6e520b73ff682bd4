package main

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/testenv"
)

// shellChild is a child that runs a shell script in a folder.
func shellChild(dir, script string) *child {
	return &child{
		name: "c", log: slog.New(slog.DiscardHandler),
		final: func(code int) bool { return code == exitAuth },
		command: func() (*exec.Cmd, error) {
			cmd := exec.Command("/bin/sh", "-c", script)
			cmd.Dir = dir
			return cmd, nil
		},
	}
}

func TestChildIsStartedAgainUntilItGivesUp(t *testing.T) {
	dir := t.TempDir()
	shellChild(dir, "echo x >>runs; [ $(wc -l <runs) -lt 3 ] || exit 3").keep(t.Context())
	runs, err := os.ReadFile(filepath.Join(dir, "runs"))
	require.NoError(t, err)
	require.Equal(t, 3, strings.Count(string(runs), "x"))
}

func TestChildIsGoneWhenKeepComesBack(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		shellChild(dir, "trap 'touch asked; exit 0' TERM; touch started; while :; do sleep 0.05; done").keep(ctx)
	}()
	testenv.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(dir, "started")); return err == nil }, "the child runs")
	cancel()
	<-done
	require.FileExists(t, filepath.Join(dir, "asked"), "it is asked first")
	require.Empty(t, processesOf(dir))
}
