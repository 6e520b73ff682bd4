package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent/service"
	"github.com/ostraka/ostraka/agent/trust"
)

// agentInstallOptions are the flags of `ostraka agent install`.
type agentInstallOptions struct {
	terminal  *terminal
	server    *serverFlags
	service   service.Options
	tokenFile string
	dryRun    bool
}

func newAgentInstall(t *terminal, server *serverFlags) *cobra.Command {
	o := &agentInstallOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use:   "install [-- FLAGS OF agent start]",
		Short: "Make the agent a service of this machine (Linux with systemd)",
		Long: `Make the agent a service that systemd starts with the machine, as a user of its own that may do as
little as the sandboxes allow. It copies this program, writes a unit and an environment file with the
server and the token, makes the user ostraka-agent, and starts the service. Each step is printed.

The agreement must be accepted first (ostraka agent eula show): with OSTRAKA_ACCEPT_EULA, or --accept-eula
after --. What follows -- is given to "ostraka agent start", for example -- --workers 4 --max-memory 2Gi.
The agent's data is in ` + service.StateDir + `. "ostraka agent uninstall" takes all of it back.

With --root, files are written below a folder (an image that is being built) and nothing is started.`,
		Example: `  sudo OSTRAKA_TOKEN=… OSTRAKA_ACCEPT_EULA=VERSION ostraka agent install --url https://ostraka.example.org
  ostraka agent install --url https://ostraka.example.org --dry-run -- --workers 4`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 0 && len(args) > 0 {
				return usageError("what is for agent start follows --, for example: ostraka agent install --url URL -- --workers 4")
			}
			return o.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.service.User, "user", "", "who runs the agent; left out: "+service.Name+", which is made")
	f.StringVar(&o.service.Root, "root", "", "folder to install below, and to start nothing; left out: this machine")
	f.StringVar(&o.service.MemoryMax, "memory-max", "", "most memory of the agent and its sandboxes together, for example 8G")
	f.StringVar(&o.tokenFile, "token-file", "", "file that holds the enrolment token (or OSTRAKA_TOKEN)")
	f.BoolVar(&o.dryRun, "dry-run", false, "say what would be done, and do nothing")
	return cmd
}

func (o *agentInstallOptions) run(ctx context.Context, args []string) (err error) {
	if err := onLinux(); err != nil {
		return err
	}
	if err := o.complete(args); err != nil {
		return err
	}
	err = service.Install(ctx, service.Machine{}, o.service, o.dryRun, sayStep(o.terminal))
	if errors.Is(err, os.ErrPermission) {
		return &exitError{code: exitFailed, err: err, hint: "installing takes root: sudo"}
	}
	if err != nil {
		return fmt.Errorf("installing the agent: %w", err)
	}
	if !o.dryRun && o.service.Root == "" {
		o.terminal.say("see how it does: systemctl status %s; journalctl -u %s", service.Name, service.Name)
	}
	return nil
}

func (o *agentInstallOptions) complete(args []string) (err error) {
	if o.service.URL, err = o.server.address(); err != nil {
		return err
	}
	start := &agentStartOptions{terminal: o.terminal, tokenFile: o.tokenFile}
	if err := start.completeToken(); err != nil {
		return err
	}
	o.service.Token = start.options.Token
	if _, err := trust.ParseToken(o.service.Token); err != nil {
		return err
	}
	if o.service.Program, err = os.Executable(); err == nil {
		o.service.Program, err = filepath.EvalSymlinks(o.service.Program)
	}
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	if o.service.Root != "" {
		if o.service.Root, err = filepath.Abs(o.service.Root); err != nil {
			return fmt.Errorf("finding the root: %w", err)
		}
	}
	return o.completeArguments(args)
}

// completeArguments adds what a service, which nobody can ask, must be told, and refuses what would not start.
func (o *agentInstallOptions) completeArguments(args []string) error {
	start := newAgentStart(o.terminal, o.server)
	if err := start.ParseFlags(args); err != nil {
		return usageError("after --: %w", err)
	}
	if rest := start.Flags().Args(); len(rest) > 0 {
		return usageError("after --: agent start takes flags only, and %q is none", rest[0])
	}
	for _, ours := range []string{"data", "token", "token-file", "liar"} {
		if start.Flags().Changed(ours) {
			return usageError("after --: --%s is not for a service", ours)
		}
	}
	if path := start.Flags().Lookup("config").Value.String(); path != "" && !filepath.IsAbs(path) {
		return usageError("after --: --config %s: a service starts in a folder of its own, so write the whole path", path)
	}
	if o.server.insecureHTTP() {
		args = append(args, "--insecure-http")
	}
	o.service.Arguments = args
	if start.Flags().Changed("accept-eula") {
		return nil
	}
	accepted := o.terminal.env("OSTRAKA_ACCEPT_EULA")
	if accepted == "" && !o.dryRun {
		return &exitError{
			code: exitAuth, err: errors.New("the agreement is not accepted, and a service cannot ask"),
			hint: "read it with " + o.terminal.program + " agent eula show, then install with OSTRAKA_ACCEPT_EULA=VERSION, or with -- --accept-eula VERSION",
		}
	}
	if accepted != "" {
		o.service.Arguments = append(args, "--accept-eula", accepted)
	}
	return nil
}

func sayStep(t *terminal) func(service.Step) {
	return func(s service.Step) {
		t.say("%s", s.What)
		if s.Detail != "" {
			t.put("%s", s.Detail)
		}
	}
}

func onLinux() error {
	if runtime.GOOS == "linux" {
		return nil
	}
	return &exitError{
		code: exitFailed, err: errors.New("services are installed on Linux with systemd only"),
		hint: "here, let launchd or the task scheduler run ostraka agent start; see docs/install.md",
	}
}
