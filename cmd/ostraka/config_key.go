package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// configKey is one setting of a file, and how the same is said elsewhere.
type configKey struct {
	name    string         // SECTION.KEY; or SECTION alone, where all of the section is one table of numbers
	flag    string         // "": it has none, since others can see command lines
	env     string         // "": none
	instead []string       // other flags and variables that say the same in another way: who gives one does not mean the file
	secret  bool           // others must not read it
	about   string         // what it is, where the flag's usage does not say so
	usual   string         // what an example shows, as TOML, where the flag's default is of this machine
	members []configMember // of a table of numbers
}

// configMember is one number of a table of them.
type configMember struct {
	name  string
	usual int64
	about string
}

// section is the part of a key's name that stands in brackets in the file.
func (k configKey) section() string {
	section, _, _ := strings.Cut(k.name, ".")
	return section
}

// kind is what a value of the key is: that of the flag.
func (k configKey) kind(flags *pflag.FlagSet) string {
	if k.flag == "" {
		return "string"
	}
	return flags.Lookup(k.flag).Value.Type()
}

// usage says what the key is for.
func (k configKey) usage(flags *pflag.FlagSet) string {
	if k.about != "" {
		return k.about
	}
	return flags.Lookup(k.flag).Usage
}

// findKey looks a key up by its name.
func findKey(keys []configKey, name string) (configKey, bool) {
	at := slices.IndexFunc(keys, func(k configKey) bool { return k.name == name })
	if at < 0 {
		return configKey{}, false
	}
	return keys[at], true
}

// keyNames are all keys that a file may have.
func keyNames(keys []configKey) []string {
	var names []string
	for _, k := range keys {
		if len(k.members) == 0 {
			names = append(names, k.name)
		}
		for _, member := range k.members {
			names = append(names, k.name+"."+member.name)
		}
	}
	return names
}
