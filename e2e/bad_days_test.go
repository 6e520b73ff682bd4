package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/migrations"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/testenv"
)

const dayShards = 200

// dayFunction takes a moment for each shard, so that there is time for something to go wrong.
const dayFunction = `import time
def handler(x):
    time.sleep(0.02)
    a, b = int(x["from"]), int(x["to"])
    return {"n": b - a, "sum": sum(range(a, b))}
`

// TestBadDays lets agents, machines and lines fail in the ways that they do. Each day must end with the exact answer, with nothing lost
// and nothing counted twice, and with a line in the agent's log that says what it was.
func TestBadDays(t *testing.T) {
	t.Parallel()
	w := startWorld(t, 0)
	for _, bad := range []struct {
		name string
		run  func(d *day)
	}{
		{"the machine sleeps", machineSleeps},
		{"the clock is an hour wrong", clockIsWrong},
		{"the disk is full", diskIsFull},
		{"the server is away", serverIsAway},
		{"a bundle changes on the way", bundleChanges},
		{"a proxy cuts long polls", pollsAreCut},
		{"results are posted twice", resultsArePostedTwice},
	} {
		t.Run(bad.name, func(t *testing.T) {
			t.Parallel()
			d := newDay(t, w)
			bad.run(d)
			d.end()
		})
	}
}

// TestAnAgentIsKilledWithResultsUnsent is one more bad day, with a server of its own: its leases must live until the agent is back, however
// slow this machine is.
func TestAnAgentIsKilledWithResultsUnsent(t *testing.T) {
	t.Parallel()
	w := &world{t: t, dir: t.TempDir(), binary: program(t), address: freeAddress(t), leaseTTL: "60s"}
	w.open(0)
	d := newDay(t, w)
	agentIsKilled(d)
	d.end()
}

// day is a project with a job and an agent behind a proxy.
type day struct {
	*world
	t       *testing.T
	project project
	faults  *faults
	job     uuid.UUID
}

func newDay(t *testing.T, w *world) *day {
	t.Helper()
	return newDayOf(t, w, dayFunction)
}

func newDayOf(t *testing.T, w *world, function string) *day {
	t.Helper()
	own := *w
	own.t = t
	d := &day{world: &own, t: t, project: own.createProject(t.Context(), "day"+strconv.FormatInt(time.Now().UnixNano(), 36)), faults: startFaults(t, w.address)}
	file := filepath.Join(t.TempDir(), "day.py")
	require.NoError(t, os.WriteFile(file, []byte(function), 0o600))
	packed, err := bundle.Pack(file)
	require.NoError(t, err)
	pushed, err := d.project.owner.PushFunctionWithBodyWithResponse(t.Context(), d.project.id, nil, "application/octet-stream", bytes.NewReader(packed.Archive()))
	require.NoError(t, err)
	require.NotNil(t, pushed.JSON201, string(pushed.Body))
	submitted, err := d.project.owner.SubmitJobWithResponse(t.Context(), d.project.id, nil, client.JobRequest{
		Function:   "day",
		Partition:  client.Partition{Kind: "range", From: "0", To: strconv.Itoa(10 * dayShards), Size: "10"},
		Policy:     &client.PolicyRequest{Quorum: 1},
		Aggregator: &client.AggregatorRequest{Module: "sum"},
	})
	require.NoError(t, err)
	require.NotNil(t, submitted.JSON201, string(submitted.Body))
	d.job = submitted.JSON201.ID
	return d
}

// start starts an agent, or starts one again in the same folder.
func (d *day) start(name, url string) *process {
	d.t.Helper()
	interpreter, err := python.DefaultDir()
	require.NoError(d.t, err)
	return start(d.t, d.binary, []string{"OSTRAKA_TOKEN=" + d.project.token, "OSTRAKA_PYTHON_DIR=" + interpreter, "PATH=" + os.Getenv("PATH")},
		"agent", "start", "--url", url, "--data", d.data(name), "--name", name, "--allow-unsigned", "--accept-eula", "2026-11", "--log-level", "debug")
}

func (d *day) data(name string) string { return filepath.Join(d.dir, d.project.id.String(), name) }

func (d *day) says(p *process, line string) {
	d.t.Helper()
	testenv.Eventually(d.t, func() bool {
		text, err := os.ReadFile(p.log)
		return err == nil && strings.Contains(string(text), line)
	}, "the agent says: %s", line)
}

