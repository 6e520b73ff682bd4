package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent/prefs"
)

// agentPrefsOptions are the flags of `ostraka agent prefs`.
type agentPrefsOptions struct {
	outputFlag
	terminal *terminal
	data     dataFlag
}

func newAgentPrefs(t *terminal) *cobra.Command {
	o := &agentPrefsOptions{terminal: t}
	cmd := &cobra.Command{
		Use:   "prefs [show | set KEY VALUE | unset KEY | check | edit]",
		Short: "Say what the agent on this machine may do",
		Long: prefsHelp() + `

They stand in prefs.toml in the agent's folder. An agent that runs takes a change within three seconds,
and no lease is lost by it; the server cannot go beyond them. A file with a mistake changes nothing:
the agent keeps what was in force and says so. "set" changes one line and keeps your comments; "edit"
opens $VISUAL or $EDITOR and keeps the result only when it has no mistake.

When a time that is allowed ends, the machine gets busy, loses mains, or its disk gets full, the agent
finishes the shards that it is executing, returns the rest and says why it is idle
(ostraka agent status). Whether somebody sits at the machine is not looked at, only how busy it is.`,
		Example: `  ostraka agent prefs set hours 22:00-06:00
  ostraka agent prefs set days sat,sun
  ostraka agent prefs set memory 4Gi
  ostraka agent prefs set busy_above 50
  ostraka agent prefs unset hours`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.register(cmd.Flags())
	o.data.register(cmd.Flags())
	return cmd
}

func prefsHelp() string {
	var text strings.Builder
	text.WriteString("What the owner of this machine lets the agent do. The preferences are:\n\n")
	for _, k := range prefs.Keys() {
		fmt.Fprintf(&text, "  %-17s %s\n", k.Name, k.About)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

func (o *agentPrefsOptions) run(ctx context.Context, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	dir, err := o.data.dir()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, prefs.FileName)
	verb, rest := "show", args
	if len(args) > 0 {
		verb, rest = args[0], args[1:]
	}
	switch {
	case verb == "show" && len(rest) == 0:
		return o.show(path)
	case verb == "check" && len(rest) == 0:
		return o.checkFile(path)
	case verb == "set" && len(rest) == 2:
		return o.change(path, func(content []byte) ([]byte, error) { return typed(prefs.Set(content, rest[0], rest[1])) })
	case verb == "unset" && len(rest) == 1:
		return o.change(path, func(content []byte) ([]byte, error) { return typed(prefs.Unset(content, rest[0])) })
	case verb == "edit" && len(rest) == 0:
		return o.edit(ctx, path)
	default:
		return usageError("what about the preferences? ostraka agent prefs show, set KEY VALUE, unset KEY, check or edit")
	}
}

func (o *agentPrefsOptions) show(path string) error {
	content, err := prefs.Read(path)
	if err != nil {
		return err
	}
	lines, err := prefs.Describe(content)
	if err != nil {
		return mistake(path, err)
	}
	if o.json() {
		type shown struct {
			Value string `json:"value"`
			IsSet bool   `json:"is_set"`
		}
		all := map[string]shown{}
		for _, l := range lines {
			all[l.Key.Name] = shown{l.Value, l.IsSet}
		}
		return writeValue(o.terminal.out, map[string]any{"file": path, "preferences": all})
	}
	table := newTable(o.terminal.out, "PREFERENCE", "VALUE", "SET", "MEANING")
	for _, l := range lines {
		set := "-"
		if l.IsSet {
			set = "yes"
		}
		table.row(l.Key.Name, firstOf(l.Value, "-"), set, l.Key.About)
	}
	return table.flush()
}

func (o *agentPrefsOptions) checkFile(path string) error {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		o.terminal.say("there is no %s: the defaults hold", path)
		return nil
	}
	content, err := prefs.Read(path)
	if err != nil {
		return err
	}
	if _, err := prefs.Parse(content); err != nil {
		return mistake(path, err)
	}
	o.terminal.say("%s has no mistake", path)
	return nil
}

func mistake(path string, err error) error {
	return &exitError{code: exitFailed, err: fmt.Errorf("%s: %w", path, err), hint: "correct it with ostraka agent prefs edit; a running agent keeps the earlier preferences"}
}

func (o *agentPrefsOptions) change(path string, how func([]byte) ([]byte, error)) error {
	if err := prefs.Change(path, how); err != nil {
		return err
	}
	o.terminal.say("written to %s; an agent that runs takes it within three seconds", path)
	return nil
}

// typed has what is wrong with a preference be wrong with what was typed.
func typed(content []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, usageError("%w", err)
	}
	return content, nil
}

// edit lets an editor change a copy, which takes the file's place when it has no mistake.
func (o *agentPrefsOptions) edit(ctx context.Context, path string) error {
	editor := firstOf(o.terminal.env("VISUAL"), o.terminal.env("EDITOR"))
	if editor == "" {
		return usageError("there is no editor: name one in EDITOR, or use ostraka agent prefs set")
	}
	content, err := prefs.Read(path)
	if err != nil {
		return err
	}
	before := content
	if len(content) == 0 {
		content = template()
	}
	copied, err := os.CreateTemp("", "ostraka-prefs-*.toml")
	if err != nil {
		return fmt.Errorf("making a copy to edit: %w", err)
	}
	_, err = copied.Write(content)
	if closeErr := copied.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("making a copy to edit: %w", err)
	}
	// The editor is the user's own command line, as git and others take it.
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", copied.Name())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.terminal.in, o.terminal.out, o.terminal.talk
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running the editor %q: %w", editor, err)
	}
	edited, err := prefs.Read(copied.Name())
	if err != nil {
		return err
	}
	if _, err := prefs.Parse(edited); err != nil {
		return &exitError{code: exitFailed, err: err, hint: "nothing was changed; what you wrote is in " + copied.Name()}
	}
	kept := "nothing was changed; what you wrote is in " + copied.Name()
	err = o.change(path, func(now []byte) ([]byte, error) {
		if !bytes.Equal(now, before) {
			return nil, &exitError{code: exitFailed, err: fmt.Errorf("%s was changed while you wrote", path), hint: kept}
		}
		return edited, nil
	})
	if err != nil {
		return err
	}
	if err := os.Remove(copied.Name()); err != nil {
		return fmt.Errorf("removing the copy: %w", err)
	}
	return nil
}

// template is a file that says nothing and shows everything.
func template() []byte {
	var text strings.Builder
	text.WriteString("# What this machine's agent may do. Remove the # of a line to set it.\n")
	for _, k := range prefs.Keys() {
		fmt.Fprintf(&text, "\n# %s\n# %s = %s\n", k.About, k.Name, k.Example)
	}
	return []byte(text.String())
}
