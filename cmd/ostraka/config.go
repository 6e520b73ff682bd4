package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// configKind is a program that takes a file of settings.
type configKind struct {
	name    string
	command string
	keys    []configKey
	// open registers the program's flags, and returns what checks them as far as that goes without what a file may leave to the environment.
	open func(t *terminal, flags *pflag.FlagSet) (check func() error)
}

// configUsage is the flag --config wherever there is one.
const configUsage = "file of settings (ostraka config example): flags and the environment come before it"

func newConfig(t *terminal) *cobra.Command {
	return noun("config", "Files of settings for servers and agents", newConfigExample(t), newConfigCheck(t), newConfigShow(t))
}

// findConfigKind is the program of that name.
func findConfigKind(name string) (configKind, error) {
	var names []string
	for _, k := range configKinds() {
		if k.name == name {
			return k, nil
		}
		names = append(names, k.name)
	}
	return configKind{}, usageError("settings of what? %q takes no file of settings here: choose %s", name, strings.Join(names, " or "))
}

// configNames completes the first argument.
func configNames(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, k := range configKinds() {
		names = append(names, k.name)
	}
	if len(args) > 0 {
		names = nil
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// parse makes the program's flags of what was typed for it.
func (k configKind) parse(t *terminal, args []string) (flags *pflag.FlagSet, check func() error, err error) {
	flags = pflag.NewFlagSet(k.name, pflag.ContinueOnError)
	flags.Usage = func() {}
	check = k.open(t, flags)
	if err := flags.Parse(args); err != nil {
		return nil, nil, usageError("after --: %s", withoutParser(err))
	}
	if rest := flags.Args(); len(rest) > 0 {
		return nil, nil, usageError("after --: %s takes flags only, and %q is none", k.command, rest[0])
	}
	return flags, check, nil
}
