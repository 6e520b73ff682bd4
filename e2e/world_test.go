// Package e2e tests the real program from outside, as its processes run in production.
package e2e

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/devdb"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/testenv"
)

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
	rechecks   string         // the sandbox in which the server executes shards; empty: what it finds
	s3         *blob.S3Config // where objects are; nil: in a folder
	docker     string         // the daemon in whose containers the server executes shards; empty: it finds out by itself
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
	args := append([]string{"server", "--listen", w.address, "--lease-ttl", cmp.Or(w.leaseTTL, "3s")}, w.objects()...)
	if w.docker != "" {
		args = append(args, "--recheck-sandbox", "docker", "--docker-host", w.docker, "--recheck-concurrent", "2")
	}
	if w.rechecks != "" {
		args = append(args, "--recheck-sandbox", w.rechecks)
	}
	w.server = start(w.t, w.binary, w.serverEnv(), args...)
	testenv.Eventually(w.t, func() bool {
		res, err := w.http.Get("http://" + w.address + "/livez")
		if err != nil {
			return false
		}
		return res.Body.Close() == nil && res.StatusCode == http.StatusOK
	}, "the server answers")
}

// objects says where objects are, in a server's flags.
func (w *world) objects() []string {
	if w.s3 == nil {
		return []string{"--blob-dir", filepath.Join(w.dir, "objects")}
	}
	return []string{"--s3-endpoint", w.s3.Endpoint, "--s3-bucket", w.s3.Bucket, "--s3-plaintext"}
}

// serverEnv is the environment of a server, secrets included.
func (w *world) serverEnv() []string {
	env := []string{"OSTRAKA_DATABASE_URL=" + w.db.URL(), "HOME=" + w.dir, "PATH=" + os.Getenv("PATH")}
	if w.s3 != nil {
		env = append(env, "OSTRAKA_S3_ACCESS_KEY="+w.s3.AccessKey, "OSTRAKA_S3_SECRET_KEY="+w.s3.SecretKey)
	}
	return env
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

// job reads the job; nothing while the server or its database is down.
func (w *world) job(ctx context.Context, id uuid.UUID) *client.Job {
	res, err := w.project.owner.GetJobWithResponse(ctx, w.project.id, id, nil)
	if err != nil {
		return nil
	}
	return res.JSON200
}

func (w *world) ended(ctx context.Context, id uuid.UUID) bool {
	job := w.job(ctx, id)
	return job != nil && (job.State == "finished" || job.State == "failed" || job.State == "cancelled")
}

func (w *world) killServer() {
	w.server.kill()
	w.startServer()
}
