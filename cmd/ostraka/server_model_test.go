//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/heuristics"
)

// parsedModel is what the flags say.
func parsedModel(t *testing.T, args ...string) *modelConfig {
	t.Helper()
	c := &modelConfig{}
	f := pflag.NewFlagSet("server", pflag.ContinueOnError)
	c.register(f)
	require.NoError(t, f.Parse(args))
	return c
}

func TestFlagsOfTheExternalModel(t *testing.T) {
	t.Parallel()
	const url, name = "--model-url=http://127.0.0.1:1/v1", "--model-name=small"
	for _, c := range []struct {
		args []string
		says string // empty: they are fine
	}{
		{nil, ""},
		{[]string{url, name}, ""},
		{[]string{url, name, "--model-calls=1", "--model-tokens=1"}, ""},
		{[]string{name}, "are for --model-url"},
		{[]string{"--model-key-file=key"}, "are for --model-url"},
		{[]string{"--model-calls=7"}, "are for --model-url"},
		{[]string{"--model-tokens=7"}, "are for --model-url"},
		{[]string{url}, "give --model-name"},
		{[]string{url, name, "--model-calls=0"}, "count from 1"},
		{[]string{url, name, "--model-tokens=0"}, "count from 1"},
	} {
		err := parsedModel(t, c.args...).check()
		if c.says == "" {
			require.NoError(t, err, c.args)
		} else {
			require.ErrorContains(t, err, c.says, c.args)
		}
	}
}

func TestTheExternalModelIsOffByDefault(t *testing.T) {
	t.Parallel()
	use, err := parsedModel(t).open()
	require.NoError(t, err)
	require.Equal(t, functions.ModelUse{}, use)
	key := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(key, []byte("k\n"), 0o600))
	use, err = parsedModel(t, "--model-url=http://127.0.0.1:1/v1", "--model-name=small", "--model-key-file="+key).open()
	require.NoError(t, err)
	require.NotNil(t, use.Client)
	require.Equal(t, int64(heuristics.DefaultModelCalls), use.Calls)
	require.Equal(t, int64(heuristics.DefaultModelTokens), use.Tokens)
	_, err = parsedModel(t, "--model-url=http://127.0.0.1:1/v1", "--model-name=small", "--model-key-file="+key+"-none").open()
	require.ErrorContains(t, err, "reading the key of the external model")
}
