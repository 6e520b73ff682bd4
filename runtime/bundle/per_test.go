package bundle

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPerItem(t *testing.T) {
	m, err := ParseManifest([]byte(minimal + `per = "item"`))
	require.NoError(t, err)
	require.True(t, m.IsPerItem())
	require.Equal(t, PerItem, m.Per)

	for _, line := range []string{"", `per = "shard"`} {
		m, err := ParseManifest([]byte(minimal + line))
		require.NoError(t, err)
		require.False(t, m.IsPerItem())
		text, err := json.Marshal(m)
		require.NoError(t, err)
		require.NotContains(t, string(text), `"per"`, "manifests that do not speak of it stay as they are")
	}
}

func TestPerIsRefused(t *testing.T) {
	for _, c := range []struct{ toml, want string }{
		{`per = "line"`, `per = "line": write "item", or "shard"`},
		{`per = ""`, `per = "": write "item", or "shard"`},
		{"per = \"item\"\nscript = \"run.py\"", `write entrypoint in the place of script`},
		{"per = \"item\"\nruntime = \"wasm\"", `a function with runtime = "wasm" gets shards`},
	} {
		_, err := ParseManifest([]byte(minimal + c.toml))
		require.ErrorContains(t, err, c.want)
	}
}
