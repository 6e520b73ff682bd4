package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ostraka/ostraka/client"
)

// maxColumns bounds the columns of a table: results of strangers may have a key of their own each.
const maxColumns = 1000

// resultTable gathers results in a file of its own, since the last of them may have a column that no other has, and is printed then.
type resultTable struct {
	spool   *os.File
	lines   *bufio.Writer
	inputs  columns
	outputs columns
	marked  bool // some may be taken back
}

// columns are the keys of objects, in the order in which they were seen first.
type columns struct {
	names  []string
	number map[string]int // by name, in names
	kinds  []kinds        // what was seen under each name
	plain  kinds          // of values that are no objects; 0: there are none
}

func newResultTable() (*resultTable, error) {
	spool, err := os.CreateTemp("", "ostraka-results-")
	if err != nil {
		return nil, fmt.Errorf("gathering results: %w", err)
	}
	return &resultTable{spool: spool, lines: bufio.NewWriter(spool)}, nil
}

// close removes what was gathered.
func (t *resultTable) close() {
	_ = t.spool.Close() // it is removed
	_ = os.Remove(t.spool.Name())
}

// add gathers a result. Where an output is an object elsewhere, its digest stands in the table and the output does not.
func (t *resultTable) add(r client.ResultLine, line []byte) error {
	t.marked = t.marked || r.Provisional
	if err := errors.Join(t.inputs.see(r.Input), t.outputs.see(r.Output)); err != nil {
		return err
	}
	if _, err := t.lines.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("gathering results: %w", err)
	}
	return nil
}

// each hands out what was gathered, in the order in which it came.
func (t *resultTable) each(take func(r client.ResultLine, size int) error) error {
	if err := t.lines.Flush(); err != nil {
		return fmt.Errorf("gathering results: %w", err)
	}
	if _, err := t.spool.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("gathering results: %w", err)
	}
	for lines := client.NewResultReader(t.spool); ; {
		r, line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = take(r, len(line))
		}
		if err != nil {
			return fmt.Errorf("writing results: %w", err)
		}
	}
}

// see learns the columns of a value.
func (c *columns) see(value json.RawMessage) error {
	if len(value) == 0 {
		return nil
	}
	all, ok := members(value)
	if !ok {
		c.plain |= kindOf(value)
		return nil
	}
	for _, m := range all {
		c.kinds[c.column(m.name)] |= kindOf(m.value)
	}
	if len(c.names) > maxColumns {
		return usageError("the results have more than %d columns: leave out -o, and make a table of the JSON lines yourself", maxColumns)
	}
	return nil
}

// column is the number of the column of a key, in names.
func (c *columns) column(name string) int {
	if c.number == nil {
		c.number = map[string]int{}
	}
	i, known := c.number[name]
	if !known {
		i = len(c.names)
		c.number[name] = i
		c.names, c.kinds = append(c.names, name), append(c.kinds, 0)
	}
	return i
}

// heading names the columns, of inputs or of outputs.
func (c *columns) heading(what string) (row []string) {
	if c.plain != 0 {
		row = append(row, what)
	}
	for _, name := range c.names {
		row = append(row, what+"."+name)
	}
	return row
}

// kindsOf are the kinds of the values below the heading.
func (c *columns) kindsOf() (row []kinds) {
	if c.plain != 0 {
		row = append(row, c.plain)
	}
	return append(row, c.kinds...)
}

// cells are the values of one row below the heading; nil where there is none.
func (c *columns) cells(value json.RawMessage) (row []json.RawMessage) {
	all, object := members(value)
	if c.plain != 0 {
		if object {
			value = nil
		}
		row = append(row, value)
	}
	first := len(row)
	row = append(row, make([]json.RawMessage, len(c.names))...)
	for _, m := range all {
		row[first+c.number[m.name]] = m.value
	}
	return row
}

// member is a name and a value of an object.
type member struct {
	name  string
	value json.RawMessage
}

// members are those of an object, in its order. It says no for what is no object.
func members(value json.RawMessage) (all []member, ok bool) {
	d := json.NewDecoder(bytes.NewReader(value))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		var m member
		if err == nil {
			m.name, _ = name.(string)
			err = d.Decode(&m.value)
		}
		if err != nil {
			return nil, false
		}
		all = append(all, m)
	}
	return all, true
}
