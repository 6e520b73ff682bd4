package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// setting is what a key comes to, and who says so.
type setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"` // of a secret: shownSecret
	Source string `json:"source"`

	raw string // also of a secret
}

// shownSecret is shown instead of a secret.
const shownSecret = "(secret)"

// loadConfig reads the file of settings and gives its values to the flags that are not set here or in the environment. The terminal
// that it returns has an environment that the file completes.
func loadConfig(t *terminal, path string, keys []configKey, flags *pflag.FlagSet) (*terminal, *configFile, error) {
	c, err := readConfig(path, keys, flags)
	if err != nil {
		return nil, nil, err
	}
	for _, k := range keys {
		if k.flag == "" || !c.decides(k, flags, t.env) {
			continue
		}
		if err := c.values[k.name].set(flags.Lookup(k.flag)); err != nil {
			return nil, nil, fmt.Errorf("taking %s from %s: %w", k.name, path, err)
		}
	}
	completed := *t
	completed.env = c.completes(keys, flags, t.env)
	return &completed, c, nil
}

// decides says whether the file's value of a key counts: whether it has one, and neither a flag nor the environment overrides it.
func (c *configFile) decides(k configKey, flags *pflag.FlagSet, env func(string) string) bool {
	if c == nil {
		return false
	}
	_, there := c.values[k.name]
	if !there || k.flag != "" && flags.Changed(k.flag) || k.env != "" && env(k.env) != "" {
		return false
	}
	for _, other := range k.instead {
		if flag, is := strings.CutPrefix(other, "--"); is && flags.Changed(flag) || !is && env(other) != "" {
			return false
		}
	}
	return true
}

// completes is an environment in which the variables of keys without flags have what the file says, where they have nothing.
func (c *configFile) completes(keys []configKey, flags *pflag.FlagSet, env func(string) string) func(string) string {
	from := map[string]string{}
	for _, k := range keys {
		if k.flag == "" && c.decides(k, flags, env) {
			from[k.env] = c.values[k.name].text
		}
	}
	return func(name string) string { return firstOf(env(name), from[name]) }
}

// settings are what all keys come to once the file, which may be nil, has been taken over; env is the environment without it.
func (c *configFile) settings(keys []configKey, flags *pflag.FlagSet, env func(string) string) []setting {
	all := make([]setting, len(keys))
	for i, k := range keys {
		s := setting{Key: k.name, Source: "default"}
		if k.flag != "" {
			s.raw = valueOf(flags.Lookup(k.flag)).shown()
		}
		switch {
		case k.flag != "" && flags.Changed(k.flag):
			s.Source = "flag --" + k.flag
		case k.env != "" && env(k.env) != "":
			s.Source, s.raw = "environment "+k.env, env(k.env)
		case c.decides(k, flags, env):
			s.Source, s.raw = "file, line "+strconv.Itoa(c.lines[k.name]), c.values[k.name].shown()
		}
		s.Value = s.raw
		if k.secret && s.raw != "" {
			s.Value = shownSecret
		}
		all[i] = s
	}
	return all
}

// flagInText matches a flag in an error.
var flagInText = regexp.MustCompile(`--([a-z0-9-]+)`)

// explain puts a mistake that was found by the flags down to the line of the file, where the file has set one of them. Where it has set none,
// it says how the file would: who started with one looks for that.
func (c *configFile) explain(err error, keys []configKey, flags *pflag.FlagSet, env func(string) string) error {
	if err == nil || c == nil {
		return err
	}
	var others []string
	for _, named := range flagInText.FindAllStringSubmatch(err.Error(), -1) {
		for _, k := range keys {
			if k.flag != named[1] {
				continue
			}
			others = append(others, k.name)
			if c.decides(k, flags, env) {
				return &exitError{
					code: exitCode(err), err: &configError{path: c.path, mistakes: []configMistake{{Line: c.lines[k.name], Key: k.name, Text: err.Error()}}}, hint: hintOf(err),
				}
			}
		}
	}
	if len(others) > 0 && hintOf(err) == "" {
		return &exitError{code: exitCode(err), err: err, hint: "in " + c.path + " it is " + strings.Join(others, " or ") + ": ostraka config example explains each setting"}
	}
	return err
}

// givenFlags are the values of the flags that were given.
func givenFlags(flags *pflag.FlagSet) map[string]configValue {
	given := map[string]configValue{}
	flags.Visit(func(f *pflag.Flag) { given[f.Name] = valueOf(f) })
	return given
}

// giveFlags gives the same flags to another set of them.
func giveFlags(flags *pflag.FlagSet, given map[string]configValue) error {
	for name, value := range given {
		f := flags.Lookup(name)
		if f == nil {
			continue // one of all commands
		}
		if err := value.set(f); err != nil {
			return fmt.Errorf("giving --%s again: %w", name, err)
		}
		f.Changed = true
	}
	return nil
}
