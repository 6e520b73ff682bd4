package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/guardian"
)

// maxConfigBytes is how long a file of settings may be: twenty times an example with all its comments.
const maxConfigBytes = 256 << 10

// configFile is a file of settings that was read.
type configFile struct {
	path   string
	mode   fs.FileMode
	values map[string]configValue // by the names of keys
	lines  map[string]int         // where they stand
	wrong  []configMistake
}

// configMistake is one thing that is wrong with a file of settings.
type configMistake struct {
	Line int    `json:"line,omitempty"` // 0: of no line
	Key  string `json:"key,omitempty"`
	Text string `json:"text"`
}

// configError says all that is wrong with a file of settings.
type configError struct {
	path     string
	mistakes []configMistake
}

// Error implements error.
func (e *configError) Error() string {
	lines := make([]string, len(e.mistakes))
	for i, m := range e.mistakes {
		lines[i] = e.path
		if m.Line > 0 {
			lines[i] += fmt.Sprintf(", line %d", m.Line)
		}
		if m.Key != "" {
			lines[i] += ": " + m.Key
		}
		lines[i] += ": " + m.Text
	}
	return strings.Join(lines, "\n")
}

// readConfig reads a file of settings for the program with these flags, which it leaves as they are but for trying values.
func readConfig(path string, keys []configKey, flags *pflag.FlagSet) (*configFile, error) {
	content, mode, err := readConfigFile(path)
	if err != nil {
		return nil, err
	}
	return parseConfig(path, mode, content, keys, flags)
}

func readConfigFile(path string) ([]byte, fs.FileMode, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, usageError("reading the file of settings: %w", err)
	}
	defer f.Close()
	info, err := f.Stat() // of the file that is read, whatever its name comes to mean
	if err != nil {
		return nil, 0, usageError("reading the file of settings: %w", err)
	}
	content, err := io.ReadAll(io.LimitReader(f, maxConfigBytes+1))
	if err != nil {
		return nil, 0, usageError("reading the file of settings: %w", err)
	}
	if len(content) > maxConfigBytes {
		return nil, 0, usageError("%s has more than %d bytes: it is something else than a file of settings", path, maxConfigBytes)
	}
	return content, info.Mode(), nil
}

func parseConfig(path string, mode fs.FileMode, content []byte, keys []configKey, flags *pflag.FlagSet) (*configFile, error) {
	document := map[string]any{}
	if err := toml.Unmarshal(content, &document); err != nil {
		return nil, badConfig(path, notTOML(err))
	}
	c := &configFile{path: path, mode: mode, values: map[string]configValue{}, lines: tomlLines(content)}
	for name, value := range document {
		c.take(keys, flags, name, value)
	}
	c.checkSecrets(keys)
	if len(c.wrong) > 0 {
		slices.SortFunc(c.wrong, func(a, b configMistake) int { return cmp.Or(a.Line-b.Line, strings.Compare(a.Key, b.Key)) })
		return nil, badConfig(path, c.wrong...)
	}
	return c, nil
}

func badConfig(path string, mistakes ...configMistake) error {
	return &exitError{code: exitUsage, err: &configError{path: path, mistakes: mistakes}, hint: "ostraka config example shows all settings"}
}

func notTOML(err error) configMistake {
	text := "it is not TOML: " + strings.TrimPrefix(err.Error(), "toml: ")
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := at.Position()
		return configMistake{Line: line, Text: text}
	}
	return configMistake{Text: text}
}

// take takes a value, or those of the section of that name.
func (c *configFile) take(keys []configKey, flags *pflag.FlagSet, name string, value any) {
	if k, known := findKey(keys, name); known {
		c.takeKey(k, flags, value)
		return
	}
	section, isSection := value.(map[string]any)
	if !isSection || strings.Contains(name, ".") {
		c.mistake(name, "there is no such setting"+guardian.Nearest(name, keyNames(keys)))
		return
	}
	if !slices.ContainsFunc(keys, func(k configKey) bool { return k.section() == name }) {
		c.mistake(name, "there is no such section"+guardian.Nearest(name, sectionNames(keys)))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(section)) {
		c.take(keys, flags, name+"."+key, section[key])
	}
}

func sectionNames(keys []configKey) []string {
	var names []string
	for _, k := range keys {
		names = append(names, k.section())
	}
	return slices.Compact(names)
}

// takeKey keeps a value that the flag accepts.
func (c *configFile) takeKey(k configKey, flags *pflag.FlagSet, value any) {
	v, err := fromTOML(k.kind(flags), value)
	if err != nil {
		c.mistake(k.name, err.Error())
		return
	}
	if table, ok := value.(map[string]any); ok {
		for member := range table {
			if !slices.ContainsFunc(k.members, func(m configMember) bool { return m.name == member }) {
				c.mistake(k.name+"."+member, "there is no such setting"+guardian.Nearest(k.name+"."+member, keyNames([]configKey{k})))
				return
			}
		}
	}
	if len(k.members) > 0 && v.text == "" {
		return // an empty table, as in the example
	}
	if err := try(k, flags, v); err != nil {
		c.mistake(k.name, fmt.Sprintf("%s does not do: %v", quoted(k, v), err))
		return
	}
	c.values[k.name] = v
}

// try sees whether the key's flag accepts a value, and leaves the flag as it was. Numbers by name are checked by then.
func try(k configKey, flags *pflag.FlagSet, v configValue) error {
	if k.flag == "" || len(k.members) > 0 {
		return nil
	}
	flag := flags.Lookup(k.flag)
	before := valueOf(flag)
	return errors.Join(v.set(flag), before.set(flag))
}

// quoted is a value as an error may show it.
func quoted(k configKey, v configValue) string {
	if k.secret {
		return "the value"
	}
	return fmt.Sprintf("%.100q", v.shown())
}

func (c *configFile) mistake(key, text string) {
	c.wrong = append(c.wrong, configMistake{Line: c.lines[key], Key: key, Text: text})
}

// checkSecrets refuses secrets in a file that others can read.
func (c *configFile) checkSecrets(keys []configKey) {
	if runtime.GOOS == "windows" || c.mode.Perm()&0o077 == 0 {
		return
	}
	for _, k := range keys {
		if _, there := c.values[k.name]; there && k.secret {
			c.mistake(k.name, "it is a secret, and others on this machine can read the file: chmod 600 "+shellWord(c.path))
		}
	}
}
