package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

func TestSettingsThatDiffer(t *testing.T) {
	t.Parallel()
	here := ownersSettings(client.Project{KeepJobsDays: 7, AuditDays: new(int64(30)), Heuristics: &client.HeuristicsPolicy{Default: true}, MinIsolation: "wasm"})
	differ, err := settingsThatDiffer(here, here)
	require.NoError(t, err)
	require.Empty(t, differ)
	differ, err = settingsThatDiffer(here, ownersSettings(client.Project{KeepJobsDays: 300, MinIsolation: "wasm"}))
	require.NoError(t, err)
	require.Equal(t, []string{"audit_days from 30 to -1", "keep_jobs_days from 7 to 300"}, differ, "what the export does not say stays")
}

func TestWhatAScheduleStartsHere(t *testing.T) {
	t.Parallel()
	i := &projectImport{versions: map[string]int64{"function f version 1": 4, "workflow w version 2": 5}}
	there := client.ScheduleRequest{Workflow: &client.ScheduledWorkflow{Name: "w", Version: 2}}
	here, _, known := i.scheduleHere(there)
	require.True(t, known)
	require.Equal(t, int64(5), here.Workflow.Version)
	require.Equal(t, int64(2), there.Workflow.Version, "the export stays as it was read")
	here, _, known = i.scheduleHere(client.ScheduleRequest{Job: &client.JobRequest{Function: "f", Version: 1}})
	require.True(t, known)
	require.Equal(t, int64(4), here.Job.Version)
	_, starts, known := i.scheduleHere(client.ScheduleRequest{Job: &client.JobRequest{Function: "f", Version: 2}})
	require.False(t, known, "the number of the old project is not one of here")
	require.Equal(t, "function f", starts)
	_, _, known = i.scheduleHere(client.ScheduleRequest{Workflow: &client.ScheduledWorkflow{Name: "w"}})
	require.True(t, known, "the newest is the newest")
}
