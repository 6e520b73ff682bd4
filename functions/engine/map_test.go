package engine_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/jobs"
)

// recordOf reads the record of one page out of a map of pages.
func recordOf(m jobs.JobMap, page int) (fields []uint16) {
	for i := range jobs.MapPageFields {
		fields = append(fields, binary.LittleEndian.Uint16(m.Data[page*jobs.MapPageBytes+2*i:]))
	}
	return fields
}

func TestAMapShowsEveryShard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	draw := func(job uuid.UUID, mode string, from, to int64) jobs.JobMap {
		t.Helper()
		m, err := w.Map(t.Context(), w.project, job, jobs.MapWindow{Mode: mode, From: from, To: to})
		require.NoError(t, err)
		return m
	}
	const shards = 1024 + 6
	job := w.submit(shards, func(j *functions.NewJob) { j.Quorum = 1 })
	require.Equal(t, make([]byte, shards), draw(job.ID, jobs.MapState, 0, 0).Data, "shards that are not made yet wait")
	w.settleAll()

	a := w.agent(honest)
	require.Equal(t, 2, a.do(2))
	out := a.lease(3)
	require.Len(t, out.Shards, 3)
	w.settleAll()
	m := draw(job.ID, jobs.MapState, 0, 0)
	require.EqualValues(t, shards, m.Shards)
	require.Equal(t, []byte{4, 4, 1, 1, 1, 0, 0}, m.Data[:7])
	require.Equal(t, []uint16{1022, 0, 2, 0, 0, 0, 3, 0}, recordOf(draw(job.ID, jobs.MapPages, 0, 0), 0))
	require.Equal(t, []uint16{6, 0, 0, 0, 0, 0, 0, 0}, recordOf(draw(job.ID, jobs.MapPages, 0, 0), 1))

	who := draw(job.ID, jobs.MapAgent, 0, 1)
	require.Equal(t, []uuid.UUID{a.id}, who.Agents)
	require.Equal(t, []byte{1, 1, 0}, who.Data[:3])
	took := draw(job.ID, jobs.MapDuration, 0, 1)
	require.NotZero(t, took.Data[0])
	require.Zero(t, took.Data[2])

	w.sql("update " + w.schema() + ".leases set created_at = created_at - interval '1 hour' where state = 'open'")
	age := draw(job.ID, jobs.MapAge, 0, 1)
	require.Equal(t, []byte{0, 0}, age.Data[:2], "they are answered")
	require.InDelta(t, 1+4*math.Log2(3600*1000), float64(age.Data[2]), 1)
	require.Equal(t, []byte{age.Data[2], age.Data[2], 0}, age.Data[3:6])

	w.sql("update " + w.schema() + ".shards set state = 'review' where number = 1024")
	w.sql("update " + w.schema() + ".shards set state = 'failed' where number = 1025")
	w.sql("update " + w.schema() + ".shards set state = 'cancelled' where number = 1026")
	w.sql("update " + w.schema() + ".shards set state = 'accepted', awaits = 1 where number = 1027")
	w.sql("update " + w.schema() + ".shards set reasons = '[]' where number = 1028")
	part := draw(job.ID, jobs.MapState, 1, 2)
	require.Equal(t, []byte{5, 6, 7, 3, 2, 0}, part.Data)
	require.EqualValues(t, 1, part.From)
	require.Empty(t, draw(job.ID, jobs.MapState, 5, 9).Data, "there is nothing there")

	_, err := w.Map(t.Context(), w.project, uuid.New(), jobs.MapWindow{Mode: jobs.MapState})
	requireCode(t, err, "not_found")
}

func TestAMapReachesOnlySoFar(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(1024*jobs.MaxMapPages + 1)
	m, err := w.Map(t.Context(), w.project, job.ID, jobs.MapWindow{Mode: jobs.MapState})
	require.NoError(t, err)
	require.EqualValues(t, jobs.MaxMapPages, m.To)
	require.Len(t, m.Data, 1024*jobs.MaxMapPages)
	rest, err := w.Map(t.Context(), w.project, job.ID, jobs.MapWindow{Mode: jobs.MapState, From: m.To})
	require.NoError(t, err)
	require.Len(t, rest.Data, 1)
	all, err := w.Map(t.Context(), w.project, job.ID, jobs.MapWindow{Mode: jobs.MapPages})
	require.NoError(t, err)
	require.Len(t, all.Data, (jobs.MaxMapPages+1)*jobs.MapPageBytes)
	require.True(t, bytes.Equal(make([]byte, len(all.Data)), all.Data))
}

func TestALookSeesWhatChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(honest)
	job := w.submit(5, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	require.Equal(t, 2, a.do(2))
	w.settleAll()
	look := func(jobs ...uuid.UUID) jobs.ProjectLook {
		t.Helper()
		l, err := w.Look(t.Context(), w.project, jobs)
		require.NoError(t, err)
		return l
	}
	now := look()
	require.Len(t, now.Jobs, 1)
	require.Equal(t, w.job(job.ID).Shards, now.Jobs[0].Shards)
	require.Equal(t, "numbers", now.Jobs[0].Function)
	require.EqualValues(t, 1, now.Agents.States[fleet.AgentActive])
	require.EqualValues(t, 1, now.Agents.Online)
	require.Zero(t, now.Flags.Open)

	require.Equal(t, 3, a.do(5))
	w.settleAll()
	require.Equal(t, functions.JobFinished, look().Jobs[0].State, "it has ended a moment ago")
	w.sql("update "+w.schema()+".jobs set finished_at = $1", time.Now().Add(-time.Hour))
	require.Empty(t, look().Jobs)
	require.Len(t, look(job.ID, uuid.New()).Jobs, 1, "somebody asks for it")

	other, _ := w.newProject("another")
	l, err := w.Look(t.Context(), other, []uuid.UUID{job.ID})
	require.NoError(t, err)
	require.Empty(t, l.Jobs)
	require.Empty(t, l.Agents.States)

	versions, err := w.AgentVersions(t.Context(), w.project)
	require.NoError(t, err)
	require.Len(t, versions, 1)
	require.EqualValues(t, 1, versions[0].Agents)
	versions, err = w.AgentVersions(t.Context(), other)
	require.NoError(t, err)
	require.Empty(t, versions)
}
