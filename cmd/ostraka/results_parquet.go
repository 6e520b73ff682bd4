package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/ostraka/ostraka/client"
)

const (
	// rowGroupBytes is about how much of a table is in memory until it is written as a row group.
	rowGroupBytes = 32 << 20
	// pageBytes is about how much of all columns together makes a page of each: a table may have a thousand columns.
	pageBytes = 8 << 20
)

// parquet writes the table as a Parquet file.
func (t *resultTable) parquet(out io.Writer, rowGroup int64) error {
	all := t.parquetColumns()
	fields := make([]parquet.Field, len(all))
	for i, c := range all {
		fields[i] = c
	}
	w := parquet.NewWriter(out, parquet.NewSchema("results", parquetRoot{fields: fields}),
		parquet.Compression(&parquet.Snappy), parquet.PageBufferSize(pageBytes/len(all)), parquet.CreatedBy("ostraka", version, ""))
	var held int64
	err := t.each(func(r client.ResultLine, size int) error {
		if _, err := w.WriteRows([]parquet.Row{t.parquetRow(r, all)}); err != nil {
			return err
		}
		if held += int64(size + len(all)); held < rowGroup { // that a cell is empty takes a byte
			return nil
		}
		held = 0
		return w.Flush()
	})
	if err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	return nil
}

// parquetColumn is a column of the file. The library's own group sorts its columns by their names, and takes no commas in them.
type parquetColumn struct {
	parquet.Node
	name string
	of   kinds
}

// Name implements parquet.Field.
func (c parquetColumn) Name() string { return c.name }

// Value implements parquet.Field; rows are written as cells, and no Go value stands for one.
func (c parquetColumn) Value(reflect.Value) reflect.Value { return reflect.Value{} }

// parquetRoot is the root of a schema, with its columns in the order in which they are given.
type parquetRoot struct {
	parquet.Group
	fields []parquet.Field
}

// Fields implements parquet.Node.
func (r parquetRoot) Fields() []parquet.Field { return r.fields }

// GoType implements parquet.Node; see parquetColumn.Value.
func (r parquetRoot) GoType() reflect.Type { return reflect.TypeFor[struct{}]() }

// parquetColumns are those of the file, named as those of CSV.
func (t *resultTable) parquetColumns() []parquetColumn {
	all := []parquetColumn{{parquet.Int(64), "shard", kindLong}}
	for _, part := range []struct {
		name string
		of   *columns
	}{{"input", &t.inputs}, {"output", &t.outputs}} {
		kinds := part.of.kindsOf()
		for i, name := range part.of.heading(part.name) {
			all = append(all, parquetColumn{parquet.Optional(kinds[i].node()), name, kinds[i]})
		}
	}
	return append(all, parquetColumn{parquet.String(), "output_digest", kindText},
		parquetColumn{parquet.Encoded(parquet.String(), &parquet.RLEDictionary), "agent", kindText}, // the same ones again and again
		parquetColumn{parquet.Leaf(parquet.BooleanType), "provisional", kindTrue})
}

// node is the type of a column whose values are of these kinds: JSON where no other holds all as they are.
func (k kinds) node() parquet.Node {
	switch k &^ kindNull {
	case kindInteger, kindLong, kindInteger | kindLong:
		return parquet.Int(64)
	case kindNumber, kindNumber | kindInteger:
		return parquet.Leaf(parquet.DoubleType)
	case kindTrue:
		return parquet.Leaf(parquet.BooleanType)
	case kindText:
		return parquet.String()
	default:
		return parquet.JSON()
	}
}

func (t *resultTable) parquetRow(r client.ResultLine, all []parquetColumn) parquet.Row {
	row := append(make(parquet.Row, 0, len(all)), parquet.Int64Value(r.Shard))
	for _, value := range slices.Concat(t.inputs.cells(r.Input), t.outputs.cells(r.Output)) {
		row = append(row, all[len(row)].cell(value))
	}
	row = append(row, parquet.ByteArrayValue([]byte(r.OutputDigest)), parquet.ByteArrayValue([]byte(r.Agent.String())), parquet.BooleanValue(r.Provisional))
	for i, cell := range row {
		defined := 0
		if all[i].Optional() && !cell.IsNull() {
			defined = 1
		}
		row[i] = cell.Level(0, defined, i)
	}
	return row
}

// cell is a value in this column.
func (c parquetColumn) cell(value json.RawMessage) parquet.Value {
	if kindOf(value) == kindNull {
		return parquet.NullValue()
	}
	switch c.of &^ kindNull {
	case kindInteger, kindLong, kindInteger | kindLong:
		n, _ := strconv.ParseInt(string(value), 10, 64) // kindOf has parsed it
		return parquet.Int64Value(n)
	case kindNumber, kindNumber | kindInteger:
		f, _ := strconv.ParseFloat(string(value), 64) // as above
		return parquet.DoubleValue(f)
	case kindTrue:
		return parquet.BooleanValue(string(value) == "true")
	case kindText:
		var text string
		if json.Unmarshal(value, &text) == nil {
			return parquet.ByteArrayValue([]byte(text))
		}
	default: // JSON as it was written
	}
	return parquet.ByteArrayValue(bytes.ToValidUTF8(value, []byte("\uFFFD")))
}
