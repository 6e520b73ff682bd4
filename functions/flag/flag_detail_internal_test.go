package flag

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestADetailThatCannotBeKeptSaysSo(t *testing.T) {
	t.Parallel()
	at := strings.Repeat("x", MaxFlagDetail-len(`{"a":""}`))
	require.Len(t, flagDetail(map[string]any{"a": at}), MaxFlagDetail)
	for _, detail := range []map[string]any{{"a": at + "x"}, {"a": "\x00"}, {"a": func() {}}} {
		var said map[string]string
		require.NoError(t, json.Unmarshal(flagDetail(detail), &said))
		require.Contains(t, said["left_out"], "cannot be kept")
	}
	require.JSONEq(t, `{}`, string(flagDetail(nil)))
}
