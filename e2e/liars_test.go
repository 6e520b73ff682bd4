package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/liar"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/testenv"
)

const (
	// liarShards is how many shards a job has: as few as let every agent have some.
	liarShards = 60
	// liarJobs is how many jobs a liar may survive. Each hands it shards of which it lies about most; it is caught in the first or second
	// unless the machine is so busy that it gets no work.
	liarJobs = 12
	// liarError is the bound. It asks for more audits of an agent than it has results in such a job, so that all of them are audited and
	// the answer is not only within the bound but right.
	liarError = 1e-3
	honest    = 4
	colluders = 2
)

// TestLiars lets real agents cheat in every way that there is, among honest ones. Every answer must be the true one, every liar must be
// found out, and no honest agent may be charged with anything.
func TestLiars(t *testing.T) {
	w := startWorld(t, 0)
	w.awaitRechecker()
	for _, kind := range liar.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			c := newCast(t, w, kind)
			for range liarJobs {
				c.runJob()
				if c.foundOut() {
					break
				}
			}
			require.True(t, c.foundOut(), "the liars are found out")
			c.checkHonest()
		})
	}
}

// awaitRechecker waits until the server has said that it executes shards itself: in containers where there is Docker, else as agents do.
func (w *world) awaitRechecker() {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.db.URL())
	require.NoError(w.t, err)
	defer func() { require.NoError(w.t, conn.Close(context.WithoutCancel(w.t.Context()))) }()
	testenv.Eventually(w.t, func() bool {
		var n int
		return conn.QueryRow(w.t.Context(), "select count(*) from ostraka.recheckers").Scan(&n) == nil && n > 0
	}, "the server executes shards itself")
}

// cast is a project with honest agents and liars.
type cast struct {
	t     *testing.T
	w     *world
	p     project
	kind  liar.Kind
	liars []string
	jobs  int
}

func newCast(t *testing.T, w *world, kind liar.Kind) *cast {
	t.Helper()
	c := &cast{t: t, w: w, kind: kind, p: w.createProject(t.Context(), "liars-"+string(kind))}
	for i := range honest {
		c.startAgent("honest-" + strconv.Itoa(i))
	}
	for i := range colluders {
		name := "liar-" + strconv.Itoa(i)
		c.liars = append(c.liars, name)
		c.startAgent(name, "--liar", "--liar-kind", string(kind), "--liar-probability", "0.8", "--liar-after", "3")
	}
	c.push()
	testenv.Eventually(t, func() bool {
		ready := 0
		for _, a := range c.agents() {
			if a.LastSeenAt != nil {
				ready++
			}
		}
		return ready == honest+colluders
	}, "all agents have joined: on a slow machine the jobs would else be over before the last has")
	return c
}

// startAgent starts an agent of an owner of its own.
func (c *cast) startAgent(name string, flags ...string) {
	c.t.Helper()
	interpreter, err := python.DefaultDir() // unpacked once for all agents of all tests
	require.NoError(c.t, err)
	args := append([]string{
		"agent", "start", "--url", "http://" + c.w.address, "--data", filepath.Join(c.t.TempDir(), name), "--name", name,
		"--allow-unsigned", "--accept-eula", "2026-11", "--lease-work", "200ms",
	}, flags...)
	start(c.t, c.w.binary, []string{"OSTRAKA_TOKEN=" + c.p.newToken(c.t, name), "OSTRAKA_PYTHON_DIR=" + interpreter, "PATH=" + os.Getenv("PATH")}, args...)
}

func (c *cast) push() {
	c.t.Helper()
	file := filepath.Join(c.t.TempDir(), "sums.py")
	require.NoError(c.t, os.WriteFile(file, []byte(killFunction), 0o600))
	packed, err := bundle.Pack(file)
	require.NoError(c.t, err)
	pushed, err := c.p.owner.PushFunctionWithBodyWithResponse(c.t.Context(), c.p.id, nil, "application/octet-stream", bytes.NewReader(packed.Archive()))
	require.NoError(c.t, err)
	require.NotNil(c.t, pushed.JSON201, string(pushed.Body))
}

