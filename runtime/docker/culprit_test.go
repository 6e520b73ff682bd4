//go:build linux

package docker

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/recheck"
)

func TestBlame(t *testing.T) {
	for name, c := range map[string]struct {
		state container.State
		level bundle.Isolation
		own   bool
	}{
		"it runs":                       {container.State{Running: true, OOMKilled: true}, "container", false},
		"somebody killed it":            {container.State{ExitCode: killedCode}, "container", false},
		"it went in good order":         {container.State{}, "container", false},
		"its kernel crashed":            {container.State{ExitCode: 2}, "gvisor", true},
		"the host was out of its share": {container.State{ExitCode: killedCode, OOMKilled: true}, "container", true},
		"nobody says of what":           {container.State{ExitCode: killedCode}, "gvisor", true},
	} {
		var own *overrun
		require.Equal(t, c.own, errors.As(blame(&c.state, c.level, errClosed), &own), name)
	}
}

// One shard that takes its container with it is found out, and the others are run; a container that is lost otherwise is nobody's fault.
func TestAroundCulprits(t *testing.T) {
	var batch recheck.Batch
	for i := range int64(20) {
		batch.Shards = append(batch.Shards, recheck.Shard{Number: i, Input: []byte("0")})
	}
	made := recheck.Description{Level: "gvisor", Interpreter: "cpython"}
	long := errors.New(strings.Repeat("é", harness.MaxExceptionMessageBytes))
	execute := func(ends func(shard int64, run int) error) (all []harness.Result, runs int, err error) {
		all, err = aroundCulprits(batch, made, func(b recheck.Batch, alone bool) (results []harness.Result, err error) {
			runs++
			require.Equal(t, alone, len(b.Shards) == 1 && runs%2 == 0, "a suspect is tried in a container that has run nothing else")
			for _, s := range b.Shards {
				if err := ends(s.Number, runs); err != nil {
					return results, err
				}
				results = append(results, harness.Result{Shard: s.Number, Status: harness.StatusOK})
			}
			return results, nil
		})
		return all, runs, err
	}
	all, runs, err := execute(func(shard int64, _ int) error {
		if shard == 5 || shard == 19 {
			return &overrun{err: long, memory: shard == 19}
		}
		return nil
	})
	require.NoError(t, err)
	require.Len(t, all, 20)
	require.Equal(t, 4, runs)
	for i, r := range all {
		require.Equal(t, int64(i), r.Shard)
		want := map[int]harness.Status{5: harness.StatusKilled, 19: harness.StatusMemory}[i]
		if want == "" {
			want = harness.StatusOK
		} else {
			require.Equal(t, made.Interpreter, r.Interpreter)
			require.LessOrEqual(t, len(r.Exception.Message), harness.MaxExceptionMessageBytes)
		}
		require.Equal(t, want, r.Status)
	}
	// Once is bad luck.
	all, _, err = execute(func(shard int64, run int) error {
		if shard == 5 && run == 1 {
			return &overrun{err: errClosed}
		}
		return nil
	})
	require.NoError(t, err)
	require.False(t, slices.ContainsFunc(all, func(r harness.Result) bool { return r.Status != harness.StatusOK }))
	// What takes every container is no fault of shards.
	all, runs, err = execute(func(int64, int) error { return &overrun{err: errClosed} })
	require.ErrorIs(t, err, errClosed)
	require.Len(t, all, maxCulprits)
	require.Equal(t, 2*maxCulprits+1, runs)
	// Nor is a container that somebody ended.
	all, runs, err = execute(func(shard int64, _ int) error {
		if shard == 5 {
			return errClosed
		}
		return nil
	})
	require.ErrorIs(t, err, errClosed)
	require.Len(t, all, 5)
	require.Equal(t, 1, runs)
}
