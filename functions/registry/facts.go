package registry

import (
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/wasm"
)

// Facts are what rules of the guardian can know of a version.
func (r FunctionRow) Facts() guardian.Function {
	m := r.Manifest
	return guardian.Function{
		Name: r.Name, Version: int64(r.Version), Digest: r.Digest, Entrypoint: m.Entrypoint + m.Script + m.Entry, Isolation: string(m.MinIsolation),
		Network: m.Network, Signed: r.SignedBy != nil, BundleBytes: r.Size, Limits: limitFacts(m.Limits), Runtime: pinnedRuntime(&m), Volumes: VolumeFacts(m.Volumes),
	}
}

// VolumeFacts are what rules of the guardian can know of the volumes that a function wants.
func VolumeFacts(list []bundle.Volume) (facts []guardian.Volume) {
	for _, v := range list {
		facts = append(facts, guardian.Volume{Name: v.Name, Mode: string(v.Mode), Pinned: v.Fingerprint != ""})
	}
	return facts
}

// pinnedRuntime is the runtime with native code that a function names; empty: none.
func pinnedRuntime(m *bundle.Manifest) string {
	if m.RuntimeDigest() == "" {
		return ""
	}
	return m.Runtime
}

func limitFacts(l bundle.Limits) guardian.Limits {
	return guardian.Limits{
		CPUSeconds: l.CPUSeconds, WallSeconds: l.WallSeconds, MemoryBytes: l.MemoryBytes, Pids: l.Pids,
		DiskBytes: l.DiskBytes, OutputBytes: l.OutputBytes,
	}
}

// FoundCode is a file of a version in which a heuristic has found something.
type FoundCode struct {
	Heuristic string       `json:"heuristic"`
	File      string       `json:"file"`
	Labels    []string     `json:"labels"`
	Places    []wasm.Place `json:"places"`
}

// FindingFacts are what was found, as facts for the guardian.
func FindingFacts(found []FoundCode) (list []guardian.Finding) {
	for _, f := range found {
		places := make([]guardian.Finding, len(f.Places))
		for i, p := range f.Places {
			places[i] = guardian.Finding{Line: p.Line, Rule: p.Label, Weight: p.Weight, What: p.What, Text: p.Text}
		}
		list = append(list, guardian.OfFile(f.Heuristic, f.File, f.Labels, places)...)
	}
	return guardian.Trim(list)
}