// runJob runs a job to its end and compares its answer, and every result that it is made of, with the truth.
func (c *cast) runJob() {
	c.t.Helper()
	ctx := c.t.Context()
	from := 1000 * c.jobs * liarShards
	to := from + 10*liarShards
	c.jobs++
	submitted, err := c.p.owner.SubmitJobWithResponse(ctx, c.p.id, nil, client.JobRequest{
		Function:   "sums",
		Partition:  client.Partition{Kind: "range", From: strconv.Itoa(from), To: strconv.Itoa(to), Size: "10"},
		Policy:     &client.PolicyRequest{TargetError: liarError},
		Aggregator: &client.AggregatorRequest{Module: "sum"},
	})
	require.NoError(c.t, err)
	require.NotNil(c.t, submitted.JSON201, string(submitted.Body))
	var job *client.Job
	testenv.Eventually(c.t, func() bool {
		job = c.job(ctx, submitted.JSON201.ID)
		return job != nil && (job.State == "finished" || job.State == "failed" || job.State == "review")
	}, "job %d ended", c.jobs)
	require.EqualValues(c.t, "finished", job.State, job.Error)
	require.NotNil(c.t, job.Aggregate)
	require.Equal(c.t, fmt.Sprintf(`{"n":%d,"sum":%d}`, to-from, (to-from)*(from+to-1)/2), string(job.Aggregate.Value), "the answer is the truth")
	require.EqualValues(c.t, liarShards, job.Aggregate.Count)
}

func (c *cast) job(ctx context.Context, id uuid.UUID) *client.Job {
	answer, err := c.p.owner.GetJobWithResponse(ctx, c.p.id, id, nil)
	if err != nil {
		return nil
	}
	return answer.JSON200
}

// foundOut says whether every liar was cast out; one that replays is refused and flagged instead.
func (c *cast) foundOut() bool {
	c.t.Helper()
	for _, name := range c.liars {
		a := c.agent(name)
		if c.kind == liar.Replay && !c.flagged(a.ID) || c.kind != liar.Replay && a.CaughtAt == nil {
			return false
		}
	}
	return true
}

func (c *cast) agent(name string) client.ProjectAgent {
	c.t.Helper()
	for _, a := range c.agents() {
		if a.Name == name {
			return a
		}
	}
	return client.ProjectAgent{} // it has not joined yet
}

func (c *cast) agents() []client.ProjectAgent {
	c.t.Helper()
	answer, err := c.p.owner.ListProjectAgentsWithResponse(c.t.Context(), c.p.id, nil)
	require.NoError(c.t, err)
	require.NotNil(c.t, answer.JSON200, string(answer.Body))
	return answer.JSON200.Items
}

// flagged says whether a submission of the agent was refused and flagged for its signature.
func (c *cast) flagged(agent uuid.UUID) bool {
	c.t.Helper()
	kind, rule := "signature", "bad_signature"
	answer, err := c.p.owner.ListFlagsWithResponse(c.t.Context(), c.p.id, &client.ListFlagsParams{Agent: &agent, Kind: &kind, Rule: &rule})
	require.NoError(c.t, err)
	require.NotNil(c.t, answer.JSON200, string(answer.Body))
	return len(answer.JSON200.Items) > 0
}

// checkHonest makes sure that nobody paid for the liars.
func (c *cast) checkHonest() {
	c.t.Helper()
	seen := 0
	for _, a := range c.agents() {
		if len(a.Name) < len("honest") || a.Name[:len("honest")] != "honest" {
			continue
		}
		seen++
		require.Nil(c.t, a.CaughtAt, a.Name)
		require.Zero(c.t, a.Failed, a.Name)
	}
	require.Equal(c.t, honest, seen)
}
