package examples

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
)

func TestCopiesAreTheExamples(t *testing.T) {
	for _, name := range []string{"bpsw", "prove"} {
		here, err := bundle.Pack(name)
		require.NoError(t, err)
		path, err := Copy(name, t.TempDir())
		require.NoError(t, err)
		copied, err := bundle.Pack(path)
		require.NoError(t, err)
		require.Equal(t, here.Digest, copied.Digest, "%s: the program holds the same function as the folder", name)
	}
}

func TestCopyOfNothing(t *testing.T) {
	_, err := Copy("nothing", t.TempDir())
	require.ErrorContains(t, err, "finding the example nothing")
}

func TestRuleIsJSON(t *testing.T) {
	require.True(t, json.Valid(ProveSample))
}
