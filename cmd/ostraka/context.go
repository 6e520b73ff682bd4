package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

func newContext(t *terminal) *cobra.Command {
	return noun("context", "The servers that you have logged in at", newContextList(t), newContextUse(t), newContextRemove(t))
}

// shownContext is a context without its key.
type shownContext struct {
	Name    string `json:"name"`
	URL     string `json:"url"`
	Project string `json:"project,omitempty"`
	Current bool   `json:"current"`
}

func newContextList(t *terminal) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "list", Short: "List contexts; the current one has a star", Args: arguments(0), Example: "  ostraka context list -o json",
		RunE: func(*cobra.Command, []string) error {
			if err := output.check(); err != nil {
				return err
			}
			_, all, err := t.contexts()
			if err != nil {
				return err
			}
			shown := make([]shownContext, len(all.Contexts))
			for i, c := range all.Contexts {
				shown[i] = shownContext{Name: c.Name, URL: c.URL, Project: c.Project, Current: c.Name == all.Current}
			}
			if output.json() {
				return writeValue(t.out, shown)
			}
			return printRows(t, &output, shown, nil, []string{"", "CONTEXT", "SERVER", "PROJECT"}, func(c shownContext) []string {
				star := ""
				if c.Current {
					star = "*"
				}
				return []string{star, c.Name, plain(c.URL), firstOf(c.Project, "-")}
			})
		},
	}
	output.register(cmd.Flags())
	return cmd
}

func newContextUse(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use: "use NAME", Short: "Make a context the current one", Args: arguments(1), ValidArgsFunction: completeContexts(t), Example: "  ostraka context use dev",
		RunE: func(_ *cobra.Command, args []string) error {
			file, all, err := t.contexts()
			if err != nil {
				return err
			}
			c, err := all.find(args[0])
			if err != nil {
				return err
			}
			all.Current = c.Name
			if err := all.write(file); err != nil {
				return err
			}
			t.say("commands talk to %s now", plain(c.URL))
			return nil
		},
	}
}

func newContextRemove(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Forget a context and its key, which stays valid", Args: arguments(1), ValidArgsFunction: completeContexts(t), Example: "  ostraka context remove dev",
		RunE: func(_ *cobra.Command, args []string) error { return t.forgetContext(args[0]) },
	}
}

func newLogout(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use: "logout", Short: "Forget the current context and its key", Args: arguments(0),
		Long: "Forget the current context and its key. The key stays valid: ostraka key revoke ends it.",
		RunE: func(*cobra.Command, []string) error {
			_, all, err := t.contexts()
			if err != nil {
				return err
			}
			if all.Current == "" {
				return &exitError{code: exitUsage, err: errors.New("no context is the current one"), hint: "ostraka context list"}
			}
			return t.forgetContext(all.Current)
		},
	}
}

// contexts reads the person's contexts, and says where they stand.
func (t *terminal) contexts() (file string, all savedContexts, err error) {
	if file, err = contextsFile(t.env); err == nil {
		all, err = readContexts(file)
	}
	return file, all, err
}

func (t *terminal) forgetContext(name string) error {
	file, all, err := t.contexts()
	if err != nil {
		return err
	}
	if _, err := all.find(name); err != nil {
		return err
	}
	all.remove(name)
	if err := all.write(file); err != nil {
		return err
	}
	t.say("the context %s is forgotten; its key stays valid until it is revoked", name)
	return nil
}

func completeContexts(t *terminal) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		_, all, err := t.contexts()
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var words []string
		for _, c := range all.Contexts {
			words = append(words, fmt.Sprintf("%s\t%s", c.Name, plain(c.URL)))
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}
