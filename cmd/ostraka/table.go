package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
)

// table prints rows under headings, in columns.
type table struct {
	w *tabwriter.Writer
}

func newTable(w io.Writer, headings ...string) *table {
	t := &table{newFields(w)}
	t.row(headings...)
	return t
}

// newFields prints names and values below each other.
func newFields(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 8, 2, ' ', 0) }

func (t *table) row(cells ...string) {
	for i, c := range cells {
		cells[i] = plain(c)
	}
	fmt.Fprintln(t.w, strings.Join(cells, "\t"))
}

func (t *table) flush() error { return t.w.Flush() }

// plainLines is plain for text of several lines.
func plainLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = plain(strings.ReplaceAll(lines[i], "\t", "        "))
	}
	return strings.Join(lines, "\n")
}

// plain makes foreign text safe for a terminal: what others chose (names, messages, output) must not move the cursor or break a
// row.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '·'
		}
		return r
	}, s)
}
