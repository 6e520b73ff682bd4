package agent

import (
	"path/filepath"
	"time"

	"github.com/ostraka/ostraka/agent/ledger"
	"github.com/ostraka/ostraka/runtime/harness"
)

func historyFile(dataDir string) string { return filepath.Join(dataDir, "history.json") }

// ReadHistory reads what the agent of a data directory has done, day by day, the newest first. It asks no server.
func ReadHistory(dataDir string) ([]ledger.Entry, error) { return ledger.Read(historyFile(dataDir)) }

// count writes down that a shard was executed.
func (w *work) count(r harness.Result) {
	w.done.Add(1)
	w.lease.executed.Add(1)
	did := ledger.Work{Shards: 1, CPUMicros: r.CPUMicros, WallMicros: r.WallMicros, OutputBytes: r.OutputBytes}
	if r.Status != harness.StatusOK {
		did.Failed = 1
	}
	w.ledger.Add(time.Now(), w.lease.Project, w.lease.Function, w.lease.Version, did)
}
