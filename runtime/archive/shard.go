// Package archive defines the files of a job whose rows have left the database: a Parquet file with a row for each shard, and a
// JSON document that describes the job and names that file by its digest. Servers write and read it; the command line verifies it offline.
package archive

import "time"

// Shard is a row of the file: a piece of the input and the outcome of it. The rows are in the order of their numbers, without gaps.
type Shard struct {
	Shard        int64     `parquet:"shard,delta" json:"shard"`
	State        string    `parquet:"state,dict" json:"state"` // the verdict
	Provisional  bool      `parquet:"provisional" json:"provisional"`
	Lost         int32     `parquet:"lost" json:"lost"`                                      // leases that died with this shard in them
	Input        *string   `parquet:"input,optional" json:"input,omitempty"`                 // null where the partition computes it
	Output       *string   `parquet:"output,optional" json:"output,omitempty"`               // of an accepted shard; null where it is an object of its own
	OutputDigest *string   `parquet:"output_digest,optional" json:"output_digest,omitempty"` // SHA-256 in hexadecimal
	Agent        *string   `parquet:"agent,optional,dict" json:"agent,omitempty"`            // whose output was accepted
	Reasons      *string   `parquet:"reasons,optional" json:"reasons,omitempty"`             // why the verdict is what it is, unless it was a plain accept
	Attempts     []Attempt `parquet:"attempts,list" json:"attempts,omitempty"`
	Draw         *Draw     `parquet:"draw,optional" json:"draw,omitempty"` // null: it was not drawn whether the accepted result is audited
}

// Draw is how it was drawn whether the accepted result is audited. Files of before do not have it.
type Draw struct {
	Agent  string `parquet:"agent,dict" json:"agent"` // whose result; empty: it is about what a quorum has accepted
	Rate   int32  `parquet:"rate" json:"rate"`        // with which it was drawn whether it is audited at once, in ten-thousandths
	Window int32  `parquet:"window" json:"window"`    // in which it was gathered, since it was not; 0: in none
	Drawn  bool   `parquet:"drawn" json:"drawn"`
}

// Attempt is one execution of a shard, in the order of the agents.
type Attempt struct {
	Agent  string `parquet:"agent,dict" json:"agent"`
	Status string `parquet:"status,dict" json:"status"`
	// Agrees says that it voted for exactly what was accepted; then its output is that of the shard.
	Agrees       bool      `parquet:"agrees" json:"agrees"`
	Void         bool      `parquet:"void" json:"void"` // it does not count
	Output       *string   `parquet:"output,optional" json:"output,omitempty"`
	OutputDigest *string   `parquet:"output_digest,optional" json:"output_digest,omitempty"`
	Outcome      string    `parquet:"outcome" json:"outcome"` // what voted, in hexadecimal
	OutputBytes  int64     `parquet:"output_bytes" json:"output_bytes"`
	CPUMicros    int64     `parquet:"cpu_us" json:"cpu_us"`
	WallMicros   int64     `parquet:"wall_us" json:"wall_us"`
	PeakRSS      int64     `parquet:"peak_rss_bytes" json:"peak_rss_bytes"`
	Diagnostics  *string   `parquet:"diagnostics,optional" json:"diagnostics,omitempty"`
	ReportedAt   time.Time `parquet:"reported_at,timestamp(microsecond)" json:"reported_at"`
	Submission   string    `parquet:"submission,dict" json:"submission"`         // in which it came
	Signature    []byte    `parquet:"signature,dict" json:"signature,omitempty"` // of the agent over that submission; empty where a server executed the shard
}

// result is the part of a row that results are read from: the columns of attempts stay on the disk.
type result struct {
	Shard        int64   `parquet:"shard,delta"`
	State        string  `parquet:"state,dict"`
	Provisional  bool    `parquet:"provisional"`
	Input        *string `parquet:"input,optional"`
	Output       *string `parquet:"output,optional"`
	OutputDigest *string `parquet:"output_digest,optional"`
	Agent        *string `parquet:"agent,optional,dict"`
}

// Server is the agent of attempts that a server executed.
const Server = "00000000-0000-0000-0000-000000000000"

// Agreed says who gave exactly the accepted bytes: at most so many agents, in their order, and whether a server did.
func (s Shard) Agreed(most int) (agents []string, server bool) {
	agents = []string{}
	for _, a := range s.Attempts {
		switch {
		case !a.Agrees:
		case a.Agent == Server:
			server = true
		case len(agents) < most:
			agents = append(agents, a.Agent)
		}
	}
	return agents, server
}
