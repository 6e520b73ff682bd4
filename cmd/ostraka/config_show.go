package main

import (
	"github.com/spf13/cobra"
)

// configShowOptions are the flags of `ostraka config show`.
type configShowOptions struct {
	outputFlag
	terminal *terminal
	path     string
}

func newConfigShow(t *terminal) *cobra.Command {
	o := &configShowOptions{terminal: t}
	cmd := &cobra.Command{
		Use: "show server|agent [-- FLAGS]", Short: "Show what would be in force, and where each value comes from", ValidArgsFunction: configNames,
		Long: `Show what would be in force if a server or an agent were started here and now: each setting, its value,
and whether a flag, the environment, the file of settings or none of them has set it (default). Secrets are
shown as (secret). What follows -- are flags of the program.`,
		Example: `  ostraka config show server --config /etc/ostraka/server.toml
  ostraka config show agent --config agent.toml -o json -- --workers 4`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || cmd.ArgsLenAtDash() == 0 || cmd.ArgsLenAtDash() < 0 && len(args) > 1 {
				return usageError("usage: ostraka config show server|agent [-- FLAGS]")
			}
			return o.run(args[0], args[1:])
		},
	}
	o.register(cmd.Flags())
	cmd.Flags().StringVar(&o.path, "config", "", configUsage)
	return cmd
}

func (o *configShowOptions) run(program string, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	kind, err := findConfigKind(program)
	if err != nil {
		return err
	}
	flags, _, err := kind.parse(o.terminal, args)
	if err != nil {
		return err
	}
	path := firstOf(o.path, flags.Lookup("config").Value.String())
	var file *configFile
	if path != "" {
		if _, file, err = loadConfig(o.terminal, path, kind.keys, flags); err != nil {
			return err
		}
	}
	all := file.settings(kind.keys, flags, o.terminal.env)
	if o.json() {
		return writeValue(o.terminal.out, all)
	}
	table := newTable(o.terminal.out, "SETTING", "VALUE", "FROM")
	for _, s := range all {
		table.row(s.Key, firstOf(s.Value, "-"), s.Source)
	}
	return table.flush()
}
