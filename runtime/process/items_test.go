package process

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/harness"
)

func TestItems(t *testing.T) {
	s := open(t, runner(t), folder(t, "def handler(n): return 10 // (7 - n)", "per = \"item\"\n"))
	require.Equal(t, `[2,3,5,10]`, run(t, s, `{"from":"3","to":"7"}`).Output)
	got := run(t, s, `{"from":"3","to":"9"}`)
	require.Equal(t, harness.StatusError, got.Status)
	require.Contains(t, got.Exception.Message, "item 4 (input 7): ")
}
