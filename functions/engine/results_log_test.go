package engine_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/auditlog"
)

// TestTheLogSaysWhatResultsHaveTaken has a record of each post of results, with who, what, how much and how it ended, and counts it.
func TestTheLogSaysWhatResultsHaveTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.agreed(3)
	records, err := w.ListAudit(t.Context(), w.project, auditlog.AuditFilter{Action: "results.record", Job: job.ID.String()}, functions.ListPage{Limit: 500})
	require.NoError(t, err)
	require.NotEmpty(t, records)
	results := int64(0)
	for _, r := range records {
		var said struct {
			Agent, Job, Function, Signature string
			Version, Results                int64
			Ended                           map[string]int64
			CPU                             int64 `json:"cpu_us"`
			Bytes                           int64
		}
		require.NoError(t, json.Unmarshal(r.Detail, &said))
		require.Equal(t, "agent:"+said.Agent, r.Actor)
		require.Equal(t, job.ID.String(), said.Job)
		require.Equal(t, job.Function, said.Function)
		require.EqualValues(t, job.Version, said.Version)
		require.Equal(t, said.Results, said.Ended["ok"])
		require.NotEmpty(t, said.Signature)
		require.Positive(t, w.count("select count(*) from leases where id = $1::uuid", r.Subject))
		results += said.Results
	}
	require.Equal(t, w.count("select count(*) from attempts where job_id = $1", job.ID), results)
	w.exec("insert into audit (actor, action, subject, detail) values ('agent:a', 'results.record', 'l', '{\"agent\": \"a\", \"function\": \"big\", \"failed\": 1, \"cpu_us\": 9007199254740992, \"bytes\": 9007199254740992}')")
	w.exec("insert into audit (actor, action, subject, detail) values ('server', 'model.ask', 's', '{\"bytes\": 5}')")
	for _, by := range []string{"agent", "function", "day", "actor", "action"} {
		counts, err := w.AuditStats(t.Context(), w.project, by, time.Time{}, time.Time{})
		require.NoError(t, err)
		var cpu float64
		var bytes, failures int64
		for _, c := range counts {
			cpu, bytes, failures = cpu+c.CPUSeconds, bytes+c.Bytes, failures+c.Failures
		}
		require.InDelta(t, 9007199254.740992+float64(w.count("select sum(cpu_us) from attempts where job_id = $1", job.ID))/1e6, cpu, 1e-3, by)
		require.Equal(t, int64(9007199254740992)+w.count("select sum(output_bytes) from attempts where job_id = $1", job.ID), bytes, by)
		require.Positive(t, failures)
	}
}

// TestAnExportOfARangeVerifies and has the hashes of all records.
func TestAnExportOfARangeVerifies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.happen(600)
	w.seal()
	head, err := w.AuditHead(t.Context(), w.project)
	require.NoError(t, err)
	of := audit.Range{From: 250, To: 260}
	var export bytes.Buffer
	for lines, err := range w.AuditExport(t.Context(), w.project, of) {
		require.NoError(t, err)
		export.Write(lines)
	}
	require.Equal(t, 10, bytes.Count(export.Bytes(), []byte(`{"index":`)))
	report, err := audit.VerifyRange(&export, head.Key, of)
	require.NoError(t, err)
	require.Empty(t, report.Faults)
	require.Equal(t, int64(10), report.Records)
	require.Equal(t, head.Size, report.Size)
}
