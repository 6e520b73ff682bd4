package archive_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/archive"
)

func TestDrawsAreKept(t *testing.T) {
	t.Parallel()
	all := many(300)
	for i := range all {
		if i%3 == 0 {
			all[i].Draw = &archive.Draw{Agent: "0198-a", Rate: 500, Window: int32(i), Drawn: i%2 == 0}
		}
	}
	file := written(t, all...)
	r, err := archive.Open(file, file.Size())
	require.NoError(t, err)
	for s, err := range r.Shards(-1) {
		require.NoError(t, err)
		require.Equal(t, all[s.Shard].Draw, s.Draw)
	}
}

// TestAFileOfBeforeIsRead reads a file without the column of draws, and with one that this program does not know.
func TestAFileOfBeforeIsRead(t *testing.T) {
	t.Parallel()
	for _, columns := range []reflect.Type{columnsOf(""), columnsOf("later")} {
		rows := reflect.MakeSlice(reflect.SliceOf(columns), 0, 0)
		for _, s := range many(20) {
			row, from := reflect.New(columns).Elem(), reflect.ValueOf(s)
			for i := range from.NumField() {
				if field := row.FieldByName(from.Type().Field(i).Name); field.IsValid() {
					field.Set(from.Field(i))
				}
			}
			rows = reflect.Append(rows, row)
		}
		var out bytes.Buffer
		w := parquet.NewWriter(&out, parquet.SchemaOf(reflect.Zero(columns).Interface()))
		for i := range rows.Len() {
			require.NoError(t, w.Write(rows.Index(i).Interface()))
		}
		require.NoError(t, w.Close())
		r, err := archive.Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
		require.NoError(t, err)
		n := int64(0)
		for s, err := range r.Shards(-1) {
			require.NoError(t, err)
			require.Nil(t, s.Draw)
			require.Equal(t, n, s.Shard)
			require.Equal(t, many(20)[n].OutputDigest, s.OutputDigest)
			require.Len(t, s.Attempts, len(many(20)[n].Attempts))
			n++
		}
		require.EqualValues(t, 20, n)
	}
}

// columnsOf are those of a row as it was before draws, and one more.
func columnsOf(more string) reflect.Type {
	var fields []reflect.StructField
	shard := reflect.TypeFor[archive.Shard]()
	for i := range shard.NumField() {
		if f := shard.Field(i); f.Name != "Draw" {
			fields = append(fields, f)
		}
	}
	if more != "" {
		fields = append(fields, reflect.StructField{Name: "Later", Type: reflect.TypeFor[string](), Tag: `parquet:"later"`})
	}
	return reflect.StructOf(fields)
}
