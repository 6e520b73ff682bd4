package service

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Options say what to install.
type Options struct {
	Kind        *Kind      // Agent or Server
	Root        string     // folder to install below; "": the machine itself
	User        string     // who runs it; "": the kind's name, which is made where it is missing
	Program     string     // the file to install
	URL         string     // of an agent: the server
	Config      string     // of a server: its file of settings, which is there already
	Environment []Variable // what the service is told and others must not read
	MemoryMax   string     // of all its processes together, as systemd writes it; "": no limit
	Arguments   []string   // of the command, besides
}

// Variable is a variable of the service's environment.
type Variable struct{ Name, Value string }

var (
	userPattern   = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,30}$`)
	memoryPattern = regexp.MustCompile(`^[0-9]+[KMGT]?$`)
)

// check refuses what cannot be written into a unit or an environment file as it is meant.
func (o *Options) check() error {
	if o.User == "" {
		o.User = o.Kind.Name
	}
	switch {
	case !userPattern.MatchString(o.User):
		return fmt.Errorf("the user %q: a user's name has up to 31 lower-case letters, digits, _ and -", o.User)
	case o.User == "root":
		return fmt.Errorf("%s is not installed to run as root; leave --user out, or name a user that has nothing to lose", o.Kind.Title)
	case o.MemoryMax != "" && !memoryPattern.MatchString(o.MemoryMax):
		return fmt.Errorf("the memory %q: write a number of bytes, or one with K, M, G or T", o.MemoryMax)
	case o.Kind == Agent && o.URL == "":
		return errors.New("which server? give its URL")
	case o.Kind == Server && !filepath.IsAbs(o.Config):
		return fmt.Errorf("the file of settings %q: a service starts in a folder of its own, so give the whole path", o.Config)
	}
	for _, text := range append([]string{o.URL, o.Config}, o.Arguments...) {
		if strings.ContainsAny(text, "\n\r\x00") {
			return fmt.Errorf("%q holds a line break, which no unit can", text)
		}
	}
	for _, v := range o.Environment { // whose values are secrets
		if strings.ContainsAny(v.Value, "\n\r\x00") {
			return fmt.Errorf("%s holds a line break, which no unit can", v.Name)
		}
	}
	return nil
}

// at is a path below the root.
func (o *Options) at(path string) string { return filepath.Join("/", o.Root, path) }

// unit is the text of the unit.
func (o *Options) unit() ([]byte, error) {
	var command []string
	for _, word := range slices.Concat([]string{o.Kind.programPath()}, o.Kind.command(o), o.Arguments) {
		command = append(command, unitWord(word))
	}
	var text bytes.Buffer
	err := o.Kind.unit.Execute(&text, map[string]string{
		"Name": o.Kind.Name, "User": o.User, "URL": strings.ReplaceAll(o.URL, "%", "%%"), "StateDir": o.Kind.StateDir(), "Environment": o.Kind.environmentPath(),
		"Command": strings.Join(command, " "), "MemoryMax": o.MemoryMax,
	})
	if err != nil {
		return nil, fmt.Errorf("writing the unit: %w", err)
	}
	return text.Bytes(), nil
}

// plainWord is what needs no quotes in a unit.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@+,./:=-]+$`)

// unitWord makes of a text one word of an ExecStart line: systemd knows quotes, backslashes, % specifiers and $ variables.
func unitWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(text) + `"`
}

// environment is what root alone may read.
func (o *Options) environment() []byte {
	var text strings.Builder
	fmt.Fprintf(&text, "# For root alone: %s\n", o.Kind.secrets)
	for _, v := range o.Environment {
		if v.Value != "" {
			fmt.Fprintf(&text, "%s=%s\n", v.Name, environmentWord(v.Value))
		}
	}
	return []byte(text.String())
}

// environmentWord quotes a value of an environment file.
func environmentWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text) + `"`
}
