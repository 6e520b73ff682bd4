package service

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"
)

// Name is what the service, its user and its folders are called.
const Name = "ostraka-agent"

// Where things are, below the root.
const (
	programPath     = "/usr/local/lib/" + Name + "/ostraka"
	environmentPath = "/etc/" + Name + "/agent.env"
	manifestPath    = "/etc/" + Name + "/installed.json"
	unitPath        = "/etc/systemd/system/" + Name + ".service"
	// StateDir is the agent's data directory.
	StateDir = "/var/lib/" + Name
)

// Options say what to install.
type Options struct {
	Root      string   // folder to install below; "": the machine itself
	User      string   // who runs the agent; "": Name, which is made where it is missing
	Program   string   // the file to install
	URL       string   // the server
	Token     string   // enrolment token
	MemoryMax string   // of agent and sandboxes together, as systemd writes it; "": no limit
	Arguments []string // of agent start, besides
}

//go:embed unit.tmpl
var unitText string

var unitTemplate = template.Must(template.New("unit").Parse(unitText))

var (
	userPattern   = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,30}$`)
	memoryPattern = regexp.MustCompile(`^[0-9]+[KMGT]?$`)
)

// check refuses what cannot be written into a unit or an environment file as it is meant.
func (o *Options) check() error {
	if o.User == "" {
		o.User = Name
	}
	switch {
	case !userPattern.MatchString(o.User):
		return fmt.Errorf("the user %q: a user's name has up to 31 lower-case letters, digits, _ and -", o.User)
	case o.User == "root":
		return errors.New("the agent is not installed to run as root: it executes other people's code; leave --user out, or name a user that has nothing to lose")
	case o.MemoryMax != "" && !memoryPattern.MatchString(o.MemoryMax):
		return fmt.Errorf("the memory %q: write a number of bytes, or one with K, M, G or T", o.MemoryMax)
	case o.URL == "":
		return errors.New("which server? give its URL")
	}
	for _, text := range append([]string{o.URL, o.Token}, o.Arguments...) {
		if strings.ContainsAny(text, "\n\r\x00") {
			return fmt.Errorf("%q holds a line break, which no unit can", text)
		}
	}
	return nil
}

// at is a path below the root.
func (o *Options) at(path string) string { return filepath.Join("/", o.Root, path) }

// unit is the text of the unit.
func (o *Options) unit() ([]byte, error) {
	command := []string{programPath, "agent", "start", "--data", StateDir}
	for i, word := range append(command, o.Arguments...) {
		if i < len(command) {
			command[i] = unitWord(word)
		} else {
			command = append(command, unitWord(word))
		}
	}
	var text bytes.Buffer
	err := unitTemplate.Execute(&text, map[string]string{
		"Name": Name, "User": o.User, "URL": strings.ReplaceAll(o.URL, "%", "%%"), "StateDir": StateDir, "Environment": environmentPath,
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
	text.WriteString("# For root alone: the token lets machines join the project. It may be deleted once the agent has joined.\n")
	fmt.Fprintf(&text, "OSTRAKA_URL=%s\n", environmentWord(o.URL))
	if o.Token != "" {
		fmt.Fprintf(&text, "OSTRAKA_TOKEN=%s\n", environmentWord(o.Token))
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
