package engine_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/functions/trust/execution"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/volume"
)

var copyA, copyB = strings.Repeat("a", 64), strings.Repeat("b", 64)

const readsGenome = "[[volumes]]\nname = \"genome\"\n"

// offer says that an agent has these volumes and no others.
func (w *world) offer(a *agent, volumes ...fleet.AgentVolume) *agent {
	w.t.Helper()
	_, err := w.Heartbeat(w.t.Context(), a.id, fleet.Heartbeat{Wishes: &fleet.AgentWishes{Volumes: volumes}})
	require.NoError(w.t, err)
	return a
}

// stocked is an agent with a volume.
func (w *world) stocked(answer func(input string) functions.Result) *agent {
	return w.offer(w.agent(answer), fleet.AgentVolume{Name: "genome", Mode: "ro"})
}

// first is the first reason why a job is not done.
func (w *world) first(job functions.Job) functions.Reason {
	w.t.Helper()
	e, err := w.Explain(w.t.Context(), w.project, job.ID)
	require.NoError(w.t, err)
	return e.Reasons[0]
}

// TestVolumesGoToAgentsThatHaveThem: a job is lent where all volumes of its function are, of the copy that it pins, for its project.
func TestVolumesGoToAgentsThatHaveThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushFunction("survey", "[[volumes]]\nname = \"corpus\"\n[[volumes]]\nname = \"genome\"\nfingerprint = \""+copyA+"\"\n")
	job := w.submit(4, func(j *functions.NewJob) { j.Function = "survey" })
	w.settleAll()
	a := w.agent(honest)
	corpus, genome := fleet.AgentVolume{Name: "corpus", Mode: "ro"}, fleet.AgentVolume{Name: "genome", Mode: "ro", Fingerprint: copyA}
	require.Nil(t, a.lease(1), "an agent of before")
	why := w.first(job)
	require.Equal(t, "no_volume", why.Code)
	require.Contains(t, why.Text, "no agent has volume corpus, and none volume genome with the fingerprint that the function pins.")
	for text, has := range map[string][]fleet.AgentVolume{
		"no agent has volume genome with the fingerprint that the function pins.": {corpus},
		"no agent has volume corpus.": {genome, {Name: "other", Mode: "ro"}},
	} {
		w.offer(a, has...)
		require.Nil(t, a.lease(1), text)
		require.Contains(t, w.first(job).Text, text)
	}
	other := genome
	other.Fingerprint = copyB
	w.offer(a, corpus, other)
	require.Nil(t, a.lease(1), "another copy")
	other.Fingerprint = ""
	w.offer(a, corpus, other)
	require.Nil(t, a.lease(1), "a copy that nobody has read yet")
	other.Fingerprint, other.Projects = copyA, []uuid.UUID{uuid.New()}
	w.offer(a, corpus, other)
	require.Nil(t, a.lease(1), "it is for another project")

	b := w.offer(w.agent(honest), corpus)
	w.offer(a, genome)
	require.Nil(t, a.lease(1))
	require.Nil(t, b.lease(1))
	require.Contains(t, w.first(job).Text, "no agent has all of the 2 volumes that the function wants")

	other.Projects = []uuid.UUID{uuid.New(), w.project}
	w.offer(a, corpus, other)
	require.Equal(t, job.ID, a.lease(1).Job)
	shown, err := w.GetProjectAgent(t.Context(), w.project, a.id)
	require.NoError(t, err)
	require.Equal(t, []fleet.AgentVolume{corpus, genome}, shown.Volumes, "the project is not told for whom else it is")
	plain := w.submit(1)
	w.settleAll()
	require.Equal(t, plain.ID, b.lease(1).Job, "other jobs do not mind")
}

// TestWritingToVolumesIsAskedFor: the guardian asks before such a function is published.
func TestWritingToVolumesIsAskedFor(t *testing.T) {
	t.Parallel()
	rules, err := guardian.CompiledDefaults()
	require.NoError(t, err)
	w := newWorld(t, func(o *engine.Options) { o.GuardianRules = rules })
	dir := w.pack("survey", "[[volumes]]\nname = \"scratch\"\nmode = \"rw\"\n")
	_, _, err = w.PushFunction(t.Context(), w.by, w.project, bytes.NewReader(dir), nil)
	require.ErrorContains(t, err, "it wants to write to a folder of the machines that run it")
}

// TestJobPlanSaysWhichVolumesAreMissing and how results are verified where no server has them.
func TestJobPlanSaysWhichVolumesAreMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	w.pushFunction("survey", readsGenome)
	want := functions.NewJob{Function: "survey", Partition: rangeOf(10), TargetError: 1e-3}
	plan, err := w.PlanJob(t.Context(), w.project, want)
	require.NoError(t, err)
	require.Equal(t, []string{submit.WarnNoVolume, submit.WarnVolumeUnchecked}, codesOf(plan.Warnings))
	require.Equal(t, "No agent has volume genome: the job waits for one that does.", plan.Warnings[0].Text)
	require.Contains(t, plan.Warnings[1].Text, "results are verified by further agents alone")
	require.Contains(t, fmt.Sprint(plan.Forecast.Notes), "since no server can execute shards now")
	require.Zero(t, plan.Agents)
	w.agent(honest)
	w.stocked(honest)
	plan, err = w.PlanJob(t.Context(), w.project, want)
	require.NoError(t, err)
	require.Equal(t, []string{submit.WarnVolumeUnchecked}, codesOf(plan.Warnings))
	require.Equal(t, 1, plan.Agents, "the others cannot work for it")
	job := w.submit(10, bounded(1e-3), func(j *functions.NewJob) { j.Function = "survey" })
	require.Equal(t, []string{submit.WarnVolumeUnchecked}, codesOf(job.Warnings))
}

