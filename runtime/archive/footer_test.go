package archive

import (
	"testing"

	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"
)

// TestWhatAFooterMaySay goes to each bound, and one past it.
func TestWhatAFooterMaySay(t *testing.T) {
	t.Parallel()
	const size = 1000
	group := func(rows int64, columns ...[2]int64) format.RowGroup {
		g := format.RowGroup{NumRows: rows}
		for _, c := range columns {
			g.Columns = append(g.Columns, format.ColumnChunk{MetaData: format.ColumnMetaData{TotalCompressedSize: c[0], TotalUncompressedSize: c[1]}})
		}
		return g
	}
	for name, c := range map[string]struct {
		rows   int64
		groups []format.RowGroup
		says   string
	}{
		"nothing":            {0, nil, ""},
		"all that it may":    {MaxRowGroupRows + 1, []format.RowGroup{group(MaxRowGroupRows, [2]int64{size, MaxRowGroupBytes}), group(1)}, ""},
		"rows":               {MaxRowGroupRows + 1, []format.RowGroup{group(MaxRowGroupRows + 1)}, "says that it has 65537 rows"},
		"less than no rows":  {-1, []format.RowGroup{group(-1)}, "says that it has -1 rows"},
		"other rows":         {2, []format.RowGroup{group(1)}, "its row groups have 1 rows, and it says 2"},
		"a column":           {1, []format.RowGroup{group(1, [2]int64{1, MaxRowGroupBytes + 1})}, "a column of row group 0"},
		"a column's length":  {1, []format.RowGroup{group(1, [2]int64{size + 1, 1})}, "a column of row group 0"},
		"less than nothing":  {1, []format.RowGroup{group(1, [2]int64{1, -1})}, "a column of row group 0"},
		"columns":            {1, []format.RowGroup{group(1, [2]int64{1, MaxRowGroupBytes}, [2]int64{1, 1})}, "row group 0 says"},
		"lengths of columns": {1, []format.RowGroup{group(1, [2]int64{size, 1}, [2]int64{1, 1})}, "row group 0 says"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := checkRowGroups(&format.FileMetaData{NumRows: c.rows, RowGroups: c.groups}, size)
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.says)
		})
	}
}
