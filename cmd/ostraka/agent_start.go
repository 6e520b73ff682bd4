package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/agent"
	"github.com/ostraka/ostraka/agent/liar"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// defaultLieProbability is how often a liar lies: often enough to be caught in the first minute, seldom enough to look honest.
const defaultLieProbability = 0.3

const (
	liarKindUsage  = "how to cheat: patient (honest at first), constant (always the same), colluding (as others do), random, lazy (without computing) or replay (old submissions again)"
	liarAfterUsage = "for how many results to be honest first (default 50 for a patient liar, 0 for others)"
)

// agentStartOptions are the flags of `ostraka agent start`.
type agentStartOptions struct {
	terminal    *terminal
	server      *serverFlags
	options     agent.Options
	tokenFile   string
	maxMemory   string
	maxDisk     string
	cacheSize   string
	liar        bool
	lies        liar.Options
	seedIsGiven bool
	log         logFlags
	isolation   string
	alerts      alertFlags
	acceptEULA  string
	configPath  string // "": no file of settings
}

// tokenVariable names an enrolment token.
const tokenVariable = "OSTRAKA_TOKEN"

func newAgentStart(t *terminal, server *serverFlags) *cobra.Command {
	o := &agentStartOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Work for a server until stopped",
		Long: `Make this machine work for a server until SIGTERM or Ctrl-C. The first time it joins with an enrolment
token; then its key in the data directory is enough. Without a token it waits until somebody approves it
(ostraka agent approve). Before anything else it shows the agreement and asks whether you accept it.
When it is stopped it sends what is done and returns the rest. What it may do besides is said by the
owner's preferences (ostraka agent prefs); ostraka agent status tells why it is idle.

It executes what the owners of its projects have signed (ostraka signing-key), and learns their keys
when it joins: from the token, or else from the server. See ostraka agent trust.

Functions run in a sandbox of the strongest isolation that a canary, a function that tries to escape,
proves at the start: linux, linux-nocgroup or landlock. Where none of them holds the agent does not
start; ostraka agent doctor says what is missing and how to mend it.`,
		Example: `  OSTRAKA_TOKEN=… ostraka agent start --url https://ostraka.example.org --data ~/ostraka-agent
  ostraka agent start --config agent.toml   # ostraka config example agent > agent.toml`,
		Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.seedIsGiven = cmd.Flags().Changed("liar-seed")
			return o.run(cmd.Context(), cmd.Flags())
		},
	}
	o.register(cmd.Flags())
	return cmd
}

func (o *agentStartOptions) register(f *pflag.FlagSet) {
	f.StringVar(&o.configPath, "config", "", configUsage)
	f.StringVar(&o.options.Token, "token", "", "enrolment token, needed once (or OSTRAKA_TOKEN, which others cannot see)")
	f.StringVar(&o.acceptEULA, "accept-eula", "", "version of the agreement that you have read and accept (or OSTRAKA_ACCEPT_EULA)")
	f.StringVar(&o.tokenFile, "token-file", "", "file that holds the token")
	f.StringVar(&o.options.DataDir, "data", "", "folder for the agent's key and cache; left out: one in the user's folder of data")
	f.StringVar(&o.options.Name, "name", "", "what to call the agent; left out: the machine's name")
	f.StringVar(&o.isolation, "isolation", "", isolationUsage)
	f.StringVar(&o.options.Python, "python", "", pythonUsage)
	f.StringVar(&o.options.PythonDir, "python-dir", "", "where to unpack that one (or OSTRAKA_PYTHON_DIR); left out: in the folder of data; agents of one user may share it")
	f.IntVar(&o.options.Workers, "workers", 0, "how many leases to work on at once at most, each with an interpreter of its own (default what the preferences say, or 1)")
	f.StringVar(&o.maxMemory, "max-memory", "", "refuse functions whose limit of memory is higher, for example 512Mi")
	f.StringVar(&o.maxDisk, "max-disk", "", "refuse functions whose limit of disk is higher, for example 1Gi")
	f.Int64Var(&o.options.Caps.WallSeconds, "max-wall", 0, "refuse functions whose limit of time on the clock is higher, in seconds")
	f.Int64Var(&o.options.Caps.CPUSeconds, "max-cpu", 0, "refuse functions whose limit of processor time is higher, in seconds")
	f.Int64Var(&o.options.Caps.Pids, "max-pids", 0, "refuse functions whose limit of processes is higher")
	f.DurationVar(&o.options.LeaseWork, "lease-work", agent.DefaultLeaseWork, "how much work to borrow at a time")
	f.StringVar(&o.cacheSize, "cache", bundle.FormatBytes(agent.DefaultCacheBytes), "how much disk to keep functions on")
	f.BoolVar(&o.options.AllowUnsigned, "allow-unsigned", false, "execute functions that their project's owner has not signed: then whoever controls the server decides what runs here")
	f.BoolVar(&o.liar, "liar", false, "give wrong answers, for demonstrations and tests")
	f.StringVar((*string)(&o.lies.Kind), "liar-kind", string(liar.Random), liarKindUsage)
	f.Float64Var(&o.lies.Probability, "liar-probability", defaultLieProbability, "how often to lie")
	f.Int64Var(&o.lies.After, "liar-after", 0, liarAfterUsage)
	f.Uint64Var(&o.lies.Seed, "liar-seed", 0, "decides what to lie about; left out: the agent's name does")
	o.alerts.register(f)
	o.log.register(f, "info")
}

