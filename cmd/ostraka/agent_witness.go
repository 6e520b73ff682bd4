package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent"
	"github.com/ostraka/ostraka/agent/witness"
	"github.com/ostraka/ostraka/audit"
)

func newAgentWitness(t *terminal) *cobra.Command {
	return noun("witness", "What the agent on this machine has co-signed of the server's logs", newAgentWitnessShow(t), newAgentWitnessAccept(t))
}

func newAgentWitnessShow(t *terminal) *cobra.Command {
	var data dataFlag
	var output outputFlag
	cmd := &cobra.Command{
		Use: "show", Short: "Show the key with which the agent co-signs, and whether the server has shown it another history", Args: arguments(0),
		Long: `Show the key with which the agent on this machine co-signs the heads of the server's logs, and whether the server has
shown it another history of one: with both heads, each signed by the log, which prove it to anybody.`,
		RunE: func(*cobra.Command, []string) error {
			if err := output.check(); err != nil {
				return err
			}
			dir, err := data.dir()
			if err != nil {
				return err
			}
			if err := agent.CheckDataDir(dir); err != nil { // "none" of no agent is no all-clear
				return err
			}
			key, err := agent.WitnessKey(dir)
			if err != nil {
				return err
			}
			return showWitness(t, &output, key, witness.Open(dir))
		},
	}
	data.register(cmd.Flags())
	output.register(cmd.Flags())
	return cmd
}

func showWitness(t *terminal, output *outputFlag, key string, store *witness.Store) error {
	n, err := store.Notice()
	if err != nil {
		return err
	}
	restarts, err := store.Restarts()
	if err != nil {
		return err
	}
	if output.json() {
		return writeValue(t.out, map[string]any{"key": key, "alarm": n, "restarts": restarts})
	}
	fields := [][2]string{{"key", key}, {"alarm", "none"}}
	if n != nil {
		fields = [][2]string{
			{"key", key},
			{"alarm", n.Code},
			{"why", plain(n.Why)},
			{"server", n.Server},
			{"log", n.Log},
			{"since", shortTime(n.At)},
			{"remembered", n.Remembered.Note},
			{"shown", n.Shown.Note},
		}
		if n.Restart != nil {
			fields = append(fields, [2]string{"restart", restartText(n.Restart.Restart)}, [2]string{"called since", plain(n.Restart.Origin)}, [2]string{"head since", n.Restart.Note})
		}
		if n.Later != nil {
			fields = append(fields, [2]string{"and later", restartText(n.Later.Restart) + " (accepting the first does not accept this one)"})
		}
	}
	for _, r := range restarts {
		fields = append(fields, [2]string{"began anew", fmt.Sprintf("the log %s of %s, %s", r.Log, r.Server, restartText(r.Restart))})
	}
	return printFields(t, fields)
}

// restartText says where and why a log began anew, in words that may be a stranger's.
func restartText(r audit.Restart) string {
	lost := ""
	if r.Lost != nil {
		lost = fmt.Sprintf("; a head of %s is lost", count(r.Lost.Size, "record"))
	}
	return plain(fmt.Sprintf("at record %d, %s, by %s, from %s%s: %s", r.Index, shortTime(r.At), r.Actor, count(r.Restored.Size, "restored record"), lost, r.Reason))
}

func newAgentWitnessAccept(t *terminal) *cobra.Command {
	var data dataFlag
	var reason, restart string
	cmd := &cobra.Command{
		Use: "accept [--reason TEXT] [--restart NAME]", Short: "Have the agent continue from the history that the server has shown it", Args: arguments(0),
		Long: `Have the agent on this machine continue from the history that the server has shown it, and work for the server again.
First ask the server's operator, and others who keep heads of the log, what has happened. The proof of the other history
stays in the agent's folder, with your reason. An agent accepts nothing by itself, since whoever has taken the server over
could say the same.

Of a log that began anew in the open (ostraka agent witness show says so), give what it is called since: nothing is accepted
that the server has put there after you looked. The reason may be left out: it is the one that the restart gives.`,
		Example: `  ostraka agent witness accept --reason "restored from the backup of 3 May, says the operator"
  ostraka agent witness accept --restart ostraka/server/0198c0de-0000-7000-8000-000000000000/20260504T030201Z`,
		RunE: func(*cobra.Command, []string) error {
			dir, err := data.dir()
			if err != nil {
				return err
			}
			if err := agent.CheckDataDir(dir); err != nil {
				return err
			}
			return acceptHistory(t, witness.Open(dir), reason, restart)
		},
	}
	data.register(cmd.Flags())
	cmd.Flags().StringVar(&reason, "reason", "", "why you trust the server; it is kept with what proves the other history")
	cmd.Flags().StringVar(&restart, "restart", "", "what the log is called since it began anew, as ostraka agent witness show says it")
	return cmd
}

// acceptHistory shows what is accepted first, and accepts nothing else.
func acceptHistory(t *terminal, store *witness.Store, reason, restart string) error {
	n, err := store.Notice()
	switch {
	case err != nil:
		return err
	case reason == "" && (n == nil || n.Restart == nil):
		return usageError("why? give --reason")
	case n == nil:
		return &exitError{code: exitFailed, err: witness.ErrNothing}
	case restart == "" && n.Restart != nil:
		return usageError("the log began anew, for a reason that the server gives: look at it with ostraka agent witness show, and say what the log is called since with --restart")
	case restart != n.RestartOrigin():
		return &exitError{code: exitFailed, err: witness.ErrSaidSince}
	}
	if n.Restart != nil {
		t.say("the log began anew %s", restartText(n.Restart.Restart))
		t.say("its head since:\n%s", plainLines(n.Restart.Note))
	} else {
		t.say("the head that it shows:\n%s", plainLines(n.Shown.Note))
	}
	accepted, err := store.Accept(*n, reason, time.Now())
	if err != nil {
		return &exitError{code: exitFailed, err: err, hint: "ostraka agent witness show says what there is"}
	}
	t.say("accepted: the agent goes on from what the server %s shows of the log of %s", accepted.Server, accepted.Log)
	if accepted.Later != nil {
		t.say("the log began anew once more since, which is not accepted: the agent goes on if nothing is lost by it, and asks again otherwise")
	}
	return nil
}
