//go:build linux

package main

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/backup"
)

func TestARestoreNamesOpenJobs(t *testing.T) {
	said := func(all int64, some ...backup.OpenJob) string {
		talk := &lockedBuffer{}
		sayOpen(&terminal{talk: talk, program: "ostraka"}, some, all)
		return talk.String()
	}
	require.Empty(t, said(0))
	open := backup.OpenJob{Project: uuid.New(), Job: uuid.New()}
	one := said(1, open)
	require.Contains(t, one, "1 job had not ended at the backup")
	require.Contains(t, one, "ostraka job cancel "+open.Job.String()+" --project "+open.Project.String()+", then ostraka job rerun "+open.Job.String())
	require.NotContains(t, one, "more")
	require.Contains(t, said(7, open), "and 6 more")
}
