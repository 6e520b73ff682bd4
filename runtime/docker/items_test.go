//go:build linux

package docker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/harness"
)

func TestItems(t *testing.T) {
	b := pack(t, "def handler(n): return 10 // (7 - n)", "per = \"item\"\n")
	for _, level := range levelsHere() {
		results := run(t, newExecutor(t, at(level)), b, `{"from":"3","to":"7"}`, `[3,7]`)
		require.Equal(t, `[2,3,5,10]`, results[0].Output, level)
		require.Equal(t, harness.StatusError, results[1].Status, level)
		require.Contains(t, results[1].Exception.Message, "item 1 (input 7): ", level)
	}
}
