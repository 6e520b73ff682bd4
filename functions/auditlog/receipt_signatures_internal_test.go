package auditlog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSubmissionsAreReadInParts: all of them, in their order, and no more results at once than there is memory for.
func TestSubmissionsAreReadInParts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		results []int
		want    [][]int
	}{
		"none":                      {nil, nil},
		"all at once":               {[]int{3, 3, 4}, [][]int{{3, 3, 4}}},
		"one more":                  {[]int{3, 3, 4, 1}, [][]int{{3, 3, 4}, {1}}},
		"the last does not fit":     {[]int{5, 6}, [][]int{{5}, {6}}},
		"one alone is over it":      {[]int{1, 11, 1}, [][]int{{1}, {11}, {1}}},
		"one that fills it exactly": {[]int{10, 10}, [][]int{{10}, {10}}},
	} {
		var rows []submissionRow
		for _, n := range c.results {
			rows = append(rows, submissionRow{Results: n})
		}
		var got [][]int
		for part := range atOnce(rows, 10) {
			var of []int
			for _, row := range part {
				of = append(of, row.Results)
			}
			got = append(got, of)
		}
		require.Equal(t, c.want, got, name)
	}
}

// TestNoStatementHoldsAWholeReceipt: what agents have signed is written in parts, the largest line by itself.
func TestNoStatementHoldsAWholeReceipt(t *testing.T) {
	t.Parallel()
	half := strings.Repeat("x", maxKeptAtOnce/2)
	require.Equal(t, 2, fitting([]string{half, half}))
	require.Equal(t, 2, fitting([]string{half, half, "x"}))
	require.Equal(t, 1, fitting([]string{half + half + "x", "x"}))
}
