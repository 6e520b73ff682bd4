package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent"
	"github.com/ostraka/ostraka/agent/ledger"
	"github.com/ostraka/ostraka/agent/witness"
)

// agentStatusOptions are the flags of `ostraka agent status`.
type agentStatusOptions struct {
	outputFlag
	terminal *terminal
	data     dataFlag
}

func newAgentStatus(t *terminal) *cobra.Command {
	o := &agentStatusOptions{terminal: t}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say what the agent on this machine does, and why it is idle when it is",
		Long: `Say what the agent on this machine does, and why it is idle when it is. It reads a file in the agent's
folder and asks no server, so it works without the server too. What runs now is named with the project that it
runs for; ostraka agent history has what was done for whom, day by day.

The state is one of:
  working               it has a lease
  no_work               the server has nothing for it
  work_refused          what there is the owner's preferences refuse
  paused                ostraka agent pause
  outside_hours         hours and days in the preferences
  on_battery            on_battery and battery_above
  machine_busy          busy_above: other programs need the processors
  disk_full             keep_free, or a write that failed for want of room
  isolation_too_low     min_isolation: ostraka agent doctor says what is missing
  server_away           the server cannot be used; what is done waits on disk
  waiting_for_approval  an operator must approve the agent
  eula                  the agreement must be accepted
  log_forked, log_rolled_back, log_replaced, log_restarted
                        the server shows another history of its log: ostraka agent witness show
  drained, quarantined, killed, revoked
                        an operator has decided so
  starting, stopping, not_running, never_started`,
		Args: arguments(0),
		RunE: func(*cobra.Command, []string) error { return o.run() },
	}
	o.register(cmd.Flags())
	o.data.register(cmd.Flags())
	return cmd
}

func (o *agentStatusOptions) run() error {
	if err := o.check(); err != nil {
		return err
	}
	dir, err := o.data.dir()
	if err != nil {
		return err
	}
	s, err := agent.ReadStatus(dir)
	if err != nil {
		return err
	}
	if o.json() {
		return writeValue(o.terminal.out, s)
	}
	history, err := agent.ReadHistory(dir)
	if err != nil {
		return err
	}
	restarts, err := witness.Open(dir).Restarts()
	if err != nil {
		return err
	}
	fields := append(statusFields(s), doneFields(s, history, time.Now())...)
	if n := len(restarts); n > 0 {
		fields = append(fields, [2]string{"logs", fmt.Sprintf("began anew %s: ostraka agent witness show says when, and why", count(int64(n), "time"))})
	}
	return printFields(o.terminal, fields)
}

// doneFields say what runs and for whom, and what was done today and this month.
func doneFields(s agent.Status, history []ledger.Entry, now time.Time) (fields [][2]string) {
	for _, r := range s.Now {
		if s.Running {
			fields = append(fields, [2]string{"runs", fmt.Sprintf("%s version %d for project %s: %d of %s since %s",
				plain(r.Function), r.Version, r.Project, r.Executed, count(r.Shards, "shard"), shortTime(r.Since))})
		}
	}
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
	return append(fields, [2]string{"today", workText(ledger.Since(history, now))}, [2]string{"this month", workText(ledger.Since(history, month))})
}

func workText(w ledger.Work) string {
	return fmt.Sprintf("%s, %s of processor time", count(w.Shards, "shard"), (time.Duration(w.CPUMicros) * time.Microsecond).Round(time.Second))
}

func statusFields(s agent.Status) [][2]string {
	fields := [][2]string{{"state", s.Code}, {"why", s.Why}}
	if s.PID == 0 {
		return fields
	}
	since := ""
	if s.Running {
		since = shortTime(s.Since)
	}
	h := s.Host
	power := "mains, or unknown"
	if h.BatteryPercent != nil {
		power = fmt.Sprintf("mains, battery %.0f %%", *h.BatteryPercent)
		if h.OnBattery != nil && *h.OnBattery {
			power = fmt.Sprintf("battery, %.0f %%", *h.BatteryPercent)
		}
	}
	waiting := ""
	if s.SpoolBytes > 0 {
		waiting = sizeOf(s.SpoolBytes) + " of results to be sent"
	}
	mistake := ""
	if s.Preferences != "" {
		mistake = "NOT IN FORCE: " + s.Preferences
	}
	agentID := "" // until it has joined
	if s.Agent != uuid.Nil {
		agentID = s.Agent.String()
	}
	return append(fields, [][2]string{
		{"since", since},
		{"preferences", mistake},
		{"agent", agentID},
		{"name", s.Name},
		{"server", s.Server},
		{"isolation", s.Isolation},
		{"leases", fmt.Sprintf("%d of %d", s.Leases, s.Places)},
		{"shards done", strconv.FormatInt(s.ShardsDone, 10)},
		{"waiting", waiting},
		{"processors", fmt.Sprintf("%d, %.0f %% busy, %.0f %% by the agent", h.Cpus, h.CPUPercent, h.AgentCPUPercent)},
		{"memory free", sizeOf(h.MemoryFreeBytes) + " of " + sizeOf(h.MemoryTotalBytes)},
		{"disk free", sizeOf(h.DiskFreeBytes) + " of " + sizeOf(h.DiskTotalBytes)},
		{"power", power},
		{"process", fmt.Sprintf("%d, since %s", s.PID, shortTime(s.StartedAt))},
		{"version", s.Version},
		{"written", shortTime(s.WrittenAt) + " (" + time.Since(s.WrittenAt).Round(time.Second).String() + " ago)"},
	}...)
}
