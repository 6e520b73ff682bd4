package determinism

import (
	"slices"

	"github.com/ostraka/ostraka/runtime/harness"
)

// Cause is which change alone makes a shard differ.
type Cause string

// The causes.
const (
	CauseUnstable   Cause = "unstable"    // it differs although nothing was changed
	CauseHashSeed   Cause = "hash_seed"   // another hash seed
	CauseTimeZone   Cause = "time_zone"   // another time zone
	CauseNeighbours Cause = "neighbours"  // other shards before it in the session, or another session
	CauseTogether   Cause = "combination" // no change alone, but all of them together
)

// Explain says what was found, for the function's owner.
func (c Cause) Explain() string {
	switch c {
	case CauseUnstable:
		return "it differs although nothing was changed"
	case CauseHashSeed:
		return "the hash seed alone changes it"
	case CauseTimeZone:
		return "the time zone alone changes it"
	case CauseNeighbours:
		return "the shards before it in the session, or the session itself, change it"
	case CauseTogether:
		return "no change alone makes it differ, all of them together do"
	default:
		return string(c)
	}
}

// Advise says what is behind a cause most often, and what helps.
func (c Cause) Advise() string {
	switch c {
	case CauseUnstable:
		return "look for the clock, random numbers that no seed fixes, process numbers, memory addresses, paths, and threads that race"
	case CauseHashSeed:
		return "it is the order of a set, or hash() of a text: sort the set before you use its order, and use hashlib"
	case CauseTimeZone:
		return "use UTC, as in datetime.fromtimestamp(t, tz=timezone.utc)"
	case CauseNeighbours:
		return "look for process numbers, for what the import does differently each time, and for what shards share"
	case CauseTogether:
		return "it is random but rare, or depends on two things at once: check more shards with --sample"
	default:
		return ""
	}
}

// Report is what a check found.
type Report struct {
	Interpreter string  `json:"interpreter"`
	Isolation   string  `json:"isolation"`
	Differing   int     `json:"differing"` // shards whose results differ
	Failing     int     `json:"failing"`   // shards that did not end with ok
	Shards      []Shard `json:"shards"`
	Used        Used    `json:"used"`
}

// Shard is what a check found about one shard.
type Shard struct {
	Shard         int64              `json:"shard"`
	Input         string             `json:"input"`
	Status        harness.Status     `json:"status"` // of the first run
	Exception     *harness.Exception `json:"exception,omitempty"`
	Differences   []Difference       `json:"differences,omitempty"`
	OnlyOrder     bool               `json:"only_order,omitempty"` // the same values in another order
	Causes        []Cause            `json:"causes,omitempty"`
	StdoutDiffers bool               `json:"stdout_differs,omitempty"` // not compared between agents, but worth a look
}

// settleCauses draws the conclusion: what differs without any change differs under every change as well.
func (s *Shard) settleCauses() {
	switch {
	case len(s.Differences) == 0:
	case slices.Contains(s.Causes, CauseUnstable):
		s.Causes = []Cause{CauseUnstable}
	case len(s.Causes) == 0:
		s.Causes = []Cause{CauseTogether}
	}
}

// Used is the most that any run needed, so that limits can be set.
type Used struct {
	WallMicros    int64 `json:"wall_us"`
	CPUMicros     int64 `json:"cpu_us"`
	PeakRSSBytes  int64 `json:"peak_rss_bytes"`
	OutputBytes   int64 `json:"output_bytes"`
	StdoutBytes   int64 `json:"stdout_bytes"`
	StderrBytes   int64 `json:"stderr_bytes"`
	ArtifactBytes int64 `json:"artifact_bytes"`
	Artifacts     int64 `json:"artifacts"`
	Fuel          int64 `json:"fuel,omitempty"`
}

func (u *Used) add(r harness.Result) {
	var artifacts int64
	for _, f := range r.Files {
		artifacts += f.Size
	}
	u.WallMicros = max(u.WallMicros, r.WallMicros)
	u.CPUMicros = max(u.CPUMicros, r.CPUMicros)
	u.PeakRSSBytes = max(u.PeakRSSBytes, r.PeakRSSBytes)
	u.OutputBytes = max(u.OutputBytes, r.OutputBytes)
	u.StdoutBytes = max(u.StdoutBytes, r.StdoutBytes)
	u.StderrBytes = max(u.StderrBytes, r.StderrBytes)
	u.ArtifactBytes = max(u.ArtifactBytes, artifacts)
	u.Artifacts = max(u.Artifacts, int64(len(r.Files)))
	u.Fuel = max(u.Fuel, r.Fuel)
}
