package e2e

import (
	"bytes"
	"context"
	"encoding/json"
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
	"github.com/ostraka/ostraka/migrations"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/testenv"
)

const (
	// liarShards is how many shards a job has: as few as let every agent have some.
	liarShards = 48
	// liarJobs is how many jobs a liar may survive. Each hands it shards about which it lies; it is caught in the first unless the machine
	// is so busy that it gets no work.
	liarJobs = 20
	// liarError is the bound. By it less than half of a liar's results in such a job are audited, and the others are taken back, but all
	// except two of the smallest windows are: a liar whose first results alone are honest cannot slip through.
	liarError = 5e-3
	// liarHonest is for how many results a patient liar is honest.
	liarHonest = 2
	honest     = 2
	colluders  = 2 // of the kind that colludes; of the others one is enough
	// What an attempt was executed in is kept where it says anything besides its result.
	liarFunction = `import sys

def handler(x):
    a, b = int(x["from"]), int(x["to"])
    print("from", a, "to", b, file=sys.stderr)
    return {"n": b - a, "sum": sum(range(a, b))}
`
)

// TestLiars lets real agents cheat in every way that there is, beside honest ones, on a server that executes shards again in
// containers of a real Docker daemon. Every answer must be the true one, every liar must be found out, what it gave must be taken back,
// and no honest agent may be charged with anything.
func TestLiars(t *testing.T) {
	daemon, err := testenv.StartDocker(filepath.Join(t.TempDir(), "docker"))
	require.NoError(t, err, "rechecks need a Docker daemon")
	t.Cleanup(daemon.Stop)
	w := &world{t: t, dir: t.TempDir(), binary: program(t), address: freeAddress(t), docker: daemon.Host, leaseTTL: "30s"}
	w.open(0)
	w.awaitRechecker()
	var casts []*cast
	t.Run("kinds", func(t *testing.T) {
		for _, kind := range liar.Kinds() {
			c := &cast{w: w, kind: kind}
			casts = append(casts, c)
			t.Run(string(kind), func(t *testing.T) {
				t.Parallel()
				c.t = t
				c.prepare()
				for !c.foundOut() {
					require.Less(t, c.jobs, liarJobs, "the liars are found out")
					c.runJob()
				}
				c.checkHonest()
				c.checkServer()
			})
		}
	})
	takenBack := int64(0)
	for _, c := range casts {
		t.Logf("%s: found out in %d jobs, %d results taken back", c.kind, c.jobs, c.takenBack)
		takenBack += c.takenBack
	}
	require.NotZero(t, takenBack, "results of agents that are caught are taken back")
}

// awaitRechecker waits until the server has said that it executes shards itself, in containers.
func (w *world) awaitRechecker() {
	w.t.Helper()
	testenv.Eventually(w.t, func() bool {
		return w.number("select count(*) from ostraka.recheckers where level = 'container' and trouble = ''") > 0
	}, "the server executes shards itself")
}

// number asks the database for one; -1: it cannot be asked now.
func (w *world) number(sql string, args ...any) (n int64) {
	ctx := context.WithoutCancel(w.t.Context())
	conn, err := pgx.Connect(ctx, w.db.URL())
	if err != nil {
		return -1
	}
	defer func() { _ = conn.Close(ctx) }()
	if conn.QueryRow(ctx, sql, args...).Scan(&n) != nil {
		return -1
	}
	return n
}

// cast is a project with honest agents and liars.
type cast struct {
	t     *testing.T
	w     *world
	p     project
	kind  liar.Kind
	liars []string
	jobs  int

	takenBack int64 // results of theirs
}

func (c *cast) prepare() {
	t := c.t
	t.Helper()
	c.p = c.w.createProject(t.Context(), "liars-"+string(c.kind))
	for i := range honest {
		c.startAgent("honest-" + strconv.Itoa(i))
	}
	for i := range c.howMany() {
		name := "liar-" + strconv.Itoa(i)
		c.liars = append(c.liars, name)
		c.startAgent(name, "--liar", "--liar-kind", string(c.kind), "--liar-probability", "1", "--liar-after", strconv.Itoa(c.after()))
	}
	c.push()
	testenv.Eventually(t, func() bool {
		ready := 0
		for _, a := range c.agents() {
			if a.LastSeenAt != nil {
				ready++
			}
		}
		return ready == honest+len(c.liars)
	}, "all agents have joined: on a slow machine the jobs would else be over before the last has")
}

// howMany liars there are.
func (c *cast) howMany() int {
	if c.kind == liar.Colluding {
		return colluders
	}
	return 1
}

// after is for how many results the liars are honest.
func (c *cast) after() int {
	if c.kind == liar.Patient {
		return liarHonest
	}
	return 0
}

// startAgent starts an agent of an owner of its own.
func (c *cast) startAgent(name string, flags ...string) {
	c.t.Helper()
	interpreter, err := python.DefaultDir() // unpacked once for all agents of all tests
	require.NoError(c.t, err)
	args := append([]string{
		"agent", "start", "--url", "http://" + c.w.address, "--data", filepath.Join(c.t.TempDir(), name), "--name", name,
		"--allow-unsigned", "--accept-eula", "2026-11", "--lease-work", "1s",
	}, flags...)
	start(c.t, c.w.binary, []string{"OSTRAKA_TOKEN=" + c.p.newToken(c.t, name), "OSTRAKA_PYTHON_DIR=" + interpreter, "PATH=" + os.Getenv("PATH")}, args...)
}

func (c *cast) push() {
	c.t.Helper()
	file := filepath.Join(c.t.TempDir(), "sums.py")
	require.NoError(c.t, os.WriteFile(file, []byte(liarFunction), 0o600))
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
	require.NotNil(c.t, job.Verification)
	require.Zero(c.t, job.Verification.AuditsPending)
	require.Zero(c.t, job.Verification.Questionable, "no lie is left in a finished job")
	c.checkTakenBack(ctx, job)
}

// checkTakenBack makes sure that the job's events tell of all that was taken back.
func (c *cast) checkTakenBack(ctx context.Context, job *client.Job) {
	c.t.Helper()
	c.takenBack += job.Verification.Reopened
	events, err := c.p.owner.ListEventsWithResponse(ctx, c.p.id, job.ID, nil)
	require.NoError(c.t, err)
	require.NotNil(c.t, events.JSON200, string(events.Body))
	told := int64(0)
	for _, e := range events.JSON200.Items {
		var data struct {
			Agent  string `json:"agent"`
			Shards int64  `json:"shards"`
		}
		require.NoError(c.t, json.Unmarshal(e.Data, &data))
		if e.Type == "reopened" && data.Agent != "" {
			told += data.Shards
		}
	}
	require.Equal(c.t, job.Verification.Reopened, told)
}

// checkServer makes sure that the server has executed shards in containers, and nowhere else.
func (c *cast) checkServer() {
	c.t.Helper()
	from := " from " + pgx.Identifier{migrations.ProjectSchema(c.p.id), "attempts"}.Sanitize() + " where agent_id = '00000000-0000-0000-0000-000000000000'"
	require.Positive(c.t, c.w.number("select count(*)"+from), "the server has executed shards")
	require.Zero(c.t, c.w.number("select count(*)"+from+" and diagnostics ->> 'isolation' is distinct from 'container'"), "in containers")
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
