package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/fleet"
	insightsql "github.com/ostraka/ostraka/functions/insight/sql"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
	"github.com/ostraka/ostraka/queue"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/testenv"
	"github.com/ostraka/ostraka/testenv/lockorder"
	"github.com/ostraka/ostraka/wasm"
)

// world is a whole installation for one test: a database of its own, a directory of objects, runners for modules, and a project with
// the function "numbers". Nothing works the queue until the test says so: work starts River, drain runs the steps one by one.
type world struct {
	*engine.Service
	t       testing.TB
	store   *store.Store
	blobs   *blob.Store
	objects string // their directory
	queue   *queue.Queue
	options engine.Options
	faults  *faults
	checked checked
	project uuid.UUID
	by      functions.Principal // the project's owner
	server  functions.Principal // an operator
	token   string
	agents  int
}

func newWorld(t testing.TB, change ...func(*engine.Options)) *world {
	t.Helper()
	w := &world{t: t, faults: &faults{locks: lockorder.Watch{Last: []string{insightsql.EraseRest.SQL}}}}
	log := slog.New(slog.NewTextHandler(testLog{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	w.connect(testenv.DatabaseFrom(t, "sown", sow))
	var err error
	w.objects = filepath.Join(t.TempDir(), "objects")
	w.blobs, err = blob.OpenDir(w.objects)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.blobs.Close()) })
	modules, err := wasm.NewPool(wasm.Options{CacheDir: testenv.ModuleCache(t), Log: log, Runners: 2})
	require.NoError(t, err)
	t.Cleanup(modules.Close)
	w.queue, err = queue.New(w.store.Pool, log)
	require.NoError(t, err)
	w.options = engine.Options{Store: w.store, Blobs: w.blobs, Modules: modules, Queue: w.queue, Notices: base.NewNotices(), Log: log}
	w.options.LeaseTTL = time.Hour                // no lease runs out because the machine is slow; those of shortLeases do
	w.options.FirstLoan = dispatch.MaxLeaseShards // agents here say how many shards they want; those of loan_test.go begin small
	w.options.ShareWait = -1                      // nor do they wait for others; those of shares_lent_test.go do
	w.options.QuorumAudits = -1                   // and the server looks at nothing that a quorum has accepted; it does in quorum_test.go
	for _, c := range change {
		c(&w.options)
	}
	w.Service = engine.New(w.options)
	w.populate()
	return w
}

// connect opens the pool that the server has, with faults built in.
func (w *world) connect(url string) {
	plain, err := store.Connect(w.t.Context(), url)
	require.NoError(w.t, err)
	config := plain.Pool.Config()
	plain.Close()
	config.ConnConfig.Tracer = w.faults
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	require.NoError(w.t, err)
	w.store = store.New(pool)
	w.t.Cleanup(func() {
		pool.Close()
		require.Empty(w.t, w.faults.locks.Breaks(), "all transactions take their locks in one order: see package functions")
	})
}

func (w *world) populate() {
	var err error
	w.server = seed.server
	w.by, err = w.Authenticate(w.t.Context(), seed.key)
	require.NoError(w.t, err)
	w.project = w.by.Project
	w.pushFunction("numbers", "")
	w.token = w.newToken(w.project)
}

func (w *world) newProject(name string) (uuid.UUID, functions.Principal) {
	p, key, replayed, err := w.CreateProject(w.t.Context(), w.server, name, functions.Idempotency{})
	require.NoError(w.t, err)
	require.False(w.t, replayed)
	by, err := w.Authenticate(w.t.Context(), key)
	require.NoError(w.t, err)
	require.Equal(w.t, functions.RoleOwner, by.Role)
	require.Equal(w.t, p.ID, by.Project)
	return p.ID, by
}

func (w *world) newToken(project uuid.UUID) string {
	_, token, _, err := w.CreateEnrolmentToken(w.t.Context(), w.by, project, fleet.NewEnrolmentToken{Name: "agents"}, functions.Idempotency{})
	require.NoError(w.t, err)
	return token
}

// pushFunction pushes a real bundle. No agent here runs its code: they have answers of their own.
func (w *world) pushFunction(name, manifest string) functions.FunctionVersion {
	w.t.Helper()
	v, _, err := w.PushFunction(w.t.Context(), w.by, w.project, bytes.NewReader(w.pack(name, manifest)), nil)
	require.NoError(w.t, err)
	return v
}

