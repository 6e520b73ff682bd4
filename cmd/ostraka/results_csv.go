package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/ostraka/ostraka/client"
)

// csv writes the table as CSV: numbers as they were written, texts without quotes, everything else as JSON. On a terminal no cell may draw.
func (t *resultTable) csv(out io.Writer, onTerminal bool) error {
	table := csv.NewWriter(out)
	write := func(row []string) error {
		for i := range row {
			if onTerminal {
				row[i] = plain(row[i])
			}
		}
		return table.Write(row)
	}
	if err := write(t.csvHeading()); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	if err := t.each(func(r client.ResultLine, _ int) error { return write(t.csvRow(r)) }); err != nil {
		return err
	}
	table.Flush()
	if err := table.Error(); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	return nil
}

func (t *resultTable) csvHeading() []string {
	row := slices.Concat([]string{"shard"}, t.inputs.heading("input"), t.outputs.heading("output"), []string{"output_digest", "agent"})
	if t.marked {
		row = append(row, "provisional")
	}
	return row
}

func (t *resultTable) csvRow(r client.ResultLine) []string {
	row := []string{strconv.FormatInt(r.Shard, 10)}
	for _, cell := range slices.Concat(t.inputs.cells(r.Input), t.outputs.cells(r.Output)) {
		row = append(row, csvCell(cell))
	}
	row = append(row, r.OutputDigest, r.Agent.String())
	if t.marked {
		row = append(row, strconv.FormatBool(r.Provisional))
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
