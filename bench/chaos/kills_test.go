package main

import (
	"bytes"
	"os"
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

// TestKills kills, stops, cuts off and fills what there is of an installation, and steps its clocks, again and again, during a job of a thousand shards. The
// job must end by itself with the exact answer, every shard accepted once, and its books in order.
func TestKills(t *testing.T) {
	o := options{module: "../..", faults: 20, shards: 1200, seed: 1, say: t.Logf}
	tally, err := o.run(t.Context())
	var figures bytes.Buffer
	tally.print(&figures)
	t.Log(figures.String())
	require.NoError(t, err)
	require.Equal(t, 20, tally.faults)
	require.Equal(t, 1, tally.jobs)
}
