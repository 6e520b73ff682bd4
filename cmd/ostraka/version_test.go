package main

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheVersionOfAPlainBuildIsItsCommit(t *testing.T) {
	t.Parallel()
	stamped := func(settings ...debug.BuildSetting) func() (*debug.BuildInfo, bool) {
		return func() (*debug.BuildInfo, bool) { return &debug.BuildInfo{Settings: settings}, true }
	}
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "75a37d78aaaabbbbccccddddeeeeffff00001111"}
	require.Equal(t, "v1", stampedVersion("v1", stamped(commit)), "what the linker has set")
	require.Equal(t, "75a37d78aaaa", stampedVersion(unknownVersion, stamped(commit, debug.BuildSetting{Key: "vcs.modified", Value: "false"})))
	require.Equal(t, "75a37d78aaaa-dirty", stampedVersion(unknownVersion, stamped(commit, debug.BuildSetting{Key: "vcs.modified", Value: "true"})))
	require.Equal(t, unknownVersion, stampedVersion(unknownVersion, stamped()))
	require.Equal(t, unknownVersion, stampedVersion(unknownVersion, func() (*debug.BuildInfo, bool) { return nil, false }))
}
