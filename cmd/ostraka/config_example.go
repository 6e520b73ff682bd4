package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// exampleWidth is how long a line of comment in an example gets, in bytes.
const exampleWidth = 100

func newConfigExample(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use: "example server|agent", Short: "Print a file with all settings and their defaults", Args: arguments(1), ValidArgsFunction: configNames,
		Long: `Print a file with all settings of a server or an agent, each with what it means and its default, as a
comment. It changes nothing until a line is uncommented, and "ostraka config check" passes it.`,
		Example: `  (umask 077; ostraka config example server > server.toml)
  ostraka config example agent > agent.toml`,
		RunE: func(_ *cobra.Command, args []string) error {
			kind, err := findConfigKind(args[0])
			if err != nil {
				return err
			}
			text, err := kind.example()
			if err != nil {
				return err
			}
			t.put("%s", text)
			return nil
		},
	}
}

const exampleHead = `# Settings for "%s --config FILE". A line that begins with #key = shows a default: uncomment it to
# change it. Flags come before the environment, the environment before this file. A file with secrets
# must be readable by its owner alone: chmod 600.
`

// example is the file with all settings and their defaults.
func (k configKind) example() (string, error) {
	flags, _, err := k.parse(&terminal{env: func(string) string { return "" }}, nil)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, exampleHead, k.command)
	section := ""
	for _, key := range k.keys {
		if key.section() != section {
			section = key.section()
			fmt.Fprintf(&b, "\n[%s]\n", section)
		}
		b.WriteString("\n")
		for _, line := range wrapped(key.note(flags), exampleWidth-2) {
			b.WriteString("# " + line + "\n")
		}
		for _, line := range key.defaults(flags) {
			b.WriteString("#" + line + "\n")
		}
	}
	return b.String(), nil
}

// note is what the example says of a key.
func (k configKey) note(flags *pflag.FlagSet) string {
	text := k.usage(flags)
	if k.flag != "" {
		text += ". Flag: --" + k.flag
	}
	if k.secret {
		text += ". A secret"
	}
	if k.usual != "" {
		text += ". The default is made of this machine"
	}
	return text
}

// defaults are the lines that set what holds anyway.
func (k configKey) defaults(flags *pflag.FlagSet) []string {
	_, name, _ := strings.Cut(k.name, ".")
	if len(k.members) > 0 {
		lines := make([]string, len(k.members))
		for i, m := range k.members {
			lines[i] = fmt.Sprintf("%s = %d # %s", m.name, m.usual, m.about)
		}
		return lines
	}
	return []string{name + " = " + firstOf(k.usual, k.defaultTOML(flags))}
}

// defaultTOML is the default as it stands in a file.
func (k configKey) defaultTOML(flags *pflag.FlagSet) string {
	if k.flag == "" {
		return `""`
	}
	f := flags.Lookup(k.flag)
	switch k.kind(flags) {
	case "bool", "int", "int64", "uint64", "float64":
		return f.DefValue
	case listKind, arrayKind:
		quoted := valueOf(f).list
		for i, item := range quoted {
			quoted[i] = fmt.Sprintf("%q", item)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return fmt.Sprintf("%q", f.DefValue)
}

// wrapped breaks a text into lines of that many bytes, where words allow it.
func wrapped(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
