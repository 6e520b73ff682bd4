package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/canonical"
)

func TestALineOfResultsSaysEverythingOnce(t *testing.T) {
	deepest := strings.Repeat("[", canonical.MaxDepth) + strings.Repeat("]", canonical.MaxDepth)
	require.NoError(t, canonical.Check([]byte(deepest), len(deepest)))
	r, err := exactResult([]byte(`{"shard":7,"output":` + deepest + `,"output_digest":"d"}`))
	require.NoError(t, err)
	require.Equal(t, int64(7), r.Shard)
	require.Equal(t, deepest, string(r.Output))
	require.Equal(t, "d", r.OutputDigest)

	for name, line := range map[string]string{
		"twice":             `{"shard":7,"shard":8,"output":1,"output_digest":"d"}`,
		"twice, escaped":    `{"shard":7,"sh\u0061rd":8,"output":1,"output_digest":"d"}`,
		"written otherwise": `{"shard":7,"output":1,"Output":2,"output_digest":"d"}`,
		"unknown":           `{"shard":7,"output":1,"output_digest":"d","more":1}`,
		"another type":      `{"shard":"7","output":1,"output_digest":"d"}`,
		"no object":         `[7,1,"d"]`,
		"cut off":           `{"shard":7,"output":1`,
		"more after it":     `{"shard":7,"output":1,"output_digest":"d"} {}`,
		"nothing":           ``,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := exactResult([]byte(line))
			require.Error(t, err)
		})
	}
}
