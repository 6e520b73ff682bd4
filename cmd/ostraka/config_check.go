package main

import (
	"errors"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
)

// configCheckOptions are the flags of `ostraka config check`.
type configCheckOptions struct {
	outputFlag
	terminal *terminal
}

// configVerdict is what a check of a file came to.
type configVerdict struct {
	File     string          `json:"file"`
	Program  string          `json:"program"`
	Settings int             `json:"settings"`
	Mistakes []configMistake `json:"mistakes"`
}

func newConfigCheck(t *terminal) *cobra.Command {
	o := &configCheckOptions{terminal: t}
	cmd := &cobra.Command{
		Use: "check FILE", Short: "Say what is wrong with a file of settings; exit code 2 where something is", Args: arguments(1),
		Long: `Say what is wrong with a file of settings: unknown keys, with the line and the nearest name,
values that the program would refuse, secrets that others can read. Files that it names are read as the
program would read them here. Nothing is connected to.

A file with the section [agent] is an agent's, any other a server's. What a file may leave to flags and
the environment, such as the database, is not missed.`,
		Example: `  ostraka config check /etc/ostraka/server.toml
  ostraka config check agent.toml -o json`,
		RunE: func(_ *cobra.Command, args []string) error { return o.run(args[0]) },
	}
	o.register(cmd.Flags())
	return cmd
}

func (o *configCheckOptions) run(path string) error {
	if err := o.check(); err != nil {
		return err
	}
	verdict, err := checkConfig(o.terminal, path)
	wrong, isWrong := errors.AsType[*configError](err)
	if err != nil && !isWrong {
		return err
	}
	if isWrong {
		verdict.Mistakes = wrong.mistakes
	}
	if o.json() {
		if err := writeValue(o.terminal.out, verdict); err != nil {
			return err
		}
	}
	if isWrong {
		return err
	}
	o.terminal.say("%s is fine: %s of a file for ostraka %s", plain(path), count(int64(verdict.Settings), "setting"), verdict.Program)
	return nil
}

// checkConfig checks a file as the program that it is for would.
func checkConfig(t *terminal, path string) (configVerdict, error) {
	verdict := configVerdict{File: path, Mistakes: []configMistake{}}
	kind, err := kindOfConfig(path)
	if err != nil {
		return verdict, err
	}
	verdict.Program = kind.name
	own := *t
	flags, check, err := kind.parse(&own, nil)
	if err != nil {
		return verdict, err
	}
	completed, file, err := loadConfig(&own, path, kind.keys, flags)
	if err != nil {
		return verdict, err
	}
	env := own.env
	own.env, verdict.Settings = completed.env, len(file.values)
	err = file.explain(check(), kind.keys, flags, env)
	if _, placed := errors.AsType[*configError](err); err != nil && !placed {
		err = badConfig(path, configMistake{Text: err.Error()})
	}
	return verdict, err
}

// kindOfConfig says which program a file is for.
func kindOfConfig(path string) (configKind, error) {
	content, _, err := readConfigFile(path)
	if err != nil {
		return configKind{}, err
	}
	var document map[string]any
	if err := toml.Unmarshal(content, &document); err != nil {
		return configKind{}, badConfig(path, notTOML(err))
	}
	if _, agent := document["agent"]; agent {
		return findConfigKind("agent")
	}
	return findConfigKind("server")
}
