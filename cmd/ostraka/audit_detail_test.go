package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDetailText(t *testing.T) {
	t.Parallel()
	for detail, want := range map[string]string{
		``:                                    "",
		`{}`:                                  "",
		`{"name":"one","shards":3,"of":null}`: "name one, shards 3",
		`{"b":18446744073709551629,"a":true}`: "b 18446744073709551629, a true",
		`{"limits":{"cpu":1},"none":[],"few":["x","y"],"empty":""}`: `limits {"cpu":1}, few ["x","y"]`,
		`["x"]`:     `["x"]`,
		`{"broken"`: `{"broken"`,
	} {
		require.Equal(t, want, detailText(json.RawMessage(detail)), detail)
	}
	long := func(n int) json.RawMessage { return json.RawMessage(`{"k":"` + strings.Repeat("é", n-2) + `"}`) }
	require.Equal(t, "k "+strings.Repeat("é", maxDetail-2), detailText(long(maxDetail)))
	require.Equal(t, "k "+strings.Repeat("é", maxDetail-3)+"…", detailText(long(maxDetail+1)))
}
