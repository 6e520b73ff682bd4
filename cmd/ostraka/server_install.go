//go:build linux

package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/cmd/service"
)

// serverInstallOptions are the flags of `ostraka server install`.
type serverInstallOptions struct {
	terminal *terminal
	service  service.Options
	dryRun   bool
}

func newServerInstall(t *terminal) *cobra.Command {
	o := &serverInstallOptions{terminal: t, service: service.Options{Kind: service.Server}}
	cmd := &cobra.Command{
		Use:   "install [-- FLAGS OF server]",
		Short: "Make the server a service of this machine (Linux with systemd)",
		Long: `Make the server a service that systemd starts with the machine, as a user of its own without any
privilege. It copies this program, writes a unit and an environment file with the secrets, makes the
user ostraka-server, and starts the service. Each step is printed.

The file of settings must be there (ostraka config example server), and everybody may read it: secrets
come from the environment of this command, and go into a file that root alone can read. They are
OSTRAKA_DATABASE_URL, OSTRAKA_S3_ACCESS_KEY, OSTRAKA_S3_SECRET_KEY and OSTRAKA_OIDC_CLIENT_SECRET.
What would not start is refused. What follows -- is given to "ostraka server". The data, such as
compiled modules, is in ` + service.Server.StateDir() + `.

With --root, files are written below a folder (an image that is being built) and nothing is started.`,
		Example: `  sudo mkdir -p /etc/ostraka
  ostraka config example server | sudo tee /etc/ostraka/server.toml   # then change it
  read -rs OSTRAKA_DATABASE_URL && export OSTRAKA_DATABASE_URL         # no other user and no log sees it
  sudo --preserve-env=OSTRAKA_DATABASE_URL ostraka server install
  sudo --preserve-env=OSTRAKA_DATABASE_URL ostraka server install --dry-run -- --queues none`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 0 && len(args) > 0 {
				return usageError("what is for server follows --, for example: ostraka server install -- --queues none")
			}
			return o.run(cmd.Context(), args)
		},
	}
	registerInstall(cmd.Flags(), &o.service, &o.dryRun)
	cmd.Flags().StringVar(&o.service.Config, "config", service.ServerConfig, "the file of settings, below the root")
	return cmd
}

func (o *serverInstallOptions) run(ctx context.Context, args []string) error {
	if err := completeService(&o.service); err != nil {
		return err
	}
	if err := o.checkServer(args); err != nil {
		return err
	}
	o.service.Arguments = args
	for _, k := range serverKeys() {
		if k.secret && k.env != "" {
			o.service.Environment = append(o.service.Environment, service.Variable{Name: k.env, Value: o.terminal.env(k.env)})
		}
	}
	return installService(ctx, o.terminal, o.service, o.dryRun)
}

// checkServer reads settings as the service will, and refuses what would not start or show a secret to others.
func (o *serverInstallOptions) checkServer(args []string) error {
	server := &serverOptions{terminal: o.terminal}
	flags := pflag.NewFlagSet("server", pflag.ContinueOnError)
	server.register(flags)
	if err := flags.Parse(args); err != nil {
		return usageError("after --: %s", withoutParser(err))
	}
	switch rest := flags.Args(); {
	case len(rest) > 0:
		return usageError("after --: server takes flags only, and %q is none", rest[0])
	case flags.Changed("config"):
		return usageError("after --: --config is for install itself, before --")
	}
	for _, k := range serverKeys() {
		if k.secret && k.flag != "" && flags.Changed(k.flag) {
			return usageError("after --: everybody on the machine can read --%s in the unit: set %s for install instead", k.flag, k.env)
		}
	}
	if !filepath.IsAbs(o.service.Config) {
		return &exitError{
			code: exitUsage, err: fmt.Errorf("--config %s: a service starts in a folder of its own, so write the whole path", o.service.Config),
			hint: "with --root it is the path below it, such as /etc/ostraka/server.toml",
		}
	}
	server.configPath = filepath.Join("/", o.service.Root, o.service.Config)
	if err := server.load(flags); err != nil {
		return fmt.Errorf("checking what the service would start with: %w", err)
	}
	return o.checkFile(server.file)
}

// checkFile refuses a file of settings that the service's user could not read, or that is to be kept from others.
func (o *serverInstallOptions) checkFile(file *configFile) error {
	for _, k := range serverKeys() {
		if _, there := file.values[k.name]; there && k.secret {
			return usageError("%s: %s is a secret, and a file with one is for its owner alone, which a service is not: take it out, and set %s for install", file.path, k.name, k.env)
		}
	}
	if file.mode.Perm()&0o004 == 0 {
		return usageError("%s: the service could not read it: chmod 644 %s", file.path, shellWord(file.path))
	}
	return nil
}

func newServerUninstall(t *terminal) *cobra.Command {
	r := service.Removal{Kind: service.Server}
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Uninstall the server service; database, objects and the file of settings stay",
		Long: `Stop the service and remove what "ostraka server install" has made, and nothing else: a file that was
changed since is kept and named. The file of settings, the database and the objects are not touched.
The service's data folder and its user stay; --purge removes them too, and with them objects that are
kept in it. The environment file goes: the next installation, as of an upgrade, needs the secrets again.`,
		Example: "  sudo ostraka server uninstall --dry-run",
		Args:    arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := uninstallService(cmd.Context(), t, r)
			return notInstalled(err, "there is no "+service.Server.Name+" to remove; a server that was started by hand ends with SIGTERM")
		},
	}
	registerRemoval(cmd.Flags(), &r)
	return cmd
}
