package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

const (
	// slowQueue is from when on a step that waits needs somebody: as long as for the alert OstrakaQueueStands.
	slowQueue = time.Minute
	// slowRecheck is the same for shards that servers are to execute, as for OstrakaRechecksStand, and for steps of bulk actions, as for
	// OstrakaBulkActionsStand.
	slowRecheck = 15 * time.Minute
	// slowArchive is the same for jobs that are to become archives, a step of minutes each, as for OstrakaArchivesStand.
	slowArchive = time.Hour
	// lateBackup is from when on a backup is old, as for OstrakaBackupOld.
	lateBackup = 3 * 24 * time.Hour
)

// remark is one line about an installation: what is so, whether somebody has to do something, and the next command.
type remark struct {
	Text  string `json:"text"`
	Needs bool   `json:"needs_somebody"`
	Next  string `json:"next,omitempty"`
}

func newStatus(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "status", Short: "Show the state of the installation; exit code 1 if something needs a person", Args: arguments(0),
		Long: `Say how the whole installation is, in some lines: what waits, who is ill, what it costs, and the next command for
each. It takes an operator's key. What begins with ! needs somebody, and makes the exit code 1; where nothing does it is 0.
Flags, incidents and approvals that wait are named and make no difference to the exit code: they are the projects' own.`,
		Example: `  OSTRAKA_KEY=ostraka_operator_… ostraka status
  ostraka status -o json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := server.connect()
			if err != nil {
				return err
			}
			return showStatus(cmd.Context(), t, c, &output)
		},
	}
	output.register(cmd.Flags())
	return cmd
}

func showStatus(ctx context.Context, t *terminal, c *connection, output *outputFlag) error {
	doc, err := answer.Read[client.InstallationStatus](c.GetStatus(ctx))
	if err != nil {
		return explain("asking how the installation is", err)
	}
	remarks := judgeStatus(doc.Value)
	needs := 0
	for _, r := range remarks {
		if r.Needs {
			needs++
		}
	}
	if output.json() {
		err = writeValue(t.out, map[string]any{"healthy": needs == 0, "remarks": remarks, "status": doc.Value})
	} else {
		printRemarks(t, remarks)
	}
	if err == nil && needs > 0 {
		err = &exitError{code: exitFailed, err: errors.New("something needs a person: look at the lines with an exclamation mark")}
	}
	return err
}

func printRemarks(t *terminal, remarks []remark) {
	for _, r := range remarks {
		mark := " "
		if r.Needs {
			mark = "!"
		}
		t.put("%s %s\n", mark, plain(r.Text))
		if r.Next != "" {
			t.put("    %s\n", plain(r.Next))
		}
	}
}

// judgeStatus puts figures into words.
func judgeStatus(s client.InstallationStatus) []remark {
	var all []remark
	for _, part := range []func(client.InstallationStatus) []remark{judgeSwitches, judgeAgents, judgeQueues, judgeProjects, judgeCost, judgeBackups} {
		all = append(all, part(s)...)
	}
	return all
}

func judgeSwitches(s client.InstallationStatus) []remark {
	switch {
	case s.HoldsAll:
		return []remark{{"the killswitch holds everything: no agent gets leases", true, "ostraka killswitch status"}}
	case s.Switches > 0:
		return []remark{{isAre(s.Switches, "switch of the killswitch", "switches of the killswitch") + " on", false, "ostraka killswitch status"}}
	}
	return nil
}

func judgeAgents(s client.InstallationStatus) []remark {
	lend := remark{
		Text: fmt.Sprintf("%d of %s heard of in the last minute; sandboxes at work: %d", s.AgentsSeen, count(s.Agents["active"], "active agent"), s.Sandboxes),
		Next: "ostraka agent list --all",
	}
	if s.OpenJobs > 0 && s.AgentsSeen == 0 {
		lend.Text, lend.Needs = "jobs are open, and no agent was heard of in the last minute", true
	}
	all := []remark{lend}
	for _, state := range []string{"pending", "quarantined", "draining"} {
		if n := s.Agents[state]; n > 0 {
			all = append(all, remark{fmt.Sprintf("%s %s", count(n, "agent"), state), false, "ostraka agent list --all --state " + state})
		}
	}
	return all
}

func judgeQueues(s client.InstallationStatus) []remark {
	var all []remark
	for _, q := range s.Queues {
		oldest, most := time.Duration(q.OldestSeconds*float64(time.Second)), mostWait(q.Queue)
		if q.Ready > 0 && oldest > most {
			all = append(all, remark{fmt.Sprintf("the queue %s stands: %s, and the oldest has waited for %v", q.Queue, count(q.Ready, "step"), oldest.Round(time.Second)), true, "ostraka doctor --config …   (on a server)"})
		}
		if q.Failing > 0 {
			all = append(all, remark{fmt.Sprintf("%s of the queue %s failed and will be tried again", count(q.Failing, "step"), q.Queue), false, "the River UI: /ops/river/, state retryable"})
		}
	}
	return all
}

// mostWait is how long a step of a queue may wait before somebody is needed.
func mostWait(queue string) time.Duration {
	switch queue {
	case "recheck", "bulk": // which goes on by turns
		return slowRecheck
	case "archive":
		return slowArchive
	default:
		return slowQueue
	}
}

// judgeProjects has a line for each project, and one for each kind of thing that waits there.
func judgeProjects(s client.InstallationStatus) []remark {
	all := []remark{{Text: fmt.Sprintf("%s open in %s", count(s.OpenJobs, "job"), count(s.Projects, "project")), Next: "ostraka project list"}}
	if s.Approvals > 0 {
		all = append(all, remark{fmt.Sprintf("%s for an operator to approve", thatWait(s.Approvals, "thing")), false, "ostraka approval list --operator --state waiting"})
	}
	for _, p := range s.Waits {
		in := " --project " + p.ID.String()
		for _, w := range []struct {
			n    int64
			text string
			next string
		}{
			{p.OpenJobs, fmt.Sprintf("%s of %s open", count(p.OpenJobs, "job"), count(p.OpenShards, "shard")), "ostraka job list --state running"},
			{p.Flags, thatWait(p.Flags, "flag") + " for a person", "ostraka flag list"},
			{p.Incidents, count(p.Incidents, "incident") + " in the last 7 days", "ostraka incident list"},
			{p.Approvals, thatWait(p.Approvals, "thing") + " to be approved", "ostraka approval list --state waiting"},
			{p.FailingWebhooks, isAre(p.FailingWebhooks, "webhook", "webhooks") + " not delivered", "ostraka webhook list"},
		} {
			if w.n > 0 {
				all = append(all, remark{fmt.Sprintf("project %s: %s", p.Name, w.text), false, w.next + in})
			}
		}
	}
	return all
}

func judgeCost(s client.InstallationStatus) []remark {
	return []remark{{Text: fmt.Sprintf("the database has %s, objects %s; servers have executed shards for %v today",
		sizeOf(s.DatabaseBytes), sizeOf(s.ObjectBytes), time.Duration(s.RecheckSeconds*float64(time.Second)).Round(time.Second))}}
}

func judgeBackups(s client.InstallationStatus) []remark {
	const next = "ostraka backup --config … DIR   (on a server)"
	if s.LastBackup == nil {
		return []remark{{"ostraka backup has made no backup", false, next}}
	}
	age := s.At.Sub(*s.LastBackup)
	return []remark{{fmt.Sprintf("the last backup is %v old", age.Round(time.Minute)), age > lateBackup, next}}
}

// thatWait is a number of things that wait.
func thatWait(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing + " waits"
	}
	return fmt.Sprintf("%d %ss wait", n, thing)
}

func isAre(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one + " is"
	}
	return fmt.Sprintf("%d %s are", n, more)
}