func (d *day) status() *client.Job {
	res, err := d.project.owner.GetJobWithResponse(d.t.Context(), d.project.id, d.job, nil)
	if err != nil {
		return nil
	}
	return res.JSON200
}

func (d *day) untilAccepted(n int64) {
	d.t.Helper()
	testenv.Eventually(d.t, func() bool {
		job := d.status()
		return job != nil && job.Shards.Accepted >= n
	}, "%d shards are accepted", n)
}

// end waits for the answer and looks into the books.
func (d *day) end() {
	d.t.Helper()
	testenv.Eventually(d.t, func() bool {
		job := d.status()
		return job != nil && job.State == "finished"
	}, "the job is done")
	job := d.status()
	n := 10 * dayShards
	require.NotNil(d.t, job.Aggregate)
	require.Equal(d.t, fmt.Sprintf(`{"n":%d,"sum":%d}`, n, n*(n-1)/2), string(job.Aggregate.Value))
	require.EqualValues(d.t, dayShards, job.Aggregate.Count)
	for question, want := range map[string]int64{
		"select count(*) from shards where state = 'accepted'":                       dayShards,
		"select count(*) from attempts":                                              dayShards,
		"select count(*) from shards where wanted <> 0 or lent <> 0":                 0,
		"select count(*) from leases where state = 'open'":                           0,
		"select (select count(*) from attempts) - (select sum(attempts) from pages)": 0,
	} {
		require.Equal(d.t, want, d.count(question), question)
	}
}

func (d *day) count(question string) (n int64) {
	d.t.Helper()
	ctx := context.WithoutCancel(d.t.Context())
	conn, err := pgx.Connect(ctx, d.db.URL())
	require.NoError(d.t, err)
	defer func() { require.NoError(d.t, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, "set search_path = "+migrations.ProjectSchema(d.project.id))
	require.NoError(d.t, err)
	require.NoError(d.t, conn.QueryRow(ctx, question).Scan(&n), question)
	return n
}

// machineSleeps stops an agent in the middle of a lease for longer than that lives, as a lid that is shut does.
func machineSleeps(d *day) {
	var posts atomic.Int64
	asleep := make(chan time.Time, 1)
	var sleeper *process
	started := make(chan struct{})
	d.faults.set(func(_ http.ResponseWriter, r *http.Request) bool {
		if postsResults(r) && posts.Add(1) == 2 {
			<-started
			if err := sleeper.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
				d.t.Error(err)
			}
			asleep <- time.Now()
			hangUp()
		}
		return false
	}, nil)
	sleeper = d.start("sleeper", d.faults.url)
	close(started)
	stopped := <-asleep
	d.start("other", "http://"+d.address)
	testenv.Eventually(d.t, func() bool { return d.count("select count(*) from leases where state = 'expired'") > 0 }, "the lease runs out")
	testenv.Eventually(d.t, func() bool { return time.Since(stopped) > 8*time.Second }, "it has slept so long that it notices")
	require.NoError(d.t, sleeper.cmd.Process.Signal(syscall.SIGCONT))
	d.says(sleeper, "the machine has slept, or the agent was stopped")
	d.says(sleeper, "a lease was ended early: its shards are lent again")
}

