package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

func TestParseControls(t *testing.T) {
	t.Parallel()
	list, err := parseControls(strings.NewReader("{\"input\": 7, \"output\": {\"n\": 49}}\n\n{\"shard\": 2, \"output_sha256\": \"" + strings.Repeat("a", 64) + "\"}\n"))
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, `{"n": 49}`, string(list[0].Output))
	require.Equal(t, int64(2), *list[1].Shard)
	for text, says := range map[string]string{
		"":                                     "there are none",
		"[1]":                                  "line 1 is no control",
		"{}\n{\"output\": 1} 2":                "line 2 is no control",
		strings.Repeat("\n", maxControlsFile):  "there are none",
		strings.Repeat(" \n", maxControlsFile): "more than",
		strings.Repeat("x", maxControlLine+1):  "after control 0",
	} {
		_, err := parseControls(strings.NewReader(text))
		require.ErrorContains(t, err, says)
	}
}

func TestControlsText(t *testing.T) {
	t.Parallel()
	require.Empty(t, controlsText(nil))
	require.Equal(t, "20 given, 20 right", controlsText(&client.JobControls{Total: 20, Given: 20, Right: 20}))
	require.Equal(t, "18 of 20 given, 12 right, 2 answered wrong by somebody, 3 void: owners agree on other answers than the known ones, 1 found nothing out",
		controlsText(&client.JobControls{Total: 20, Given: 18, Right: 12, Wrong: 2, Void: 3, Unsettled: 1}))
}
