// Package e2e tests the real program from outside, as its processes run in production.
package e2e

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/devdb"
	"github.com/ostraka/ostraka/migrations"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/testenv"
)

const (
	killShards = 3000
	kills      = 12
	// Each shard holds 10 numbers; the function returns how many there are and their sum.
	killFunction = `def handler(x):
    a, b = int(x["from"]), int(x["to"])
    return {"n": b - a, "sum": sum(range(a, b))}
`
)

// TestKills kills the server, an agent and Postgres with SIGKILL, at random moments, again and again, during a job of thousands of
// shards. The job must end by itself with the exact answer, every shard accepted once.
func TestKills(t *testing.T) {
	ctx := t.Context()
	w := startWorld(t, 3)
	job := w.submit(ctx, t)
	targets := []struct {
		name string
		kill func()
	}{
		{"the server", w.killServer},
		{"an agent", w.killAgent},
		{"Postgres", w.killPostgres},
	}
	for i := range kills {
		// The moments are spread over the job by its progress and drawn at random within that, so that no sleep is needed.
		from := int64(killShards * i / (kills + 2))
		until := from + rand.Int64N(killShards/(kills+2))
		testenv.Eventually(t, func() bool { return w.accepted(ctx, job) >= until }, "%d shards accepted before kill %d", until, i)
		target := targets[i%len(targets)]
		t.Logf("after %d shards: killing %s", w.accepted(ctx, job), target.name)
		target.kill()
	}
	defer w.tellWhatIsStuck(t)
	testenv.Eventually(t, func() bool { return w.ended(ctx, job) }, "the job ended")
	w.checkAnswer(ctx, t, job)
	w.checkBooks(ctx, t, job)
}

// world is a whole installation in processes of its own.
type world struct {
	t          *testing.T
	dir        string
	binary     string
	address    string
	db         *devdb.Server
	server     *process
	agents     []*process
	http       http.Client
	project    project // whose agents run
	operator   string
	leaseTTL   string // of the server; empty: 3s
	agentFlags []string
	docker     string // the daemon in whose containers the server executes shards; empty: it finds out by itself
}

// project is a tenant with what its people hold.
type project struct {
	id       uuid.UUID
	owner    *client.ClientWithResponses
	ownerKey string
	token    string // for enrolment
}

// startWorld starts Postgres, a server, and so many agents of a project.
func startWorld(t *testing.T, agents int, agentFlags ...string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), binary: program(t), address: freeAddress(t), agentFlags: agentFlags}
	w.open(agents)
	return w
}

