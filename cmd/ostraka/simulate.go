package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/functions/verify/simulate"
)

// simulateOptions are the flags of `ostraka simulate`.
type simulateOptions struct {
	outputFlag
	terminal    *terminal
	options     simulate.Options
	audits      int
	populations []string
	rules       []string
}

func newSimulate(t *terminal) *cobra.Command {
	o := &simulateOptions{terminal: t, options: simulate.Default()}
	cmd := &cobra.Command{
		Use: "simulate", Short: "Run the verification against simulated agents that lie, and count what gets through",
		Long: `Run the decisions that the server makes, the very same code, against populations of simulated agents, and print for each
how many executions a shard took, how many final answers are wrong, how soon liars were caught, and whether anybody was
accused falsely. Beside a target error with the server's rechecks (bound) and without them (bound-replicas) it shows a
quorum of 2, of 3, and BOINC's adaptive replication. No server is needed, and the same seed prints the same table.

` + populationsText(),
		Example: `  ostraka simulate --results 100000
  ostraka simulate --target-error 1e-4 --assume-hostile 0.2 --populations colluding,returning
  ostraka simulate --audits 100 --rules bound -o json`,
		Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("target-error") && cmd.Flags().Changed("audits") {
				return usageError("--target-error and --audits say the same in two ways: leave one out")
			}
			if !cmd.Flags().Changed("hostile") {
				o.options.Hostile = o.options.Assumed
			}
			return o.run()
		},
	}
	f := cmd.Flags()
	o.register(f)
	f.Float64Var(&o.options.TargetError, "target-error", o.options.TargetError, "the largest share of wrong final answers")
	f.IntVar(&o.audits, "audits", 0, "instead of --target-error: how many audits close a full window")
	f.Float64Var(&o.options.Assumed, "assume-hostile", o.options.Assumed, "the share of hostile agents that the bound is kept against")
	f.Float64Var(&o.options.Hostile, "hostile", o.options.Hostile, "the share of hostile agents that there is; left out: as assumed")
	f.StringSliceVar(&o.populations, "populations", nil, "which populations; left out: all")
	f.StringSliceVar(&o.rules, "rules", nil, "which rules: "+strings.Join(ruleNames(), ", ")+"; left out: all")
	f.IntVar(&o.options.Results, "results", o.options.Results, "how many shards to a cell of the table")
	f.IntVar(&o.options.Agents, "agents", o.options.Agents, "how many agents work at a time")
	f.Uint64Var(&o.options.Seed, "seed", o.options.Seed, "of the dice")
	return cmd
}

func populationsText() string {
	var b strings.Builder
	b.WriteString("Populations:\n")
	for _, p := range slices.Concat(simulate.Populations(), simulate.Attacks()) {
		b.WriteString("  " + p.Name + strings.Repeat(" ", 18-len(p.Name)) + p.About + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func ruleNames() []string {
	var names []string
	for _, r := range simulate.Rules() {
		names = append(names, string(r))
	}
	return names
}

func (o *simulateOptions) run() error {
	if err := o.check(); err != nil {
		return err
	}
	if o.audits < 0 {
		return usageError("--audits %d: at least 1", o.audits)
	}
	if o.audits > 0 {
		o.options.TargetError = verify.ErrorOf(o.audits, o.options.Assumed)
	}
	if err := o.choose(); err != nil {
		return usageError("%v", err)
	}
	if err := o.options.Validate(); err != nil {
		return usageError("%v", err)
	}
	cells, err := simulate.Run(o.options)
	if err != nil {
		return err
	}
	if o.json() {
		return writeValue(o.terminal.out, cells)
	}
	return simulate.Table(o.terminal.out, cells)
}

// choose takes the populations and rules that were named.
func (o *simulateOptions) choose() (err error) {
	if len(o.populations) > 0 {
		if o.options.Populations, err = simulate.Named(o.populations); err != nil {
			return err
		}
	}
	if len(o.rules) == 0 {
		return nil
	}
	o.options.Rules = nil
	for _, name := range o.rules {
		if !slices.Contains(simulate.Rules(), simulate.Rule(name)) {
			return usageError("there is no rule %q; there are: %s", name, strings.Join(ruleNames(), ", "))
		}
		o.options.Rules = append(o.options.Rules, simulate.Rule(name))
	}
	return nil
}
