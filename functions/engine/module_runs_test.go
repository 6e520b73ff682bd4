package engine_test

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/testenv"
	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/builtin"
)

func (w *world) moduleRuns(module string, filter registry.ModuleRunFilter) []registry.ModuleRun {
	w.t.Helper()
	list, err := w.ListModuleRuns(w.t.Context(), w.project, module, filter, functions.ListPage{Limit: functions.MaxListLimit})
	require.NoError(w.t, err)
	return list
}

// TestBatchesThatEndWellAreCounted makes a row of each phase, however many pages there are.
func TestBatchesThatEndWellAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(2050, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a := w.agent(honest)
	for a.do(1024) > 0 {
		w.settleAll()
	}
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	byPhase := map[string]registry.ModuleRun{}
	for _, r := range w.moduleRuns("sum", registry.ModuleRunFilter{Job: &job.ID}) {
		require.False(t, r.Failed())
		require.Nil(t, r.Version)
		require.Equal(t, 1, *r.Aggregation)
		require.Positive(t, r.Fuel)
		require.Positive(t, r.Memory)
		require.LessOrEqual(t, r.FuelMost, r.Fuel)
		byPhase[r.Phase] = r
	}
	require.Equal(t, int64(3), byPhase["leaf"].Times)
	require.Equal(t, int64(2050), byPhase["leaf"].InLines)
	require.Equal(t, int64(1), byPhase["final"].Times)
	require.Empty(t, w.moduleRuns("sum", registry.ModuleRunFilter{Failed: new(true)}))
	_, err := w.ListModuleRuns(t.Context(), w.project, "none", registry.ModuleRunFilter{}, functions.ListPage{Limit: 1})
	requireCode(t, err, "not_found")
	_, err = w.GetModuleRun(t.Context(), w.project, "sum", uuid.New())
	requireCode(t, err, "not_found")
}

// TestAFailedBatchCanBeRunAgain keeps the whole batch, and names the run wherever the failure is told.
func TestAFailedBatchCanBeRunAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(5, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	w.spoil(job.ID)
	require.Equal(t, 5, w.agent(honest).do(10))
	w.settleAll()
	held := w.job(job.ID)
	require.Equal(t, functions.JobHeld, held.State)

	failed := w.moduleRuns("sum", registry.ModuleRunFilter{Failed: new(true)})
	require.Len(t, failed, 1)
	run, err := w.GetModuleRun(t.Context(), w.project, "sum", failed[0].ID)
	require.NoError(t, err)
	require.Equal(t, "exit", run.Class)
	require.Equal(t, int64(wasm.ExitBadInput), run.ExitCode)
	require.Equal(t, "page 0", run.Step)
	require.Contains(t, run.Stderr, "nonsense")
	require.Positive(t, run.Fuel)
	require.Contains(t, held.AggregationError, run.ID.String())
	require.Contains(t, string(w.events(job.ID, base.EventAggregationFailed)[0].Data), run.ID.String())
	e, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Contains(t, e.Reasons[0].Text, run.ID.String())

	batch, size, err := w.OpenObject(t.Context(), w.project, *run.Input)
	require.NoError(t, err)
	defer batch.Close()
	require.Equal(t, size, *run.InputBytes)
	text, err := io.ReadAll(batch)
	require.NoError(t, err)
	pool, err := wasm.NewPool(wasm.Options{CacheDir: testenv.ModuleCache(t)})
	require.NoError(t, err)
	defer pool.Close()
	trial := wasm.Trial{Use: wasm.Use{Pool: pool}, Kind: wasm.KindAggregator, Records: wasm.SplitRecords(text)}
	shipped, err := builtin.Module().Open(t.Context())
	require.NoError(t, err)
	module, err := io.ReadAll(shipped)
	require.NoError(t, err)
	report, err := trial.Try(t.Context(), module)
	require.NoError(t, err)
	require.NotNil(t, report.Error)
	require.Equal(t, run.Class, string(report.Error.Class))
	require.Equal(t, run.Message, report.Error.Message)
	require.Equal(t, run.Fuel, report.Error.Fuel, "it took the same path to the unit")
}

func TestOldRunsAreForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec(`insert into module_runs (id, module, digest, kind, phase, class, started_at, ended_at, wall_ns, fuel, fuel_most, memory, in_lines, in_bytes, out_lines, out_bytes)
		select lpad(to_hex(n), 32, '0')::uuid, 'sum', repeat('a', 64), 'aggregator', 'leaf', 'trap', now(), now(), 0, 0, 0, 0, 0, 0, 0, 0
		from generate_series(1, $1::int) n`, registry.MaxModuleRuns)
	require.Len(t, w.allModuleRuns("sum"), registry.MaxModuleRuns)
	job := w.submit(3, func(j *functions.NewJob) { j.Quorum, j.Params = 1, json.RawMessage(`{}`) })
	w.settleAll()
	w.agent(honest).do(3)
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	all := w.allModuleRuns("sum")
	require.Len(t, all, registry.MaxModuleRuns)
	require.Equal(t, "final", all[0].Phase, "the newest come first")
	require.Equal(t, "ok", all[1].Class)
	require.Equal(t, "trap", all[2].Class)
}

// allModuleRuns reads page after page.
func (w *world) allModuleRuns(module string) (all []registry.ModuleRun) {
	w.t.Helper()
	page := functions.ListPage{Limit: functions.MaxListLimit}
	for {
		list, err := w.ListModuleRuns(w.t.Context(), w.project, module, registry.ModuleRunFilter{}, page)
		require.NoError(w.t, err)
		all = append(all, list...)
		if len(list) < page.Limit {
			return all
		}
		page.After = list[len(list)-1].ID.String()
	}
}
