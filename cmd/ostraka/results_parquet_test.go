package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

// parquetOf is the Parquet file of some lines of results, opened.
func parquetOf(t *testing.T, rowGroup int64, lines ...string) *parquet.File {
	t.Helper()
	return parquetAs(t, rowGroup, nil, lines...)
}

// parquetWith is parquetOf with a schema of the outputs.
func parquetWith(t *testing.T, schema json.RawMessage, lines ...string) *parquet.File {
	t.Helper()
	return parquetAs(t, rowGroupBytes, schema, lines...)
}

func parquetAs(t *testing.T, rowGroup int64, schema json.RawMessage, lines ...string) *parquet.File {
	t.Helper()
	table, err := newResultTable()
	require.NoError(t, err)
	defer table.close()
	table.outputs.declare(schema)
	for _, line := range lines {
		var r client.ResultLine
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		require.NoError(t, table.add(r, []byte(line)))
	}
	var out bytes.Buffer
	require.NoError(t, table.parquet(&out, rowGroup))
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	require.NoError(t, err)
	return f
}

// typesOf are the columns of a file, as "name type", in their order.
func typesOf(f *parquet.File) (all []string) {
	for _, field := range f.Schema().Fields() {
		text := field.Name() + " " + strings.ToLower(field.Type().String())
		if field.Optional() {
			text += "?"
		}
		all = append(all, text)
	}
	return all
}

// cellsOf are the values of a file by their columns, as the library reads them back.
func cellsOf(t *testing.T, f *parquet.File) map[string][]string {
	t.Helper()
	cells, fields := map[string][]string{}, f.Schema().Fields()
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		for buffer := make([]parquet.Row, 10); ; {
			n, err := rows.ReadRows(buffer)
			for _, row := range buffer[:n] {
				for i, value := range row {
					cells[fields[i].Name()] = append(cells[fields[i].Name()], value.String())
				}
			}
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
		}
		require.NoError(t, rows.Close())
	}
	return cells
}

const parquetTail = `"output_digest":"d","agent":"0190a5d4-0000-7000-8000-000000000001"}`

func TestParquetTypesAreThoseThatAllResultsAgreeOn(t *testing.T) {
	for name, c := range map[string]struct {
		outputs []string
		column  string
		values  []string
	}{
		"whole numbers":                           {[]string{`1`, `-9223372036854775808`, `9223372036854775807`}, "int(64,true)?", []string{"1", "-9223372036854775808", "9223372036854775807"}},
		"one that 64 bits do not hold":            {[]string{`1`, `9223372036854775808`}, "json?", []string{"1", "9223372036854775808"}},
		"decimals":                                {[]string{`0.1`, `-2e300`, `3`}, "double?", []string{"0.1", "-2e+300", "3"}},
		"decimals and the last exact whole one":   {[]string{`0.5`, `9007199254740992`}, "double?", []string{"0.5", "9.007199254740992e+15"}},
		"decimals and one that no double holds":   {[]string{`0.5`, `9007199254740993`}, "json?", []string{"0.5", "9007199254740993"}},
		"a decimal beyond a double":               {[]string{`1e400`}, "json?", []string{"1e400"}},
		"a decimal of 17 digits":                  {[]string{`0.012345678901234567`}, "double?", []string{"0.012345678901234567"}},
		"a decimal of 18":                         {[]string{`0.0123456789012345678`}, "json?", []string{"0.0123456789012345678"}},
		"truths, and none":                        {[]string{`true`, `null`, `false`}, "boolean?", []string{"true", "<null>", "false"}},
		"texts":                                   {[]string{`"a,\"b\n"`, `"ü\u0000"`, `""`}, "string?", []string{"a,\"b\n", "ü\x00", ""}},
		"texts and numbers":                       {[]string{`"1"`, `1`}, "json?", []string{`"1"`, "1"}},
		"arrays and objects":                      {[]string{`[1, {"a":2}]`, `{"b":[]}`}, "json?", []string{`[1, {"a":2}]`, `{"b":[]}`}},
		"truths and numbers":                      {[]string{`true`, `0`}, "json?", []string{"true", "0"}},
		"nothing but null":                        {[]string{`null`, `null`}, "json?", []string{"<null>", "<null>"}},
		"a text that is half of a surrogate pair": {[]string{`"\ud800"`}, "string?", []string{"\uFFFD"}},
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			for i, output := range c.outputs {
				lines = append(lines, fmt.Sprintf(`{"shard":%d,"output":{"k":%s},%s`, i, output, parquetTail))
			}
			f := parquetOf(t, rowGroupBytes, lines...)
			require.Equal(t, []string{"shard int(64,true)", "output.k " + c.column, "output_digest string", "agent string", "provisional boolean"}, typesOf(f))
			require.Equal(t, c.values, cellsOf(t, f)["output.k"])
		})
	}
}

