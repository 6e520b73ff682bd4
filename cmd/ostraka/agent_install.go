package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/agent/trust"
	"github.com/ostraka/ostraka/cmd/service"
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
	o := &agentInstallOptions{terminal: t, server: server, service: service.Options{Kind: service.Agent}}
	cmd := &cobra.Command{
		Use:   "install [-- FLAGS OF agent start]",
		Short: "Make the agent a service of this machine (Linux with systemd)",
		Long: `Make the agent a service that systemd starts with the machine, as a user of its own that may do as
little as the sandboxes allow. It copies this program, writes a unit and an environment file with the
server and the token, makes the user ostraka-agent, and starts the service. Each step is printed.

The agreement must be accepted first (ostraka agent eula show): with OSTRAKA_ACCEPT_EULA, or --accept-eula
after --. What follows -- is given to "ostraka agent start", for example -- --workers 4 --max-memory 2Gi.
The agent's data is in ` + service.Agent.StateDir() + `. "ostraka agent uninstall" takes all of it back.

With --root, files are written below a folder (an image that is being built) and nothing is started.`,
		Example: `  read -rs OSTRAKA_TOKEN && export OSTRAKA_TOKEN   # no other user and no log sees it
  sudo --preserve-env=OSTRAKA_TOKEN ostraka agent install --url https://ostraka.example.org -- --accept-eula VERSION
  ostraka agent install --url https://ostraka.example.org --dry-run -- --workers 4`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 0 && len(args) > 0 {
				return usageError("what is for agent start follows --, for example: ostraka agent install --url URL -- --workers 4")
			}
			return o.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	registerInstall(f, &o.service, &o.dryRun)
	f.StringVar(&o.tokenFile, "token-file", "", "file that holds the enrolment token (or OSTRAKA_TOKEN)")
	return cmd
}

// registerInstall registers the flags that installing an agent and a server have in common.
func registerInstall(f *pflag.FlagSet, s *service.Options, dryRun *bool) {
	f.StringVar(&s.User, "user", "", "who runs it; left out: "+s.Kind.Name+", which is made")
	f.StringVar(&s.Root, "root", "", "folder to install below, and to start nothing; left out: this machine")
	f.StringVar(&s.MemoryMax, "memory-max", "", "most memory of all its processes together, for example 8G")
	f.BoolVar(dryRun, "dry-run", false, "say what would be done, and do nothing")
}

func (o *agentInstallOptions) run(ctx context.Context, args []string) (err error) {
	if err := onLinux(); err != nil {
		return err
	}
	if err := o.complete(args); err != nil {
		return err
	}
	return installService(ctx, o.terminal, o.service, o.dryRun)
}

// installService does the steps, and says what follows.
func installService(ctx context.Context, t *terminal, s service.Options, dryRun bool) error {
	err := service.Install(ctx, service.Machine{}, s, dryRun, sayStep(t))
	if errors.Is(err, os.ErrPermission) {
		return &exitError{code: exitFailed, err: err, hint: "installing takes root: sudo"}
	}
	if err != nil {
		return fmt.Errorf("installing %s: %w", s.Kind.Title, err)
	}
	if !dryRun && s.Root == "" {
		t.say("see how it does: systemctl status %s; journalctl -u %s", s.Kind.Name, s.Kind.Name)
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
	if _, err := trust.ParseToken(start.options.Token); err != nil {
		return err
	}
	o.service.Environment = []service.Variable{{Name: "OSTRAKA_URL", Value: o.service.URL}, {Name: tokenVariable, Value: start.options.Token}}
	if err := completeService(&o.service); err != nil {
		return err
	}
	return o.completeArguments(args)
}

// completeService finds this program, which is what is installed, and the root.
func completeService(s *service.Options) (err error) {
	if s.Program, err = os.Executable(); err == nil {
		s.Program, err = filepath.EvalSymlinks(s.Program)
	}
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	if s.Root != "" {
		if s.Root, err = filepath.Abs(s.Root); err != nil {
			return fmt.Errorf("finding the root: %w", err)
		}
		if info, err := os.Stat(s.Root); err != nil || !info.IsDir() {
			return usageError("--root %s: there is no such folder; make it first", s.Root)
		}
	}
	return nil
}

// completeArguments adds what a service needs, since it cannot ask, and refuses what would not start.
func (o *agentInstallOptions) completeArguments(args []string) error {
	start := newAgentStart(o.terminal, o.server)
	if err := start.ParseFlags(args); err != nil {
		return usageError("after --: %s", withoutParser(err))
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
	if accepted == "" {
		o.terminal.say("the agreement is not accepted yet, and without that nothing is installed: read it with %s agent eula show", o.terminal.program)
	} else {
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
