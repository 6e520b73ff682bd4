//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/archive"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/queue"
	"github.com/ostraka/ostraka/runtime/eula"
)

const packAfterUsage = "how long after a job's end its attempts are packed, which makes them smaller; at least a second"

// serverOptions are the flags of `ostraka server`.
type serverOptions struct {
	terminal *terminal
	config   serverConfig
	listen   string
	log      logFlags
	eulaFile string
	logKey   string // a file
	quotas   map[string]int64
	oidc     oidcConfig

	started    *terminal              // with the environment alone, without what a file completes
	configPath string                 // "": no file of settings
	file       *configFile            // what was read there
	given      map[string]configValue // the flags that were given
	settings   []setting
}

func newServerCommand(t *terminal) *cobra.Command {
	o := &serverOptions{terminal: t}
	cmd := &cobra.Command{
		Use:   "server",
		Short: "Run a server",
		Long: `Run a server until SIGTERM. Servers keep nothing in memory: run as many as you like on one database.
The database's URL may hold a password, so it is best given in OSTRAKA_DATABASE_URL.
"ostraka operator-key create" makes the first key.

All settings may stand in a file instead (--config, ostraka config example server). At SIGHUP a server with
such a file reads it again and logs what it takes over and what needs a restart. "ostraka doctor", with the
same flags, says what keeps a server from working here. "ostraka server install" makes it a service of systemd.`,
		Example: `  OSTRAKA_DATABASE_URL=postgres://… ostraka server --blob-dir /var/lib/ostraka/objects
  ostraka server --listen :8470 --tls-cert chain.pem --tls-key key.pem …
  ostraka server --config /etc/ostraka/server.toml   # ostraka config example server > server.toml
  ostraka server --queues control,aggregate   # this one leaves verification to others
  ostraka server --queues recheck --recheck-sandbox docker   # on a host of its own: only executes shards again`,
		Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd.Flags()) },
	}
	o.register(cmd.Flags())
	cmd.AddCommand(newServerInstall(t), newServerUninstall(t))
	return cmd
}

func (o *serverOptions) register(f *pflag.FlagSet) {
	f.StringVar(&o.configPath, "config", "", configUsage)
	f.StringVar(&o.config.DatabaseURL, "database-url", "", "Postgres to keep everything in (or OSTRAKA_DATABASE_URL)")
	f.StringVar(&o.listen, "listen", defaultListen, "address to serve on; one that others can reach needs TLS, or --behind-proxy")
	o.config.Doors.register(f)
	f.StringVar(&o.config.Objects.Dir, "blob-dir", "", "keep objects in this folder (for a single server)")
	o.config.Objects.registerS3(f)
	f.StringVar(&o.config.CacheDir, "cache-dir", "", "folder for compiled modules; left out: one in the user's cache")
	f.StringSliceVar(&o.config.Queues, "queues", []string{"all"}, "which queues to work on: all, or some of urgent, control (with urgent and bulk), verify, aggregate, archive, bulk, webhooks, recheck; none serves HTTP only")
	o.config.Recheck.register(f, recheckAuto)
	f.StringToInt64Var(&o.quotas, "quota", nil, "NAME=VALUE: what a project may have where the operator sets nothing for it, 0 for no limit (may be repeated; names: ostraka project quotas)")
	o.config.Model.register(f)
	o.config.Webhooks.register(f)
	o.oidc.register(f)
	f.IntVar(&o.config.ArchiveDays, "archive-jobs", 0, "after how many days ended jobs become archives, where their project says nothing (project set --archive-jobs); 0: never")
	f.DurationVar(&o.config.PackAfter, "pack-after", archive.DefaultPackAfter, packAfterUsage)
	f.DurationVar(&o.config.LeaseTTL, "lease-ttl", 0, "how long a lease lives without a heartbeat (default 30s)")
	f.StringVar(&o.eulaFile, "eula", "", "text that the owners of agents must accept, with a line \"Version: NAME\"; left out: the one in this program. All servers of an installation need the same")
	f.StringVar(&o.logKey, "log-key-file", "", "file with the key that signs the audit logs' heads (made by ostraka audit key), the same for all servers; left out: the database keeps one")
	f.IntVar(&o.config.AuditDays, "audit-retention", 0, "for how many days records of the audit logs keep what they say, in the server's own log and where a project says nothing (project set --audit-retention); 0: until somebody prunes them")
	f.BoolVar(&o.config.TokensOnly, "tokens-only", true, "take no agents without an enrolment token; with --tokens-only=false they wait for approval")
	o.log.register(f, "info")
}

func (o *serverOptions) run(ctx context.Context, flags *pflag.FlagSet) error {
	if err := o.load(flags); err != nil {
		return err
	}
	var err error
	if o.config.Listener, err = listen(ctx, o.listen); err != nil {
		return err
	}
	s, err := startServer(ctx, o.config)
	if err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	o.config.Log.Info("serving", "url", o.config.ownURL(), "version", version)
	defer o.reloadAtHangup(ctx, s.service)()
	select {
	case <-ctx.Done():
		o.config.Log.Info("stopping")
	case err = <-s.failed:
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), devStopLimit)
	defer cancel()
	if stopErr := s.stop(stop); err == nil && stopErr != nil {
		return fmt.Errorf("stopping the server: %w", stopErr)
	}
	return err
}

