// Package threshold decides, purely, which values of a sandbox are worth an alert: samples and thresholds in, alerts out.
package threshold

import "time"

// Metric is one of the values that thresholds are about.
type Metric string

// The metrics, by their names in files, in JSON and in alerts.
const (
	CPU       Metric = "cpu"       // percent of one processor
	Memory    Metric = "memory"    // bytes
	Workspace Metric = "workspace" // bytes on disk
	Network   Metric = "network"   // bytes sent and received
	Processes Metric = "processes" // at a time
	Output    Metric = "output"    // bytes of stdout and stderr of the running shard
)

// Metrics are all of them, in the order in which they are shown.
func Metrics() []Metric {
	return []Metric{CPU, Memory, Workspace, Network, Processes, Output}
}

// NetworkKind says what the network figure of a sample is worth.
type NetworkKind string

// The kinds of network figure.
const (
	NetworkNone    NetworkKind = "none"    // a network namespace without a way out: zero, and proven
	NetworkOwn     NetworkKind = "own"     // a namespace of the sandbox's own, with interfaces
	NetworkShared  NetworkKind = "shared"  // the machine's: the figure is everybody's, so that no threshold applies to it
	NetworkUnknown NetworkKind = "unknown" // it could not be read
)

// Sample is what one look at a sandbox showed.
type Sample struct {
	At               time.Time   `json:"at"`
	CPUPercent       float64     `json:"cpu_percent" minimum:"0" doc:"Of one processor, since the sample before."`
	MemoryBytes      int64       `json:"memory_bytes" minimum:"0"`
	WorkspaceBytes   int64       `json:"workspace_bytes" minimum:"0"`
	WorkspacePartial bool        `json:"workspace_partial,omitempty" doc:"The workspace holds more files than the monitor counts; it has at least that many bytes."`
	NetworkBytes     int64       `json:"network_bytes" minimum:"0" doc:"Sent and received."`
	Network          NetworkKind `json:"network" enum:"none,own,shared,unknown" doc:"What network_bytes is worth: none is proven by a network namespace, shared counts the whole machine's."`
	Processes        int64       `json:"processes" minimum:"0"`
	OutputBytes      int64       `json:"output_bytes" minimum:"0" doc:"Of stdout and stderr of the running shard."`
}

// value is the sample's figure for a metric; known is false where none was taken.
func (s *Sample) value(m Metric) (value float64, known bool) {
	switch m {
	case CPU:
		return s.CPUPercent, true
	case Memory:
		return float64(s.MemoryBytes), true
	case Workspace:
		return float64(s.WorkspaceBytes), true
	case Network:
		return float64(s.NetworkBytes), s.Network == NetworkNone || s.Network == NetworkOwn
	case Processes:
		return float64(s.Processes), true
	default:
		return float64(s.OutputBytes), true
	}
}
