package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
)

// readTable reads the CSV of a file. What is written then has the columns of its heading.
func (f *resultsFile) readTable(once *resultsOnce) error {
	rows := csv.NewReader(f)
	rows.ReuseRecord = true
	first, err := rows.Read()
	heading := slices.Clone(first)
	table := &resultTable{}
	if err != nil || !table.readHeading(heading) || !f.endsLine(rows.InputOffset()) {
		return f.refuse("it does not begin with the heading of a table of results")
	}
	f.whole = rows.InputOffset()
	f.inputs = table.inputs.plain != 0 || len(table.inputs.names) > 0
	once.write = table.append(csv.NewWriter(once.out))
	for {
		row, err := rows.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return f.checkRow(err, len(heading))
		case !f.endsLine(rows.InputOffset()):
			return nil // it is cut off, behind the last of its cells or in it
		}
		r, err := table.readRow(row)
		if err != nil {
			return f.refuse("a row is no result (%v)", err)
		}
		if err := f.note(once, r, f.inputs); err != nil {
			return err
		}
		f.whole = rows.InputOffset()
	}
}

// endsLine says whether a line ends at a place of the file.
func (f *resultsFile) endsLine(at int64) bool {
	var last [1]byte
	_, err := f.ReadAt(last[:], at-1)
	return err == nil && last[0] == '\n'
}

// checkRow looks whether the row that cannot be read is the last one, cut off: in a cell in quotes, or before its last cell.
func (f *resultsFile) checkRow(failed error, cells int) error {
	rest := make([]byte, 2*client.MaxLineBytes)
	n, err := f.ReadAt(rest, f.whole)
	if !errors.Is(err, io.EOF) {
		return f.refuse("a row is no result (%v)", failed)
	}
	rest = rest[:n]
	if errors.Is(failed, csv.ErrQuote) {
		rest = slices.Concat(rest, []byte{'"'})
	}
	row, err := csv.NewReader(bytes.NewReader(rest)).ReadAll()
	if err != nil || len(row) != 1 || len(row[0]) > cells || bytes.HasSuffix(rest, []byte("\n")) {
		return f.refuse("a row is no result (%v)", failed)
	}
	return nil
}

// readHeading learns the columns of a table that was written before.
func (t *resultTable) readHeading(row []string) bool {
	last := len(row) - 1
	if t.marked = last > 0 && row[last] == "provisional"; t.marked {
		last--
	}
	if last < 2 || row[0] != "shard" || row[last] != "agent" || row[last-1] != "output_digest" {
		return false
	}
	for _, name := range row[1 : last-1] {
		if !t.inputs.readHeading("input", name) && !t.outputs.readHeading("output", name) {
			return false
		}
	}
	return slices.Equal(t.csvHeading(), row)
}

// readHeading takes a column that is one of inputs, or of outputs.
func (c *columns) readHeading(what, name string) bool {
	if name == what {
		c.plain = kindOther
		return true
	}
	key, ok := strings.CutPrefix(name, what+".")
	if !ok {
		return false
	}
	if c.number == nil {
		c.number = map[string]int{}
	}
	c.number[key] = len(c.names)
	c.names, c.kinds = append(c.names, key), append(c.kinds, kindOther)
	return true
}

// readRow is what a row says of a result, but for its output.
func (t *resultTable) readRow(row []string) (r client.ResultLine, err error) {
	last := len(row) - 1
	if t.marked {
		if r.Provisional, err = strconv.ParseBool(row[last]); err != nil {
			return r, err
		}
		last--
	}
	r.OutputDigest = row[last-1]
	if r.Shard, err = strconv.ParseInt(row[0], 10, 64); err != nil {
		return r, err
	}
	r.Agent, err = uuid.Parse(row[last])
	return r, err
}

// append writes results below those that stand in a table already.
func (t *resultTable) append(out *csv.Writer) func(client.ResultLine, []byte) error {
	return func(r client.ResultLine, _ []byte) error {
		for what, part := range map[string]struct {
			of    *columns
			value json.RawMessage
		}{"input": {&t.inputs, r.Input}, "output": {&t.outputs, r.Output}} {
			if name := part.of.lacks(part.value); name != "" {
				return &exitError{
					code: exitUsage, err: fmt.Errorf("--resume: shard %d has %s%s, for which the table has no column", r.Shard, what, name),
					hint: "what was written before it is whole; leave out --resume to write the table again",
				}
			}
		}
		if err := out.Write(t.csvRow(r)); err != nil {
			return fmt.Errorf("writing results: %w", err)
		}
		return nil
	}
}

// lacks names what of a value has no column: "." and a key, or " that is no object"; "" where all have one.
func (c *columns) lacks(value json.RawMessage) string {
	if len(value) == 0 {
		return ""
	}
	all, object := members(value)
	if !object && c.plain == 0 {
		return " that is no object"
	}
	for _, m := range all {
		if _, known := c.number[m.name]; !known {
			return "." + m.name
		}
	}
	return ""
}
