package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent"
)

func newAgentPause(t *terminal) *cobra.Command {
	var data dataFlag
	var o agent.PauseOptions
	cmd := &cobra.Command{
		Use: "pause", Short: "Have the agent on this machine take no work until it is resumed",
		Long: `Have the agent on this machine take no work until it is resumed, or for a time: it finishes the shards that
it is executing and returns the rest; with --finish it executes all that it has been lent first. It stays
paused when it is started again.`,
		Example: "  ostraka agent pause --reason backup\n  ostraka agent pause --finish\n  ostraka agent pause --for 2h",
		Args:    arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("for") && o.For < time.Second {
				return usageError("--for %s: choose a second at least", o.For)
			}
			dir, err := data.dir()
			if err != nil {
				return err
			}
			if err := agent.Pause(dir, o); err != nil {
				return err
			}
			if o.For > 0 {
				t.say("paused until %s; go on before with ostraka agent resume", shortTime(time.Now().Add(o.For)))
				return nil
			}
			t.say("paused; go on with ostraka agent resume")
			return nil
		},
	}
	data.register(cmd.Flags())
	cmd.Flags().StringVar(&o.Reason, "reason", "", "shown in the status")
	cmd.Flags().BoolVar(&o.Finish, "finish", false, "execute what it has been lent first")
	cmd.Flags().DurationVar(&o.For, "for", 0, "how long, such as 2h; left out: until it is resumed")
	return cmd
}

func newAgentResume(t *terminal, server *serverFlags) *cobra.Command {
	var data dataFlag
	cmd := newAgentDecision(t, server, resumeDecision())
	byOperator := cmd.RunE
	cmd.Use, cmd.Args = "resume [AGENT]", argumentsBetween(0, 1)
	cmd.Short = "Have the paused agent on this machine work again, or, by its ID, one that was drained or quarantined"
	cmd.Long = `Have the paused agent on this machine work again. With an agent's ID and an operator's key: lend work again
to an agent that was drained or quarantined.`
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return byOperator(cmd, args)
		}
		dir, err := data.dir()
		if err != nil {
			return err
		}
		paused, err := agent.Resume(dir)
		if err != nil {
			return err
		}
		if !paused {
			t.say("it was not paused")
			return nil
		}
		t.say("resumed")
		return nil
	}
	data.register(cmd.Flags())
	return cmd
}
