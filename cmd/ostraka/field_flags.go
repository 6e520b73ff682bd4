package main

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client/answer"
)

// flagsOfFields are the flags that fill a field of another name, as far as a command has them.
var flagsOfFields = map[string]string{
	"axes": "grid", "bytes": "shard-bytes", "expires_in_seconds": "expires-in", "from": "range", "kinds": "event", "lines": "shard-size", "manifest": "objects-manifest",
	"max_uses": "uses", "overlap_seconds": "overlap", "prefix": "objects-prefix", "size": "shard-size", "to": "range", "values": "items",
}

// fieldPart is one name in the path of a field, such as body.partition.axes[0].name.
var fieldPart = regexp.MustCompile(`[a-z_]+`)

// inFlags names what the server refuses by the flags and arguments of the command, where these are what was sent, and not by the fields
// of a request that nobody has written. What was written to a file has the request's own names.
func inFlags(cmd *cobra.Command, err error) error {
	if file := cmd.Flags().ShorthandLookup("f"); file != nil && file.Changed { // -f, everywhere a file of what is sent
		return err
	}
	var problem *answer.Error
	var coded *exitError
	if !errors.As(err, &problem) || !errors.As(err, &coded) {
		return err
	}
	text, known := err.Error(), false
	for _, field := range problem.Errors {
		if name := flagOf(cmd, field.Location); name != "" {
			text, known = strings.ReplaceAll(text, field.Location+": ", name+": "), true
		}
	}
	if !known {
		return err
	}
	return &exitError{code: coded.code, err: errors.New(text), hint: helpOf(cmd)}
}

// flagOf is the flag or the argument of a command that fills a field, or nothing.
func flagOf(cmd *cobra.Command, field string) string {
	for _, part := range slices.Backward(fieldPart.FindAllString(field, -1)) {
		for _, flag := range []string{flagsOfFields[part], strings.ReplaceAll(part, "_", "-")} {
			if cmd.Flags().Lookup(flag) != nil {
				return "--" + flag
			}
		}
		if argument := strings.ToUpper(part); slices.Contains(strings.Fields(cmd.Use), argument) {
			return argument
		}
	}
	return ""
}