// load reads the file of settings, where one is named, and completes the options.
func (o *serverOptions) load(flags *pflag.FlagSet) error {
	keys, env := serverKeys(), o.terminal.env
	o.started, o.given = o.terminal, givenFlags(flags)
	if o.configPath != "" {
		completed, file, err := loadConfig(o.terminal, o.configPath, keys, flags)
		if err != nil {
			return err
		}
		o.terminal, o.file = completed, file
	}
	o.settings = o.file.settings(keys, flags, env)
	return o.file.explain(o.complete(), keys, flags, env)
}

func (o *serverOptions) complete() error {
	c := &o.config
	if c.DatabaseURL = firstOf(c.DatabaseURL, o.terminal.env("OSTRAKA_DATABASE_URL")); c.DatabaseURL == "" {
		return usageError("which database? set OSTRAKA_DATABASE_URL or give --database-url")
	}
	if c.Objects.Dir == "" && c.Objects.S3Endpoint == "" {
		return whereObjects()
	}
	if err := c.Objects.complete(o.terminal); err != nil {
		return err
	}
	return o.check()
}

func whereObjects() error {
	return usageError("where do objects go? give one of --blob-dir and --s3-endpoint")
}

// check is complete for options that may lack the database, the place of objects and the keys to it.
func (o *serverOptions) check() (err error) {
	c := &o.config
	if c.Objects.Dir != "" && c.Objects.S3Endpoint != "" {
		return whereObjects()
	}
	if c.LeaseTTL < 0 || c.LeaseTTL > 0 && c.LeaseTTL < time.Second {
		return usageError("--lease-ttl is %v: a lease lives a second at least", c.LeaseTTL)
	}
	if err := c.Model.check(); err != nil {
		return err
	}
	if err := c.Webhooks.complete(); err != nil {
		return err
	}
	c.Quotas = map[functions.QuotaName]int64{}
	for name, value := range o.quotas {
		c.Quotas[functions.QuotaName(name)] = value
	}
	if err := tenant.CheckQuotas(c.Quotas); err != nil {
		return usageError("--quota: %w", err)
	}
	if c.OIDC, err = o.oidc.complete(o.terminal); err != nil {
		return err
	}
	if o.eulaFile != "" {
		if c.EULA, err = eula.Load(o.eulaFile); err != nil {
			return err
		}
	}
	if c.LogKey, err = readLogKey(o.logKey); err != nil {
		return err
	}
	if err := c.chooseQueues(); err != nil {
		return err
	}
	if err := c.Recheck.complete(o.terminal); err != nil {
		return err
	}
	if slices.Contains(c.Queues, queue.QueueRecheck) && c.Recheck.Sandbox == recheckNone {
		return usageError("--queues names recheck, and --recheck-sandbox none leaves this server nowhere to execute shards: leave recheck out, or choose docker, linux or auto")
	}
	if c.CacheDir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return usageError("there is no folder for compiled modules (%v): give one with --cache-dir", err)
		}
		c.CacheDir = filepath.Join(cache, "ostraka", "modules")
	}
	if err := c.Doors.complete(o.listen); err != nil {
		return err
	}
	if c.ArchiveDays < 0 || c.ArchiveDays > tenant.MaxKeepJobsDays {
		return usageError("--archive-jobs is %d: 1 to %d days, or 0", c.ArchiveDays, tenant.MaxKeepJobsDays)
	}
	if c.AuditDays < 0 || c.AuditDays > tenant.MaxKeepJobsDays {
		return usageError("--audit-retention is %d: 1 to %d days, or 0", c.AuditDays, tenant.MaxKeepJobsDays)
	}
	if err := checkPackAfter(c.PackAfter); err != nil {
		return err
	}
	if c.FollowupsOff, err = followupsOff(o.terminal); err != nil {
		return err
	}
	c.Log, err = o.log.open(o.terminal)
	return err
}

// maxKeyFileBytes is how long the file with a key of the audit logs may be.
const maxKeyFileBytes = 1 << 10

// readLogKey is the zero value where no file is named.
func readLogKey(path string) (audit.Key, error) {
	if path == "" {
		return audit.Key{}, nil
	}
	text, err := readAtMost(path, maxKeyFileBytes)
	if err != nil {
		return audit.Key{}, err
	}
	key, err := audit.ParseKey(string(text))
	if err != nil {
		return key, usageError("--log-key-file %s: %v", path, err)
	}
	return key, nil
}

// chooseQueues turns what was typed into the queues to work on.
func (c *serverConfig) chooseQueues() error {
	if len(c.Queues) == 1 && c.Queues[0] == "all" {
		c.Queues = nil
		return nil
	}
	if len(c.Queues) == 1 && c.Queues[0] == "none" {
		c.Queues = []string{}
		return nil
	}
	for _, name := range c.Queues {
		if !slices.Contains(queue.All(), name) {
			return usageError("--queues: there is no queue %q; choose all, none, or some of %s", name, strings.Join(queue.All(), ", "))
		}
	}
	return nil
}