func TestParquetHasTheColumnsOfCSV(t *testing.T) {
	f := parquetOf(t, rowGroupBytes,
		`{"shard":0,"input":{"from":"5"},"output":7,`+parquetTail,
		`{"shard":3,"input":{"from":"6"},"output":{"b,.\"\u0001":1,"":true,"a":{}},"provisional":true,`+parquetTail,
		`{"shard":4,`+parquetTail)
	require.Equal(t, []string{
		"shard int(64,true)", "input.from string?", "output int(64,true)?", "output.b,.\"\x01 int(64,true)?", "output. boolean?", "output.a json?",
		"output_digest string", "agent string", "provisional boolean",
	}, typesOf(f))
	require.Equal(t, map[string][]string{
		"shard": {"0", "3", "4"}, "input.from": {"5", "6", "<null>"}, "output": {"7", "<null>", "<null>"}, "output.b,.\"\x01": {"<null>", "1", "<null>"},
		"output.": {"<null>", "true", "<null>"}, "output.a": {"<null>", "{}", "<null>"}, "output_digest": {"d", "d", "d"},
		"agent": {"0190a5d4-0000-7000-8000-000000000001", "0190a5d4-0000-7000-8000-000000000001", "0190a5d4-0000-7000-8000-000000000001"}, "provisional": {"false", "true", "false"},
	}, cellsOf(t, f))
	empty := parquetOf(t, rowGroupBytes)
	require.Equal(t, []string{"shard int(64,true)", "output_digest string", "agent string", "provisional boolean"}, typesOf(empty))
	require.Zero(t, empty.NumRows())
}

func TestParquetIsWrittenInRowGroups(t *testing.T) {
	var lines []string
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf(`{"shard":%d,"output":{"n":%d},%s`, i, i*i, parquetTail))
	}
	f := parquetOf(t, int64(len(lines[0]))*100, lines...)
	require.Greater(t, len(f.RowGroups()), 8)
	cells := cellsOf(t, f)
	require.Len(t, cells["output.n"], 1000)
	for i, cell := range cells["output.n"] {
		require.Equal(t, fmt.Sprint(i*i), cell)
		require.Equal(t, fmt.Sprint(i), cells["shard"][i])
	}
	var keys []string
	for i := range maxColumns {
		keys = append(keys, fmt.Sprintf(`"k%d":1`, i))
	}
	wide := parquetOf(t, rowGroupBytes, `{"shard":0,"output":{`+strings.Join(keys, ",")+`},`+parquetTail)
	require.Len(t, wide.Schema().Fields(), maxColumns+4)
}

func TestAFileIsWholeOrNotThere(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out")
	broken := errors.New("it broke off")
	require.ErrorIs(t, writeWholeFile(name, "writing", func(w io.Writer) error {
		_, err := w.Write([]byte("half"))
		return errors.Join(err, broken)
	}), broken)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoError(t, checkFileToWrite(name))
	require.NoError(t, writeWholeFile(name, "writing", func(w io.Writer) error {
		_, err := w.Write([]byte("whole"))
		return err
	}))
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, "whole", string(text))
	require.NoError(t, checkFileToWrite(name))
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(name, link))
	for _, bad := range []string{dir, link, filepath.Join(dir, "none", "out"), filepath.Join(name, "out"), os.DevNull} {
		require.Equal(t, exitUsage, exitCode(checkFileToWrite(bad)), bad)
	}
}

func TestParquetIsNotForATerminal(t *testing.T) {
	o := &jobResultsOptions{terminal: &terminal{shows: true}, format: "parquet", after: -1}
	require.Equal(t, exitUsage, exitCode(o.check()))
	o.terminal.shows = false
	require.NoError(t, o.check())
	o.terminal.shows, o.file = true, filepath.Join(t.TempDir(), "results.parquet")
	require.NoError(t, o.check())
}
