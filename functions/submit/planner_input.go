package submit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/wasm"
)

// jobRecord is what a planner sees of the job that has ended.
type jobRecord struct {
	T         string         `json:"t"`
	ID        string         `json:"id"`
	Root      string         `json:"root"`
	Function  string         `json:"function"`
	Version   int            `json:"version"`
	State     string         `json:"state"`
	Depth     int            `json:"depth"`
	Partition partition.Spec `json:"partition"`
}

type metricsRecord struct {
	T string `json:"t"`
	planner.Metrics
}

// saidRecord is what a planner is told of one of its earlier rounds.
type saidRecord struct {
	T       string          `json:"t"`
	Round   int             `json:"round"`
	Job     string          `json:"job"`
	Jobs    int             `json:"jobs"`
	Units   int             `json:"units"`
	Stopped bool            `json:"stopped"`
	Reason  string          `json:"reason"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// chainRecords are what a planner is told besides the aggregate.
func chainRecords(job functions.Job, m planner.Metrics, said []saidRecord) (records []wasm.ChainRecord, err error) {
	all := []any{
		jobRecord{
			T: wasm.ChainJob, ID: job.ID.String(), Root: job.Root.String(), Function: job.Function, Version: job.Version, State: string(job.State),
			Depth: job.Depth, Partition: job.Partition,
		},
		metricsRecord{wasm.ChainMetrics, m},
	}
	for i, s := range said {
		s.T, s.Round = wasm.ChainSaid, i
		all = append(all, s)
	}
	for _, r := range all {
		text, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("encoding a record for the planner: %w", err)
		}
		records = append(records, text)
	}
	return records, nil
}

// inputDigest names what a planner was shown.
func inputDigest(p wasm.Planning, final wasm.Final) string {
	h := sha256.New()
	for _, part := range p.Chain {
		h.Write(part)
		h.Write([]byte{'\n'})
	}
	fmt.Fprintf(h, "%d %d %d %d\n%s\n%s", p.Budget, p.Jobs, p.Round, final.N, p.Params, final.Value)
	return hex.EncodeToString(h.Sum(nil))
}
