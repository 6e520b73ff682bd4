package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

func TestWhatAStatusSays(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	project := uuid.MustParse("0190a5d4-5b7a-7c3e-8f21-6d1e0c9b8a77")
	in := func(change func(p *client.ProjectStatus)) func(s *client.InstallationStatus) {
		return func(s *client.InstallationStatus) {
			p := client.ProjectStatus{ID: project, Name: "primes"}
			change(&p)
			s.Waits = []client.ProjectStatus{p}
		}
	}
	for name, c := range map[string]struct {
		change func(s *client.InstallationStatus)
		says   string
		needs  bool
		next   string
	}{
		"nothing to do":         {func(*client.InstallationStatus) {}, "0 jobs open in 2 projects", false, "ostraka project list"},
		"everything is held":    {func(s *client.InstallationStatus) { s.Switches, s.HoldsAll = 1, true }, "holds everything", true, "ostraka killswitch status"},
		"something is held":     {func(s *client.InstallationStatus) { s.Switches = 2 }, "2 switches of the killswitch are on", false, "ostraka killswitch status"},
		"no agents":             {func(s *client.InstallationStatus) { s.OpenJobs, s.AgentsSeen = 1, 0 }, "no agent was heard of", true, "ostraka agent list --all"},
		"no agents, no jobs":    {func(s *client.InstallationStatus) { s.AgentsSeen = 0 }, "0 of 3 active agents", false, "ostraka agent list --all"},
		"agents wait":           {func(s *client.InstallationStatus) { s.Agents["pending"] = 1 }, "1 agent pending", false, "--state pending"},
		"a queue at its limit":  {queueOf("verify", slowQueue), "", false, ""},
		"a queue stands":        {queueOf("verify", slowQueue+time.Second), "the queue verify stands: 4 steps, and the oldest has waited for 1m1s", true, "ostraka doctor"},
		"rechecks may wait":     {queueOf("recheck", slowRecheck), "", false, ""},
		"rechecks stand":        {queueOf("recheck", slowRecheck+time.Second), "the queue recheck stands", true, "ostraka doctor"},
		"bulk actions may wait": {queueOf("bulk", slowRecheck), "", false, ""},
		"bulk actions stand":    {queueOf("bulk", slowRecheck+time.Second), "the queue bulk stands", true, "ostraka doctor"},
		"archives may wait":     {queueOf("archive", slowArchive), "", false, ""},
		"archives stand":        {queueOf("archive", slowArchive+time.Second), "the queue archive stands", true, "ostraka doctor"},
		"steps fail":            {func(s *client.InstallationStatus) { s.Queues = []client.QueueStatus{{Queue: "control", Failing: 1}} }, "1 step of the queue control failed", false, "/ops/river/"},
		"an operator is asked":  {func(s *client.InstallationStatus) { s.Approvals = 1 }, "1 thing waits for an operator", false, "ostraka approval list --operator"},
		"jobs are open":         {in(func(p *client.ProjectStatus) { p.OpenJobs, p.OpenShards = 1, 7 }), "project primes: 1 job of 7 shards open", false, "ostraka job list --state running --project " + project.String()},
		"flags wait":            {in(func(p *client.ProjectStatus) { p.Flags = 2 }), "project primes: 2 flags wait", false, "ostraka flag list --project"},
		"incidents":             {in(func(p *client.ProjectStatus) { p.Incidents = 1 }), "1 incident in the last 7 days", false, "ostraka incident list --project"},
		"approvals":             {in(func(p *client.ProjectStatus) { p.Approvals = 1 }), "1 thing waits to be approved", false, "ostraka approval list --state waiting --project"},
		"a webhook fails":       {in(func(p *client.ProjectStatus) { p.FailingWebhooks = 1 }), "1 webhook is not delivered", false, "ostraka webhook list --project"},
		"what it costs":         {func(s *client.InstallationStatus) { s.DatabaseBytes, s.RecheckSeconds = 3<<20, 90 }, "the database has 3.0 MiB, objects 0 B; servers have executed shards for 1m30s today", false, ""},
		"no backup":             {func(s *client.InstallationStatus) { s.LastBackup = nil }, "has made no backup", false, "ostraka backup"},
		"an old backup":         {func(s *client.InstallationStatus) { s.LastBackup = new(now.Add(-lateBackup - time.Minute)) }, "72h1m0s old", true, "ostraka backup"},
		"a backup of yesterday": {func(*client.InstallationStatus) {}, "24h0m0s old", false, "ostraka backup"},
	} {
		s := client.InstallationStatus{At: now, Projects: 2, Agents: map[string]int64{"active": 3}, AgentsSeen: 3, LastBackup: new(now.Add(-24 * time.Hour))}
		c.change(&s)
		needs := false
		var found *remark
		for _, r := range judgeStatus(s) {
			needs = needs || r.Needs
			if c.says != "" && strings.Contains(r.Text, c.says) {
				found = &r
			}
		}
		require.Equal(t, c.needs, needs, name)
		if c.says == "" {
			continue
		}
		require.NotNil(t, found, name)
		require.Equal(t, c.needs, found.Needs, name)
		require.Contains(t, found.Next, c.next, name)
	}
}

func queueOf(name string, oldest time.Duration) func(s *client.InstallationStatus) {
	return func(s *client.InstallationStatus) {
		s.Queues = []client.QueueStatus{{Queue: name, Ready: 4, OldestSeconds: oldest.Seconds()}}
	}
}
