package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadGrid(t *testing.T) {
	for values, want := range map[string]string{
		`[1, "a,b", {"k": [2]}]`: `[1,"a,b",{"k":[2]}]`,
		`1,2,3`:                  `[1,2,3]`,
		`100`:                    `[100]`,
		` fast , exact `:         `["fast","exact"]`,
		`0.1,1e-3,true,null,-7`:  `[0.1,1e-3,true,null,-7]`,
		`"fast","exact"`:         `["fast","exact"]`,
		`1:4`:                    `[1,2,3]`,
		`-2:1`:                   `[-2,-1,0]`,
		`18446744073709551615:18446744073709551617`: `[18446744073709551615,18446744073709551616]`,
		`007`: `["007"]`,
		`a:b`: `["a:b"]`,
	} {
		grid, err := readGrid([]string{"n=" + values})
		require.NoError(t, err, values)
		got, err := json.Marshal(grid.Axes[0].Values)
		require.NoError(t, err)
		require.Equal(t, want, string(got), values)
	}
	for text, want := range map[string]string{
		`n`: "is not NAME=VALUES", `n=`: "is not NAME=VALUES", `n=[1,2`: "no JSON list", `n="a,b",c`: "write a JSON list where values hold commas",
		`n=4:1`: "is an empty range", `n=4:4`: "is an empty range", fmt.Sprintf("n=0:%d", maxAxisRange+1): "are as many as an axis may have",
	} {
		_, err := readGrid([]string{text})
		require.ErrorContains(t, err, want, text)
	}
	grid, err := readGrid([]string{fmt.Sprintf("n=0:%d", maxAxisRange)})
	require.NoError(t, err)
	require.Len(t, grid.Axes[0].Values, maxAxisRange)
}