func (w *world) pack(name, manifest string) []byte {
	w.t.Helper()
	dir := w.t.TempDir()
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, "function.toml"), []byte("name = \""+name+"\"\n"+manifest), 0o600))
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, "main.py"), []byte("def handler(x):\n    return x\n"), 0o600))
	b, err := bundle.Pack(dir)
	require.NoError(w.t, err)
	return b.Archive()
}

// work lets River work the queue until the test ends, as a server does.
func (w *world) work(ids ...string) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { w.options.Notices.Run(ctx, w.store.Pool, w.options.Log) })
	if len(ids) == 0 {
		ids = []string{"one"}
	}
	for _, id := range ids {
		done.Go(func() {
			if err := w.queue.Work(ctx, w.Service, queue.Options{ServerID: id}); err != nil {
				w.t.Errorf("working the queue: %v", err)
			}
		})
	}
	w.t.Cleanup(func() { cancel(); done.Wait() })
}

// rangeOf is the range of shards that begin at 2^64, which no float holds.
func rangeOf(shards int64) partition.Spec {
	from := new(big.Int).Lsh(big.NewInt(1), 64)
	return partition.OfRange(partition.Range{From: from, To: new(big.Int).Add(from, big.NewInt(shards*10)), Size: big.NewInt(10)})
}

// submit submits a job of "numbers" over rangeOf(shards).
func (w *world) submit(shards int64, change ...func(*functions.NewJob)) functions.Job {
	w.t.Helper()
	want := functions.NewJob{Function: "numbers", Partition: rangeOf(shards), Quorum: 2}
	for _, c := range change {
		c(&want)
	}
	job, replayed, err := w.SubmitJob(w.t.Context(), w.by, w.project, want, functions.Idempotency{})
	require.NoError(w.t, err)
	require.False(w.t, replayed)
	return job
}

func (w *world) job(id uuid.UUID) functions.Job {
	w.t.Helper()
	job, err := w.GetJob(w.t.Context(), w.project, id)
	require.NoError(w.t, err)
	return job
}

// events returns the job's events of one kind.
func (w *world) events(job uuid.UUID, kind string) (list []functions.Event) {
	w.t.Helper()
	all, err := w.ListEvents(w.t.Context(), w.project, job, 0, base.MaxEvents)
	require.NoError(w.t, err)
	for i, e := range all {
		require.Equal(w.t, int64(i+1), e.Seq, "events are numbered without gaps")
		if e.Type == kind {
			list = append(list, e)
		}
	}
	return list
}

// count runs a query for one number as the project's role.
func (w *world) count(sql string, args ...any) (n int64) {
	w.t.Helper()
	require.NoError(w.t, w.store.Project(w.t.Context(), w.project, func(tx *store.Tx) error {
		return tx.QueryRow(w.t.Context(), sql, args...).Scan(&n)
	}))
	return n
}

// truth is what a job of "numbers" with the aggregator sum comes to, without the shards that were left out.
func truth(spec partition.Spec, without ...int64) string {
	sum, n := new(big.Int), int64(0)
	left := map[int64]bool{}
	for _, s := range without {
		left[s] = true
	}
	for shard := range spec.Range.Count() {
		if !left[shard] {
			from, _ := spec.Range.Bounds(shard)
			sum.Add(sum, from)
			n++
		}
	}
	return fmt.Sprintf(`{"n":%d,"sum":%s}`, n, sum)
}

func requireTruth(t testing.TB, job functions.Job, want string) {
	t.Helper()
	require.NotNil(t, job.Aggregate, "%+v", job)
	require.Equal(t, want, string(job.Aggregate.Value))
	require.Equal(t, job.Shards.Accepted, job.Aggregate.Count)
}

func requireCode(t testing.TB, err error, code string) {
	t.Helper()
	var e *functions.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, code, e.Code, "%v", err)
	require.NotEmpty(t, e.Message)
	require.NotEmpty(t, e.Hint)
}

func jsonOf(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

// testLog shows what the server has to say where a test fails.
type testLog struct{ t testing.TB }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Helper()
	l.t.Log(string(bytes.TrimSpace(p)))
	return len(p), nil
}

func shortLeases(o *engine.Options) { o.LeaseTTL = 300 * time.Millisecond }

func (w *world) schema() string { return migrations.ProjectSchema(w.project) }
