package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/agent"
	"github.com/ostraka/ostraka/cmd/service"
)

// agentUninstallOptions are the flags of `ostraka agent uninstall`.
type agentUninstallOptions struct {
	terminal *terminal
	removal  service.Removal
	dataDir  string
}

func newAgentUninstall(t *terminal) *cobra.Command {
	o := &agentUninstallOptions{terminal: t, removal: service.Removal{Kind: service.Agent}}
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Uninstall the agent service, or delete the data directory of an agent that is no service",
		Long: `Stop the service and remove what "ostraka agent install" has made, and nothing else: a file that was
changed since is kept and named. The agent's data and its user stay, so that a new installation is the
same agent; --purge removes them too.

With --data: remove the folder of an agent that was started by hand. It must not run. What the agent has
not made is kept and named.

The server knows the agent still: ostraka agent revoke ends it there.`,
		Example: `  sudo ostraka agent uninstall --purge
  ostraka agent uninstall --data ~/ostraka-agent`,
		Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	f := cmd.Flags()
	registerRemoval(f, &o.removal)
	f.StringVar(&o.dataDir, "data", "", "folder of an agent that is no service")
	return cmd
}

func registerRemoval(f *pflag.FlagSet, r *service.Removal) {
	f.StringVar(&r.Root, "root", "", "folder that was installed below; left out: this machine")
	f.BoolVar(&r.Purge, "purge", false, "remove the data of "+r.Kind.Title+" and its user, too")
	f.BoolVar(&r.Force, "force", false, "remove files that were changed since they were installed, too")
	f.BoolVar(&r.DryRun, "dry-run", false, "say what would be done, and do nothing")
}

func (o *agentUninstallOptions) run(ctx context.Context) (err error) {
	if o.dataDir != "" {
		return o.removeData()
	}
	err = uninstallService(ctx, o.terminal, o.removal)
	return notInstalled(err, "an agent that was started by hand: ostraka agent uninstall --data FOLDER")
}

// notInstalled says what to do where there is nothing to uninstall.
func notInstalled(err error, hint string) error {
	if errors.Is(err, service.ErrNotInstalled) {
		return &exitError{code: exitNotFound, err: err, hint: hint}
	}
	return err
}

// uninstallService takes an installation back.
func uninstallService(ctx context.Context, t *terminal, r service.Removal) (err error) {
	if err := onLinux(); err != nil {
		return err
	}
	if r.Root != "" {
		if r.Root, err = filepath.Abs(r.Root); err != nil {
			return fmt.Errorf("finding the root: %w", err)
		}
	}
	err = service.Uninstall(ctx, service.Machine{}, r, sayStep(t))
	var changed *service.ChangedError
	switch {
	case errors.As(err, &changed):
		return &exitError{code: exitFailed, err: err, hint: "look at them; --force removes them, too"}
	case errors.Is(err, os.ErrPermission):
		return &exitError{code: exitFailed, err: err, hint: "uninstalling takes root: sudo"}
	case err != nil:
		return fmt.Errorf("uninstalling %s: %w", r.Kind.Title, err)
	}
	return nil
}

func (o *agentUninstallOptions) removeData() error {
	kept, err := agent.RemoveData(o.dataDir, o.removal.DryRun)
	switch {
	case errors.Is(err, agent.ErrInUse):
		return &exitError{code: exitFailed, err: fmt.Errorf("removing the agent's data: %w", err), hint: "stop the agent first"}
	case err != nil:
		return fmt.Errorf("removing the agent's data: %w", err)
	case len(kept) > 0:
		return &exitError{code: exitFailed, err: fmt.Errorf("kept what the agent has not made: %v", kept), hint: "look at it, and remove it yourself"}
	case o.removal.DryRun:
		o.terminal.say("would remove %s", o.dataDir)
	default:
		o.terminal.say("removed %s", o.dataDir)
	}
	return nil
}
