package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newAgentShow(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	var all bool
	cmd := &cobra.Command{
		Use: "show AGENT", Short: "Show an agent: its state, why it is idle, and the evidence about it",
		Long: `Show an agent of the project: its state, why it is idle, and the evidence that the project has about it.
With --all and an operator's key: any agent of the installation, and how its machine is.`,
		Args: arguments(1), ValidArgsFunction: server.complete(agentIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			id, err := parseID("agent", args[0])
			if err != nil {
				return err
			}
			if all {
				c, err := server.connect()
				if err != nil {
					return err
				}
				doc, err := answer.Read[client.Agent](c.GetAgent(cmd.Context(), id))
				if err != nil {
					return explain("getting the agent", err)
				}
				return printOne(t, &output, doc.Raw, append(agentFields(doc.Value), hostFields(doc.Value.Host)...))
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.ProjectAgent](c.GetProjectAgent(cmd.Context(), c.project, id))
			if err != nil {
				return explain("getting the agent", err)
			}
			return printOne(t, &output, doc.Raw, memberFields(doc.Value))
		},
	}
	output.register(cmd.Flags())
	cmd.Flags().BoolVar(&all, "all", false, "any agent of the installation, and its machine; takes an operator's key")
	return cmd
}

func agentFields(a client.Agent) [][2]string {
	return [][2]string{
		{"agent", a.ID.String()},
		{"name", a.Name},
		{"state", stateText(string(a.State), a.StateReason)},
		{"since", shortTime(a.StateAt)},
		{"idle", idleText(a.Idle)},
		{"owner", a.Owner},
		{"isolation", a.Isolation},
		{"asks for", a.MinIsolation},
		{"shards done", fmt.Sprint(a.ShardsDone)},
		{"agreement", shortDigest(a.EulaDigest)},
		{"key used twice", duplicateText(a.Duplicate)},
		{"joined", shortTime(a.CreatedAt)},
		{"last seen", shortTimePtr(a.LastSeenAt)},
		{"platform", platformText(a.Platform)},
	}
}

func memberFields(a client.ProjectAgent) [][2]string {
	fields := agentFields(client.Agent{
		ID: a.ID, Name: a.Name, State: client.AgentState(a.State), StateReason: a.StateReason, StateAt: a.StateAt, Idle: a.Idle, Owner: a.Owner,
		Isolation: a.Isolation, MinIsolation: a.MinIsolation, ShardsDone: a.ShardsDone, EulaDigest: a.EulaDigest, Duplicate: a.Duplicate,
		CreatedAt: a.CreatedAt, LastSeenAt: a.LastSeenAt, Platform: a.Platform,
	})
	if a.Excluded {
		fields = append(fields, [2]string{"in the project", stateText("removed", a.ExcludedReason)})
	}
	fields = append(fields, [2]string{"agreed", fmt.Sprint(a.Passed)}, [2]string{"contradicted", fmt.Sprint(a.Failed)}, [2]string{"trust", trustText(a)})
	if a.CaughtAt != nil {
		fields = append(fields, [2]string{"caught", stateText(shortTime(*a.CaughtAt), a.Reason)})
	}
	return fields
}

// probationAudits is how many audits end an agent's probation: verify.ProbationAudits, which only servers have.
const probationAudits = 10

// trustText is the evidence for an agent in a line.
func trustText(a client.ProjectAgent) string {
	text := count(a.AuditsPassed, "audit") + " passed, last failure: none"
	if a.LastFailedAt != nil {
		text = fmt.Sprintf("%s passed, %d of them since the last failure: %s", count(a.AuditsPassed, "audit"), min(a.SinceFailure, a.AuditsPassed), shortTime(*a.LastFailedAt))
	}
	if a.Probation {
		text += fmt.Sprintf("; on probation (%d audits of late, %d end it)", a.SinceFailure, probationAudits)
	}
	return text
}

func stateText(state, reason string) string {
	if reason == "" {
		return state
	}
	return state + " (" + reason + ")"
}

func idleText(i *client.Idle) string {
	if i == nil {
		return ""
	}
	return fmt.Sprintf("%s, for %v: %s", i.Code, time.Duration(i.Seconds)*time.Second, i.Text)
}

func duplicateText(d *client.Duplicate) string {
	if d == nil {
		return ""
	}
	return shortTime(d.At) + ", from " + d.Address + ": give each machine a data directory of its own, or revoke the agent"
}

func platformText(p client.Platform) string {
	return strings.Join([]string{p.Os + "/" + p.Arch, fmt.Sprintf("%d processors", p.Cpus), sizeOf(p.MemoryBytes), p.Interpreter, p.Libc, "agent " + p.Agent}, ", ")
}

func hostFields(h *client.Host) [][2]string {
	if h == nil {
		return nil
	}
	fields := [][2]string{
		{"processors", fmt.Sprintf("%.0f %% busy (the agent: %.0f %%), load %.2f %.2f %.2f", h.CPUPercent, h.AgentCPUPercent, h.Load1, h.Load5, h.Load15)},
		{"memory", sizeOf(h.MemoryFreeBytes) + " free of " + sizeOf(h.MemoryTotalBytes)},
		{"disk", sizeOf(h.DiskFreeBytes) + " free of " + sizeOf(h.DiskTotalBytes)},
		{"network", sizeOf(h.SentBytes) + " sent, " + sizeOf(h.ReceivedBytes) + " received"},
		{"up", (time.Duration(h.UptimeSeconds) * time.Second).String()},
		{"sandboxes", fmt.Sprint(h.Sandboxes)},
	}
	if h.BatteryPercent != nil {
		fields = append(fields, [2]string{"battery", fmt.Sprintf("%.0f %%", *h.BatteryPercent)})
	}
	return fields
}
