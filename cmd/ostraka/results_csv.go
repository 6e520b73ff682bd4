package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/ostraka/ostraka/client"
)

// maxColumns bounds the columns of a table: results of strangers may have a key of their own each.
const maxColumns = 1000

// csvTable gathers results in a file of its own, since the last of them may have a column that no other has, and prints them as CSV.
type csvTable struct {
	spool   *os.File
	lines   *bufio.Writer
	inputs  columns
	outputs columns
	marked  bool // some may be taken back
}

// columns are the keys of objects, in the order in which they were seen first; plain says that there are values which are no objects.
type columns struct {
	names []string
	known map[string]bool
	plain bool
}

func newCSVTable() (*csvTable, error) {
	spool, err := os.CreateTemp("", "ostraka-results-")
	if err != nil {
		return nil, fmt.Errorf("gathering results: %w", err)
	}
	return &csvTable{spool: spool, lines: bufio.NewWriter(spool)}, nil
}

// close removes what was gathered.
func (t *csvTable) close() {
	_ = t.spool.Close() // it is removed
	_ = os.Remove(t.spool.Name())
}

// add gathers a result. Where an output is an object elsewhere, its digest stands in the table and the output does not.
func (t *csvTable) add(r client.ResultLine, line []byte) error {
	t.marked = t.marked || r.Provisional
	if err := errors.Join(t.inputs.see(r.Input), t.outputs.see(r.Output)); err != nil {
		return err
	}
	if _, err := t.lines.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("gathering results: %w", err)
	}
	return nil
}

// see learns the columns of a value.
func (c *columns) see(value json.RawMessage) error {
	if len(value) == 0 {
		return nil
	}
	keys, ok := members(value)
	if !ok {
		c.plain = true
		return nil
	}
	if c.known == nil {
		c.known = map[string]bool{}
	}
	for _, m := range keys {
		if !c.known[m.name] {
			c.known[m.name] = true
			c.names = append(c.names, m.name)
		}
	}
	if len(c.names) > maxColumns {
		return usageError("the results have more than %d columns: leave out -o csv, and make a table of the JSON lines yourself", maxColumns)
	}
	return nil
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

// print writes the table: numbers as they were written, texts without quotes, everything else as JSON.
func (t *csvTable) print(out io.Writer) error {
	if err := t.lines.Flush(); err != nil {
		return fmt.Errorf("gathering results: %w", err)
	}
	if _, err := t.spool.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("gathering results: %w", err)
	}
	table := csv.NewWriter(out)
	if err := table.Write(t.heading()); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	for lines := client.NewResultReader(t.spool); ; {
		r, _, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = table.Write(t.row(r))
		}
		if err != nil {
			return fmt.Errorf("writing results: %w", err)
		}
	}
	table.Flush()
	if err := table.Error(); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	return nil
}

func (t *csvTable) heading() []string {
	row := slices.Concat([]string{"shard"}, t.inputs.heading("input"), t.outputs.heading("output"), []string{"output_digest", "agent"})
	if t.marked {
		row = append(row, "provisional")
	}
	return row
}

func (c *columns) heading(what string) (row []string) {
	if c.plain {
		row = append(row, what)
	}
	for _, name := range c.names {
		row = append(row, what+"."+name)
	}
	return row
}

func (t *csvTable) row(r client.ResultLine) []string {
	row := slices.Concat([]string{strconv.FormatInt(r.Shard, 10)}, t.inputs.row(r.Input), t.outputs.row(r.Output), []string{r.OutputDigest, r.Agent.String()})
	if t.marked {
		row = append(row, strconv.FormatBool(r.Provisional))
	}
	return row
}

func (c *columns) row(value json.RawMessage) (row []string) {
	keys, object := members(value)
	if c.plain {
		whole := ""
		if !object {
			whole = csvCell(value)
		}
		row = append(row, whole)
	}
	for _, name := range c.names {
		cell := ""
		for _, m := range keys {
			if m.name == name {
				cell = csvCell(m.value)
			}
		}
		row = append(row, cell)
	}
	return row
}

// csvCell is a value as a cell.
func csvCell(value json.RawMessage) string {
	var text string
	if len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &text) == nil {
		return text
	}
	if string(value) == "null" {
		return ""
	}
	return string(value)
}