func codesOf(reasons []functions.Reason) (codes []string) {
	for _, r := range reasons {
		codes = append(codes, r.Code)
	}
	return codes
}

// TestReplicasVerifyWhatTheServerCannotSee: with a server that executes shards, but not with the volume, agents settle audits, and the job ends
// with the right answer though one of them lies.
func TestReplicasVerifyWhatTheServerCannotSee(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	w.pushFunction("survey", readsGenome)
	job := w.submit(60, bounded(1e-2), func(j *functions.NewJob) { j.Function = "survey" })
	w.work()
	agents := []*agent{w.stocked(liar)}
	for range 5 {
		agents = append(agents, w.stocked(honest))
	}
	done := w.swarm(job.ID, 5, agents...)
	require.Equal(t, functions.JobFinished, done.State)
	require.EqualValues(t, 60, done.Shards.Accepted)
	require.Zero(t, c.executed, "the server has no such volume")
	require.Zero(t, w.count("select count(*) from shards s join attempts a on a.job_id = s.job_id and a.shard = s.number and a.agent_id = s.agent_id where s.job_id = $1 and a.agent_id = $2", job.ID, agents[0].id), "no lie was accepted")
	w.check(job.ID)
	w.requireQuiet()
}

// courtWithVolumes is a court that can show functions volumes.
type courtWithVolumes struct {
	court
	offers []volume.Offer
}

func (c *courtWithVolumes) Volumes() []volume.Offer { return c.offers }

// TestAServerWithTheVolumeRechecks, and one that does not have it any more leaves it to others.
func TestAServerWithTheVolumeRechecks(t *testing.T) {
	t.Parallel()
	c := &courtWithVolumes{offers: []volume.Offer{{Name: "genome", Mode: volume.ReadOnly}}}
	withCourt(&c.court)
	w := newWorld(t, func(o *engine.Options) { o.Rechecker = c })
	w.opened()
	w.pushFunction("survey", readsGenome)
	of := func(j *functions.NewJob) { j.Function, j.Quorum, j.Recheck = "survey", 0, "all" }
	report := func(n int64) functions.Job {
		job := w.submit(n, of)
		w.settleBut()
		a := w.stocked(honest)
		for a.do(int(n)) > 0 {
			w.settleBut()
		}
		return job
	}
	job := report(3)
	w.settleAll()
	require.Equal(t, 3, c.executed)
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)

	job = report(2)
	c.set(func(*court) { c.offers = nil })
	w.settleAll()
	require.Equal(t, 3, c.executed)
	w.requireHeld(job, 2, execution.HeldForVolume, "this server has no volume genome")
	w.opened()
	e, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(e.Reasons), "no server that executes shards has the volumes that the function wants")
}

// TestVolumesThatAnAgentMustNotName are refused, and nothing of the heartbeat is kept.
func TestVolumesThatAnAgentMustNotName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(honest)
	many := func(n int) (list []fleet.AgentVolume) {
		for i := range n {
			list = append(list, fleet.AgentVolume{Name: fmt.Sprintf("v%d", i), Mode: "ro"})
		}
		return list
	}
	projects := make([]uuid.UUID, fleet.MaxVolumeProjects+1)
	for text, list := range map[string][]fleet.AgentVolume{
		"is no name of a volume":         {{Name: "../etc", Mode: "ro"}},
		"is no mode of a volume":         {{Name: "a", Mode: "w"}},
		"is no fingerprint of a volume":  {{Name: "a", Mode: "ro", Fingerprint: "x"}},
		"volume a is named twice":        {{Name: "a", Mode: "ro"}, {Name: "a", Mode: "ro"}},
		"is for 65 projects, at most 64": {{Name: "a", Mode: "ro", Projects: projects}},
		"names 33 volumes, at most 32":   many(volume.MaxOfMachine + 1),
	} {
		_, err := w.Heartbeat(t.Context(), a.id, fleet.Heartbeat{Wishes: &fleet.AgentWishes{Volumes: list}})
		require.ErrorContains(t, err, text)
	}
	all := many(volume.MaxOfMachine)
	all[0].Projects = projects[1:]
	w.offer(a, all...)
	shown, err := w.GetAgent(t.Context(), a.id)
	require.NoError(t, err)
	require.Equal(t, all, shown.Volumes)
	w.offer(a)
	shown, err = w.GetAgent(t.Context(), a.id)
	require.NoError(t, err)
	require.Empty(t, shown.Volumes)
}

// TestVolumesThatAreWritten: a job goes where the owner shows the volume for writing, and not where it is only read, or the other way round; servers need
// none of it, and the plan says what that means.
func TestVolumesThatAreWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushFunction("survey", "[[volumes]]\nname = \"cache\"\nmode = \"rw\"\n")
	w.pushFunction("reader", "[[volumes]]\nname = \"cache\"\n")
	planned, err := w.PlanJob(t.Context(), w.project, functions.NewJob{Function: "survey", Partition: rangeOf(4), Quorum: 2})
	require.NoError(t, err)
	require.Contains(t, codesOf(planned.Warnings), submit.WarnVolumeWritten)
	job := w.submit(4, func(j *functions.NewJob) { j.Function = "survey" })
	read := w.submit(4, func(j *functions.NewJob) { j.Function = "reader" })
	w.settleAll()
	readable := w.offer(w.agent(honest), fleet.AgentVolume{Name: "cache", Mode: "ro"})
	writable := w.offer(w.agent(honest), fleet.AgentVolume{Name: "cache", Mode: "rw"})
	lease := writable.lease(1)
	require.NotNil(t, lease)
	require.Equal(t, job.ID, lease.Job)
	lease = readable.lease(1)
	require.NotNil(t, lease)
	require.Equal(t, read.ID, lease.Job)
}
