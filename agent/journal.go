package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/agent/spool"
	"github.com/ostraka/ostraka/client"
)

// journal keeps the results of a lease on disk until the server has them, so that the agent may die. One that cannot be written is
// said and costs nothing else: the results are in memory too.
type journal struct {
	agent *agent
	id    uuid.UUID

	mu      sync.Mutex
	log     *spool.Log // nil: nothing can be kept
	waiting int        // results that are kept and that the server does not have
}

// spooledLease is what a journal says of its lease.
type spooledLease struct {
	URL   string       `json:"url"`
	Agent uuid.UUID    `json:"agent"`
	Taken time.Time    `json:"taken"`
	Lease client.Lease `json:"lease"`
}

// begin starts the journal of a lease.
func (a *agent) begin(lease *client.Lease) *journal {
	j := &journal{agent: a, id: lease.ID}
	text, err := encode(spooledLease{URL: a.options.URL, Agent: a.id, Taken: time.Now(), Lease: *lease})
	if err == nil {
		j.log, err = a.spool.Begin(lease.ID, text)
	}
	j.check(err)
	return j
}

// check says once for a lease that nothing more of it can be kept.
func (j *journal) check(err error) bool {
	if err == nil {
		return true
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		j.agent.keeper.diskIsFull()
	}
	j.agent.log.Warn("finished results cannot be kept on disk and would be lost if the agent died before it has sent them", "lease", j.id, "error", err)
	return false
}

// keep writes a result, after its output where that is large. It says whether the output is kept.
func (j *journal) keep(result client.ShardResult, output string) (kept bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.log == nil {
		return false
	}
	text, err := encode(result)
	if err == nil && output != "" {
		err = j.log.Output(result.OutputDigest, []byte(output))
	}
	if err == nil {
		err = j.log.Result(result.Shard, text)
	}
	if !j.check(err) {
		return false
	}
	j.waiting++
	return true
}

// output is a large output that was kept.
func (j *journal) output(digest string) (string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.log == nil {
		return "", errors.New("reading an output: nothing is kept on disk")
	}
	output, err := j.log.ReadOutput(digest)
	return string(output), err
}

// reported tells that the server has results.
func (j *journal) reported(results []client.ShardResult) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.log == nil {
		return
	}
	shards := make([]int64, len(results))
	for i, r := range results {
		shards[i] = r.Shard
	}
	j.waiting = max(0, j.waiting-len(results))
	if err := j.log.Reported(shards); err != nil { // they are sent again after a restart, which is harmless
		j.agent.log.Debug("what the server has cannot be noted", "lease", j.id, "error", err)
	}
}

// sync makes what is kept survive a loss of power. It is called when results have to wait.
func (j *journal) sync() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.log != nil {
		j.check(j.log.Sync())
	}
}

// end forgets the lease: it is over, or what is left of it was returned. It says how many results the server never got.
func (j *journal) end() (lost int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.log == nil {
		return 0
	}
	if err := j.log.Remove(); err != nil {
		j.agent.log.Warn("what was kept of a lease cannot be removed", "lease", j.id, "error", err)
	}
	j.log = nil
	return j.waiting
}

// leave leaves the lease for the next start of the agent.
func (j *journal) leave() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.log == nil {
		return
	}
	if err := j.log.Close(); err != nil {
		j.agent.log.Warn("what is kept of a lease may not survive a loss of power", "lease", j.id, "error", err)
	}
	j.log = nil
	j.agent.log.Info("the agent ends before the lease: the next start goes on with it, if it still counts", "lease", j.id, "results_waiting", j.waiting)
}

// readSpooled reads what a journal has kept of a lease, as far as it is not done.
func readSpooled(log *spool.Log) (l spooledLease, finished []client.ShardResult, err error) {
	if err := json.Unmarshal(log.Lease, &l); err != nil {
		return l, nil, fmt.Errorf("reading its lease: %w", err)
	}
	known := map[int64]bool{}
	for _, shard := range log.Known {
		known[shard] = true
	}
	var open []client.LeasedShard
	for _, shard := range l.Lease.Shards {
		if known[shard.Shard] {
			continue
		}
		open = append(open, shard)
		text, done := log.Results[shard.Shard]
		if !done {
			continue
		}
		var r client.ShardResult
		if err := json.Unmarshal(text, &r); err != nil || r.Shard != shard.Shard {
			return l, nil, fmt.Errorf("the result of shard %d cannot be read: %w", shard.Shard, err)
		}
		finished = append(finished, r)
	}
	l.Lease.Shards = open
	return l, finished, nil
}
