package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/pflag"
)

// outputFlag says in which form a command prints data.
type outputFlag struct{ format string }

func (o *outputFlag) register(flags *pflag.FlagSet) {
	flags.StringVarP(&o.format, "output", "o", "table", "how to print: table or json")
}

func (o *outputFlag) check() error {
	if o.format != "table" && o.format != "json" {
		return usageError("--output %q: choose table or json", o.format)
	}
	return nil
}

func (o *outputFlag) json() bool { return o.format == "json" }

// jsonLinesFlag is -o of commands that print JSON lines in any case.
type jsonLinesFlag struct{ format string }

func (o *jsonLinesFlag) register(flags *pflag.FlagSet) {
	flags.StringVarP(&o.format, "output", "o", "json", "json, which is JSON lines here; there is no other form")
}

func (o *jsonLinesFlag) check() error {
	if o.format != "json" {
		return usageError("--output %q: this command prints JSON lines; leave it out, or say json", o.format)
	}
	return nil
}

// printRows prints a list: as a JSON array of the server's items, byte for byte but for white space, or as a table.
func printRows[T any](t *terminal, o *outputFlag, items []T, raw []json.RawMessage, headings []string, row func(T) []string) error {
	if o.json() {
		if raw == nil {
			raw = []json.RawMessage{}
		}
		return writeValue(t.out, raw)
	}
	if len(items) == 0 {
		t.say("there are none")
		return nil
	}
	table := newTable(t.out, headings...)
	for _, item := range items {
		table.row(row(item)...)
	}
	return table.flush()
}

// printOne prints one thing: the server's document, or its fields below each other.
func printOne(t *terminal, o *outputFlag, raw []byte, fields [][2]string) error {
	if o.json() {
		return writeJSON(t.out, raw)
	}
	return printFields(t, fields)
}

// printFields prints names and values below each other, without those that are empty.
func printFields(t *terminal, fields [][2]string) error {
	table := &table{w: newFields(t.out)}
	for _, f := range fields {
		if f[1] != "" {
			table.row(f[0], f[1])
		}
	}
	return table.flush()
}

// printSecret prints a secret that is shown once: alone on stdout, so that a script can keep it.
func printSecret(t *terminal, o *outputFlag, what, secret string, document any) error {
	if o.json() {
		return writeValue(t.out, document)
	}
	t.say("this %s is shown once; keep it safe:", what)
	_, err := fmt.Fprintln(t.out, secret)
	return err
}