func (w *world) open(agents int) {
	t, ctx := w.t, w.t.Context()
	t.Helper()
	db, err := devdb.Start(ctx, devdb.Options{Dir: filepath.Join(w.dir, "postgres"), Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	w.db = db
	t.Cleanup(func() { require.NoError(t, db.Stop(context.WithoutCancel(ctx))) })
	w.startServer()
	w.operator = run(t, w.binary, []string{"OSTRAKA_DATABASE_URL=" + w.db.URL()}, "operator-key", "create", "e2e")
	w.project = w.createProject(ctx, "first")
	for i := range agents {
		w.agents = append(w.agents, w.startAgent(i))
	}
}

func (w *world) startServer() {
	args := []string{"server", "--listen", w.address, "--blob-dir", filepath.Join(w.dir, "objects"), "--lease-ttl", cmp.Or(w.leaseTTL, "3s")}
	if w.docker != "" {
		args = append(args, "--recheck-sandbox", "docker", "--docker-host", w.docker, "--recheck-concurrent", "2")
	}
	w.server = start(w.t, w.binary, []string{"OSTRAKA_DATABASE_URL=" + w.db.URL(), "HOME=" + w.dir}, args...)
	testenv.Eventually(w.t, func() bool {
		res, err := w.http.Get("http://" + w.address + "/livez")
		if err != nil {
			return false
		}
		return res.Body.Close() == nil && res.StatusCode == http.StatusOK
	}, "the server answers")
}

// startAgent starts an agent of an owner of its own: those of one have one voice together.
func (w *world) startAgent(i int) *process {
	name := "agent-" + strconv.Itoa(i)
	token := w.project.newToken(w.t, name)
	interpreter, err := python.DefaultDir() // unpacked once for all agents of all tests
	require.NoError(w.t, err)
	flags := append([]string{"agent", "start", "--url", "http://" + w.address, "--data", filepath.Join(w.dir, name), "--name", name, "--allow-unsigned", "--accept-eula", "2026-11"}, w.agentFlags...)
	return start(w.t, w.binary, []string{"OSTRAKA_TOKEN=" + token, "OSTRAKA_PYTHON_DIR=" + interpreter, "PATH=" + os.Getenv("PATH")}, flags...)
}

func (w *world) createProject(ctx context.Context, name string) project {
	created, err := connect(w.t, w.address, w.operator).CreateProjectWithResponse(ctx, nil, client.NewProject{Name: name})
	require.NoError(w.t, err)
	require.NotNil(w.t, created.JSON201, string(created.Body))
	p := project{id: created.JSON201.Project.ID, owner: connect(w.t, w.address, created.JSON201.OwnerKey), ownerKey: created.JSON201.OwnerKey}
	p.token = p.newToken(w.t, "agents")
	return p
}

// newToken makes a token for the machines of an owner.
func (p project) newToken(t *testing.T, owner string) string {
	t.Helper()
	token, err := p.owner.CreateEnrolmentTokenWithResponse(t.Context(), p.id, nil, client.NewEnrolmentToken{Name: owner, Owner: "the owner of " + owner})
	require.NoError(t, err)
	require.NotNil(t, token.JSON201, string(token.Body))
	return token.JSON201.Secret
}

func (w *world) submit(ctx context.Context, t *testing.T) uuid.UUID {
	t.Helper()
	file := filepath.Join(w.dir, "sums.py")
	require.NoError(t, os.WriteFile(file, []byte(killFunction), 0o600))
	packed, err := bundle.Pack(file)
	require.NoError(t, err)
	pushed, err := w.project.owner.PushFunctionWithBodyWithResponse(ctx, w.project.id, nil, "application/octet-stream", bytes.NewReader(packed.Archive()))
	require.NoError(t, err)
	require.NotNil(t, pushed.JSON201, string(pushed.Body))
	submitted, err := w.project.owner.SubmitJobWithResponse(ctx, w.project.id, nil, client.JobRequest{
		Function:   "sums",
		Partition:  client.Partition{Kind: "range", From: "0", To: strconv.Itoa(10 * killShards), Size: "10"},
		Policy:     &client.PolicyRequest{Quorum: 2},
		Aggregator: &client.AggregatorRequest{Module: "sum"},
	})
	require.NoError(t, err)
	require.NotNil(t, submitted.JSON201, string(submitted.Body))
	return submitted.JSON201.ID
}

// job reads the job; nothing while the server or its database is down.
func (w *world) job(ctx context.Context, id uuid.UUID) *client.Job {
	res, err := w.project.owner.GetJobWithResponse(ctx, w.project.id, id, nil)
	if err != nil {
		return nil
	}
	return res.JSON200
}

func (w *world) accepted(ctx context.Context, id uuid.UUID) int64 {
	job := w.job(ctx, id)
	if job == nil {
		return -1
	}
	return job.Shards.Accepted
}

func (w *world) ended(ctx context.Context, id uuid.UUID) bool {
	job := w.job(ctx, id)
	return job != nil && (job.State == "finished" || job.State == "failed" || job.State == "cancelled")
}

func (w *world) killServer() {
	w.server.kill()
	w.startServer()
}

func (w *world) killAgent() {
	i := rand.IntN(len(w.agents))
	w.agents[i].kill()
	w.agents[i] = w.startAgent(i)
}

func (w *world) killPostgres() {
	kill(w.t, w.db.PID())
	<-w.db.Done()
	require.NoError(w.t, w.db.Restart(w.t.Context()))
}

func (w *world) checkAnswer(ctx context.Context, t *testing.T, id uuid.UUID) {
	t.Helper()
	job := w.job(ctx, id)
	require.NotNil(t, job)
	require.EqualValues(t, "finished", job.State, job.Error)
	require.EqualValues(t, killShards, job.Shards.Accepted)
	require.NotNil(t, job.Aggregate)
	n := 10 * killShards
	require.Equal(t, fmt.Sprintf(`{"n":%d,"sum":%d}`, n, n*(n-1)/2), string(job.Aggregate.Value))
	require.EqualValues(t, killShards, job.Aggregate.Count)
}

// checkBooks looks into the database itself: what the API says could be wrong in the same way as the answer.
func (w *world) checkBooks(ctx context.Context, t *testing.T, id uuid.UUID) {
	t.Helper()
	conn, err := pgx.Connect(ctx, w.db.URL())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, "set search_path = "+migrations.ProjectSchema(w.project.id))
	require.NoError(t, err)
	for question, want := range map[string]int64{
		"select count(*) from shards where state = 'accepted'":                                                      killShards,
		"select count(*) from shards where wanted <> 0 or lent <> 0":                                                0,
		"select sum(accepted) from pages":                                                                           killShards,
		"select sum(count) from partials where level = 0":                                                           killShards,
		"select count(*) from leases where state = 'open'":                                                          0,
		"select count(*) from submissions where verified_at is null":                                                0,
		"select (select count(*) from attempts) - (select sum(attempts) from pages)":                                0,
		"select count(*) from (select from attempts where status = 'ok' group by shard having count(*) < 2) as few": 0,
	} {
		var got int64
		require.NoError(t, conn.QueryRow(ctx, question).Scan(&got), question)
		require.Equal(t, want, got, question)
	}
}

// tellWhatIsStuck writes what the database knows of unfinished work into the log of a test that failed.
func (w *world) tellWhatIsStuck(t *testing.T) {
	t.Helper()
	if !t.Failed() {
		return
	}
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, w.db.URL())
	if err != nil {
		t.Logf("looking for what is stuck: %v", err)
		return
	}
	defer func() { _ = conn.Close(ctx) }()
	_, _ = conn.Exec(ctx, "set search_path = "+migrations.ProjectSchema(w.project.id))
	for _, question := range []string{
		"select json_build_object('job', j) from (select state, pages_folded, pages_total from jobs) j",
		"select json_build_object('shard', s) from (select number, state, wanted, lent, lost from shards where state <> 'accepted' limit 20) s",
		"select json_build_object('lease', l) from (select id, state, reported, shards, created_at from leases where state = 'open') l",
		"select json_build_object('index', l) from (select id, deadline, last_call, ended_at from ostraka.leases where ended_at is null) l",
		"select json_build_object('submission', s) from (select id, shards, received_at from submissions where verified_at is null) s",
		"select json_build_object('step', r) from (select id, kind, state, attempt, attempted_at, attempted_by, scheduled_at, errors from river.river_job where state <> 'completed' limit 20) r",
		"select json_build_object('server', s, 'now', now()) from (select * from ostraka.servers) s",
		"select json_build_object('trust', t) from (select * from trust) t",
	} {
		rows, err := conn.Query(ctx, question)
		if err != nil {
			t.Logf("%s: %v", question, err)
			continue
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		t.Logf("%v %v", found, err)
	}
}