func (o *agentStartOptions) run(ctx context.Context, flags *pflag.FlagSet) error {
	if err := o.load(flags); err != nil {
		return err
	}
	err := agent.Run(ctx, o.options)
	switch {
	case errors.Is(err, agent.ErrNotAgreed):
		return notAgreed(o.terminal, err)
	case errors.Is(err, agent.ErrNotEnrolled):
		return &exitError{
			code: exitAuth, err: err,
			hint: "ask the project's owner for a token (ostraka enrolment-token create NAME); an agent that starts without one waits until it is approved",
		}
	default:
		return explain("running the agent", err)
	}
}

// load reads the file of settings, where one is named, and completes the options.
func (o *agentStartOptions) load(flags *pflag.FlagSet) error {
	if o.configPath == "" {
		return o.complete()
	}
	_, file, err := loadConfig(o.terminal, o.configPath, agentKeys(), flags)
	if err != nil {
		return err
	}
	return file.explain(o.complete(), agentKeys(), flags, o.terminal.env)
}

func (o *agentStartOptions) complete() (err error) {
	if o.server.addressGiven() == "" {
		_, err := o.server.address() // which says what to do
		return err
	}
	return o.check()
}

// check is complete for options that may lack the server's address.
func (o *agentStartOptions) check() (err error) {
	if o.server.addressGiven() != "" {
		if o.options.URL, err = o.server.address(); err != nil {
			return err
		}
	}
	if o.options.Log, err = o.log.open(o.terminal); err != nil {
		return err
	}
	o.options.Version = version
	o.options.PythonDir = firstOf(o.options.PythonDir, o.terminal.env(pythonDirVariable))
	if err := o.completeIsolation(); err != nil {
		return err
	}
	o.options.Agree = agreer{o.terminal, firstOf(o.acceptEULA, o.terminal.env("OSTRAKA_ACCEPT_EULA"))}.ask
	if err := o.completeToken(); err != nil {
		return err
	}
	if err := o.completeNames(); err != nil {
		return err
	}
	if err := o.alerts.complete(&o.options); err != nil {
		return err
	}
	if err := o.completeSizes(); err != nil {
		return err
	}
	return o.completeLiar()
}

func (o *agentStartOptions) completeSizes() (err error) {
	for _, size := range []struct {
		flag, text string
		into       *int64
	}{{"--max-memory", o.maxMemory, &o.options.Caps.MemoryBytes}, {"--max-disk", o.maxDisk, &o.options.Caps.DiskBytes}, {"--cache", o.cacheSize, &o.options.CacheBytes}} {
		if size.text == "" {
			continue
		}
		if *size.into, err = bundle.ParseBytes(size.text); err != nil {
			return usageError("%s: %w", size.flag, err)
		}
	}
	return nil
}

func (o *agentStartOptions) completeLiar() (err error) {
	if !o.liar {
		return nil
	}
	o.lies.Seed, o.lies.Log = o.seed(), o.options.Log
	if o.options.Cheat, err = liar.New(o.lies); err != nil {
		return usageError("--liar: %w", err)
	}
	return nil
}

const (
	isolationUsage = `use this level of isolation and no other: linux, linux-nocgroup, landlock or process (no walls: for your own functions); "any": the strongest, and process where there is no other; left out: the strongest but process`
	// anyIsolation is the value of --isolation that settles for whatever there is.
	anyIsolation = "any"
)

func (o *agentStartOptions) completeIsolation() (err error) {
	switch o.isolation {
	case "":
	case anyIsolation:
		o.options.AllowProcess = true
	default:
		if o.options.Isolation, err = bundle.ParseIsolation(o.isolation); err != nil {
			return usageError("--isolation: %w", err)
		}
	}
	return nil
}

func (o *agentStartOptions) completeToken() error {
	if o.tokenFile == "" {
		o.options.Token = firstOf(o.options.Token, o.terminal.env(tokenVariable))
		return nil
	}
	text, err := os.ReadFile(o.tokenFile)
	if err != nil {
		return &exitError{code: exitUsage, err: fmt.Errorf("reading the enrolment token: %w", err), hint: "name a file that holds the token with --token-file, or set " + tokenVariable}
	}
	o.options.Token = strings.TrimSpace(string(text))
	return nil
}

// completeNames finds the name and the folder where none are given.
func (o *agentStartOptions) completeNames() error {
	if o.options.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			return usageError("the machine has no name (%v): give one with --name", err)
		}
		o.options.Name = host
		if o.liar {
			o.options.Name += "-liar"
		}
	}
	var err error
	o.options.DataDir, err = agentDataDir(o.options.DataDir)
	return err
}

// seed decides what to lie about. Liars with different names do not agree on a wrong answer unless they are told to.
func (o *agentStartOptions) seed() uint64 {
	if o.seedIsGiven {
		return o.lies.Seed
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(o.options.Name)) // cannot fail
	return h.Sum64()
}