// clockIsWrong shows the agent a server whose clock is an hour ahead in every answer, and the server an agent that is an hour behind.
func clockIsWrong(d *day) {
	const hour = time.Hour
	d.faults.set(func(_ http.ResponseWriter, r *http.Request) bool {
		if postsResults(r) {
			body := shiftTimes(takeBody(d.t, r), -hour, "started_at", "ended_at")
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		return false
	}, func(r *http.Response) error {
		r.Header.Set("Date", time.Now().Add(hour).UTC().Format(http.TimeFormat))
		if !asksForWork(r.Request) || r.StatusCode != http.StatusOK {
			return nil
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		body = shiftTimes(body, hour, "deadline")
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Length", strconv.Itoa(len(body)))
		return nil
	})
	agent := d.start("wrong", d.faults.url)
	d.says(agent, "this machine's clock and the server's do not agree")
}

// diskIsFull has an owner who wants to keep more free than there is, while shards are executed. The agent gets some leases before, and
// asks in vain for the rest until it has noticed, however slow this test is.
func diskIsFull(d *day) {
	var polls atomic.Int64
	noticed := make(chan struct{})
	d.faults.set(func(_ http.ResponseWriter, r *http.Request) bool {
		if asksForWork(r) && polls.Add(1) > 3 {
			select {
			case <-noticed:
			case <-r.Context().Done():
			}
		}
		return false
	}, nil)
	agent := d.start("full", d.faults.url)
	d.untilAccepted(4)
	require.NoError(d.t, os.WriteFile(filepath.Join(d.data("full"), "prefs.toml"), []byte("keep_free = 4000000000000000000\n"), 0o600))
	d.says(agent, "level=INFO msg=idle code=disk_full")
	require.Less(d.t, d.status().Shards.Accepted, int64(dayShards), "it has stopped before the end")
	close(noticed)
	run(d.t, d.binary, nil, "agent", "prefs", "unset", "keep_free", "--data", d.data("full"))
}

// serverIsAway cuts the agent off in the middle of a lease, for longer than that lives.
func serverIsAway(d *day) {
	var posts atomic.Int64
	d.faults.set(func(_ http.ResponseWriter, r *http.Request) bool {
		if postsResults(r) {
			posts.Add(1)
		}
		if posts.Load() >= 2 {
			hangUp()
		}
		return false
	}, nil)
	agent := d.start("cut-off", d.faults.url)
	d.says(agent, "the server cannot be used now; trying again until it can")
	testenv.Eventually(d.t, func() bool { return d.count("select count(*) from leases where state = 'expired'") > 0 }, "the lease runs out")
	d.says(agent, "no heartbeat got through for as long as the lease lives")
	d.faults.set(nil, nil)
	d.says(agent, "the server can be used again")
	d.says(agent, "a lease was ended early: its shards are lent again")
}

// bundleChanges flips a byte of the first bundle that is fetched.
func bundleChanges(d *day) {
	var once sync.Once
	d.faults.set(nil, func(r *http.Response) error {
		if !strings.HasSuffix(r.Request.URL.Path, "/bundle") {
			return nil
		}
		body, err := io.ReadAll(r.Body)
		once.Do(func() { body[len(body)/2] ^= 1 })
		r.Body = io.NopCloser(bytes.NewReader(body))
		return err
	})
	agent := d.start("deceived", d.faults.url)
	d.says(agent, "the bundle does not have the digest that the lease names")
	d.says(agent, "code=wrong_bundle")
}

// pollsAreCut has a proxy that ends every third request for work without its answer, also of leases that were given.
func pollsAreCut(d *day) {
	var n atomic.Int64
	d.faults.set(nil, func(r *http.Response) error {
		if asksForWork(r.Request) && n.Add(1)%3 != 0 {
			return fmt.Errorf("cut")
		}
		return nil
	})
	agent := d.start("cut", d.faults.url)
	d.says(agent, "the server cannot be used now; trying again until it can")
	testenv.Eventually(d.t, func() bool { return n.Load() >= 6 }, "several are cut")
}

// resultsArePostedTwice has a proxy that sends every post of results again, as one does that has lost the answer.
func resultsArePostedTwice(d *day) {
	d.faults.set(func(w http.ResponseWriter, r *http.Request) bool {
		if !postsResults(r) {
			return false
		}
		body := takeBody(d.t, r)
		first, err := http.NewRequestWithContext(r.Context(), http.MethodPost, "http://"+d.address+r.URL.Path, bytes.NewReader(body))
		if err != nil {
			return false
		}
		first.Header = r.Header.Clone()
		response, err := d.http.Do(first)
		if err == nil {
			_ = response.Body.Close()
		}
		return false
	}, nil)
	agent := d.start("twice", d.faults.url)
	d.says(agent, "new=0 known=")
}

// agentIsKilled kills an agent that has finished shards and could not send them, and starts it again.
func agentIsKilled(d *day) {
	var refused atomic.Int64
	d.faults.set(func(w http.ResponseWriter, r *http.Request) bool {
		if !postsResults(r) && !strings.HasSuffix(r.URL.Path, "/return") {
			return false
		}
		refused.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}, nil)
	agent := d.start("killed", d.faults.url)
	testenv.Eventually(d.t, func() bool { return refused.Load() > 0 }, "it has something to send")
	agent.kill()
	require.Zero(d.t, d.status().Shards.Accepted)
	d.faults.set(nil, nil)
	again := d.start("killed", d.faults.url)
	d.says(again, "an earlier run of the agent has left a lease")
	testenv.Eventually(d.t, func() bool { return d.status().State == "finished" }, "the job is done")
	require.Zero(d.t, d.count("select count(*) from leases where state in ('expired', 'returned')"), "nothing was lent twice")
}
