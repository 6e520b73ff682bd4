package examples

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/planner"
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

func TestTheCopyOfAWorkflowIsTheExample(t *testing.T) {
	path, err := CopyWorkflow("workflow-bpsw", t.TempDir())
	require.NoError(t, err)
	here, err := os.ReadFile("workflow-bpsw/workflow.toml")
	require.NoError(t, err)
	copied, err := os.ReadFile(filepath.Join(path, "workflow.toml"))
	require.NoError(t, err)
	require.Equal(t, string(here), string(copied))
	_, err = CopyWorkflow("bpsw", t.TempDir())
	require.ErrorContains(t, err, "finding the example bpsw", "it is a function")
	for _, name := range []string{"bpsw", "sieve", "decide", "page"} {
		here, err := bundle.Pack("workflow-bpsw/functions/" + name)
		require.NoError(t, err)
		copied, err := bundle.Pack(filepath.Join(path, "functions", name))
		require.NoError(t, err)
		require.Equal(t, here.Digest, copied.Digest, name)
	}
}

func TestCopyOfNothing(t *testing.T) {
	_, err := Copy("nothing", t.TempDir())
	require.ErrorContains(t, err, "finding the example nothing")
}

func TestRuleCompiles(t *testing.T) {
	var rule planner.Rule
	decoder := json.NewDecoder(bytes.NewReader(ProveSample))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&rule))
	rule.ID = "01890a5d-ac96-774b-bcce-b302099a8057"
	_, err := planner.Compile(rule)
	require.NoError(t, err)
}
