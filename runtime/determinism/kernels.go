package determinism

import (
	"context"
	"fmt"

	"github.com/ostraka/ostraka/runtime/harness"
)

// Kernel is another way in which the function's libraries compute, as they would on another processor.
type Kernel struct {
	Name string
	Open Opener
}

// KernelReport is what a check found with another kernel.
type KernelReport struct {
	Kernel    string        `json:"kernel"`
	Differing int           `json:"differing"` // shards whose results differ from those of agents
	Shards    []KernelShard `json:"shards,omitempty"`
}

// KernelShard is a shard that differs.
type KernelShard struct {
	Shard       int64        `json:"shard"`
	Differences []Difference `json:"differences"`
}

// Kernels runs the samples with the kernel of agents and with others, and compares: what differs then is decided by the processor alone.
func (c Check) Kernels(ctx context.Context, others []Kernel) (reports []KernelReport, err error) {
	count := &runs{total: (1 + len(others)) * len(c.Samples)}
	var first []harness.Result
	for i, k := range append([]Kernel{{Open: c.Open}}, others...) {
		with := c
		with.Open = k.Open
		results, err := with.pass(ctx, count, circumstances{})
		if err != nil {
			return nil, fmt.Errorf("with the kernel %s: %w", k.Name, err)
		}
		if i == 0 {
			first = results
			continue
		}
		report := KernelReport{Kernel: k.Name}
		for n, sample := range c.Samples {
			if found := compare(first[n], results[n]); len(found) > 0 {
				report.Differing++
				report.Shards = append(report.Shards, KernelShard{Shard: sample.Shard, Differences: found})
			}
		}
		reports = append(reports, report)
	}
	return reports, nil
}
