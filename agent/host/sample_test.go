package host

import (
	"io"
	"os/exec"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSampleMeasuresThisMachine(t *testing.T) {
	s := New(t.TempDir())
	first, err := s.Sample(t.Context())
	require.NoError(t, err)
	require.Zero(t, first.CPUPercent, "there is nothing to compare with yet")
	require.Equal(t, runtime.NumCPU(), first.CPUs)
	require.Positive(t, first.MemoryTotal)
	require.Positive(t, first.MemoryFree)
	require.LessOrEqual(t, first.MemoryFree, first.MemoryTotal)
	require.True(t, first.DiskKnown)
	require.Positive(t, first.DiskFree)
	require.LessOrEqual(t, first.DiskFree, first.DiskTotal)
	require.Positive(t, first.UptimeSeconds)
	require.Positive(t, first.Resident)

	// A child of ours that computes is not taken for somebody else.
	child := exec.Command("sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done; read x")
	stdin, err := child.StdinPipe()
	require.NoError(t, err)
	stdout, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	_, err = io.ReadFull(stdout, make([]byte, len("done\n")))
	require.NoError(t, err)
	second, err := s.Sample(t.Context())
	require.NoError(t, err)
	require.NoError(t, stdin.Close())
	_ = child.Wait()
	require.Positive(t, second.CPUPercent)
	require.Positive(t, second.AgentPercent)
	require.LessOrEqual(t, second.AgentPercent, second.CPUPercent)
	require.InDelta(t, second.CPUPercent-second.AgentPercent, second.Others(), 1e-9)
}

func TestMissingDirectoryIsSaid(t *testing.T) {
	sample, err := New("/nowhere/at/all").Sample(t.Context())
	require.ErrorContains(t, err, "reading the disk's size")
	require.False(t, sample.DiskKnown)
	require.Positive(t, sample.MemoryTotal, "the rest is there")
}

func BenchmarkSample(b *testing.B) {
	s := New(b.TempDir())
	for b.Loop() {
		if _, err := s.Sample(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
