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
		"":                                "there are none",
		"[1]":                             "line 1 is no control",
		"\n{\"shard\": 1, \"extra\": 1}":  `line 2 is no control (unknown field "extra")`,
		"{\"shard\": 1, \"output\": NaN}": "line 1 is no control (invalid character 'N'",
		"{\"shard\": -1, \"output\": 1}":  "no shard -1",
		"{\"shard\": 1, \"output_sha256\": \"x\"}": "no SHA-256",
		strings.Repeat("{}\n", maxControls+1):      "line 1001 is one control more",
		"{}\n{\"output\": 1} 2":                    "line 2 is no control",
		strings.Repeat("\n", maxControlsFile):      "there are none",
		strings.Repeat(" \n", maxControlsFile):     "more than",
		strings.Repeat("x", maxControlLine+1):      "line 1 has more than",
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

// TestFlagControlsText: each control that is void is told by its place in the file, with its input and its answers.
func TestFlagControlsText(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	printFlagControls(&terminal{out: &out}, client.FlagDetail{Kind: "controls", Rule: "void", Detail: []byte(`{"total": 3, "items": [
{"control": 2, "lent_as_shard": 51, "own_shard": false, "input": "{\"n\":100}", "known": "5", "answers": [{"agent": "0190a5d4-5b7a-7c3e-8f21-6d1e0c9b8a77", "status": "ok", "output": "7"}]},
{"control": 7, "lent_as_shard": 3, "own_shard": true, "input": "4", "known_sha256": "ab", "answers": []}]}`)}, nil)
	for _, says := range []string{"3 controls not believed", "control 2: lent as shard 51", `input  {"n":100}`, "known  5", "given  7, by", "control 7: shard 3 of the job", "known  SHA-256 ab", "and 1 more"} {
		require.Contains(t, out.String(), says)
	}
}
