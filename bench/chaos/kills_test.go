package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/wasm/runner"
)

func TestMain(m *testing.M) {
	linux.MaybeLaunch()
	runner.MaybeRun()
	os.Exit(m.Run())
}

// TestKills kills, stops, cuts off and fills what there is of an installation, again and again, during a job of a thousand shards. The
// job must end by itself with the exact answer, every shard accepted once, and its books in order.
func TestKills(t *testing.T) {
	program := filepath.Join(t.TempDir(), "ostraka")
	build := exec.Command("go", "build", "-o", program, "../../cmd/ostraka")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	said, err := build.CombinedOutput()
	require.NoError(t, err, "building the program: %s", said)
	o := options{binary: program, faults: 20, shards: 1200, seed: 1, say: t.Logf}
	tally, err := o.run(t.Context())
	var figures bytes.Buffer
	tally.print(&figures)
	t.Log(figures.String())
	require.NoError(t, err)
	require.Equal(t, 20, tally.faults)
	require.Equal(t, 1, tally.jobs)
}
