package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/determinism"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/tree"
)

// kernelProbe is a function that computes with one operation of numpy a shard, and gives the digest of what comes out.
//
//go:embed kernel_probe.py
var kernelProbe string

// probedOperation finds their names in the probe.
var probedOperation = regexp.MustCompile(`(?m)^    "([a-z.]+)":`)

// kernelOperation is an operation of numpy that comes to something else with some kernels.
type kernelOperation struct {
	Name    string   `json:"name"`
	Kernels []string `json:"kernels"`
	Used    bool     `json:"used"` // the function's own source names it
}

// checkKernels runs the samples with other kernels than that of agents, and finds out which operations of numpy differ.
func (o *functionCheckOptions) checkKernels(ctx context.Context, b *bundle.Bundle, sandbox *ownSandbox, checked determinism.Report) (reports []determinism.KernelReport, operations []kernelOperation, err error) {
	if sandbox.runtime == nil {
		return nil, nil, nil
	}
	files, err := o.findFiles(ctx)
	if err != nil {
		return nil, nil, err
	}
	var samples []determinism.Sample
	for _, s := range checked.Shards {
		samples = append(samples, determinism.Sample{Shard: s.Shard, Input: []byte(s.Input)})
	}
	if reports, err = o.withKernels(ctx, b, sandbox, samples, files); err != nil {
		return nil, nil, err
	}
	probe, err := packProbe(b.Manifest.Runtime)
	if err != nil {
		return nil, nil, err
	}
	var names []string
	samples = nil
	for i, found := range probedOperation.FindAllStringSubmatch(kernelProbe, -1) {
		names = append(names, found[1])
		samples = append(samples, determinism.Sample{Shard: int64(i), Input: []byte(`"` + found[1] + `"`)})
	}
	probed, err := o.withKernels(ctx, probe, sandbox, samples, nil)
	if err != nil {
		return nil, nil, err
	}
	source, err := sourceOf(b)
	if err != nil {
		return nil, nil, err
	}
	return reports, differingOperations(names, probed, source), nil
}

// withKernels runs samples with the kernel of agents and with others.
func (o *functionCheckOptions) withKernels(ctx context.Context, b *bundle.Bundle, sandbox *ownSandbox, samples []determinism.Sample, files checkedFiles) ([]determinism.KernelReport, error) {
	opener := func(walls isolation.Sandbox) determinism.Opener {
		return func(ctx context.Context, settings harness.Settings) (determinism.Session, error) {
			session, err := walls.Open(ctx, b, settings)
			if err != nil || files == nil {
				return session, err
			}
			return &filesSession{Session: session, files: files}, nil
		}
	}
	var others []determinism.Kernel
	for _, k := range tree.OtherKernels() {
		walls, err := sandbox.walls.On(k.On(*sandbox.runtime))
		if err != nil {
			return nil, err
		}
		others = append(others, determinism.Kernel{Name: k.Name, Open: opener(walls)})
	}
	return determinism.Check{Open: opener(sandbox.Sandbox), Samples: samples}.Kernels(ctx, others)
}

// packProbe makes a function of the probe that runs in the same runtime.
func packProbe(runtime string) (b *bundle.Bundle, err error) {
	dir, err := os.MkdirTemp("", "ostraka-probe-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the probe: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	manifest := fmt.Sprintf("name = \"kernel-probe\"\nruntime = %q\n", runtime)
	for name, text := range map[string]string{bundle.ManifestName: manifest, "main.py": kernelProbe} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return bundle.Pack(dir)
}

// differingOperations turns what the probe found around: which kernels an operation differs with.
func differingOperations(names []string, probed []determinism.KernelReport, source map[string]string) (list []kernelOperation) {
	for i, name := range names {
		op := kernelOperation{Name: name}
		for _, report := range probed {
			for _, s := range report.Shards {
				if s.Shard == int64(i) {
					op.Kernels = append(op.Kernels, report.Kernel)
				}
			}
		}
		if len(op.Kernels) == 0 {
			continue
		}
		last := name[strings.LastIndex(name, ".")+1:]
		word := regexp.MustCompile(`\b` + last + `\b`)
		for _, text := range source {
			op.Used = op.Used || word.MatchString(text) || last == "matmul" && strings.Contains(text, " @ ")
		}
		list = append(list, op)
	}
	return list
}

// putKernels says what other processors would have come to.
func (r checkReport) putKernels(t *terminal) {
	if len(r.Kernels) == 0 {
		return
	}
	t.put("\nwith the kernels of other processors, which agents do not use:\n")
	for _, k := range r.Kernels {
		t.put("  %-12s %d of %s %s\n", k.Kernel, k.Differing, count(int64(len(r.Shards)), "shard"), agree(k.Differing, "differ"))
		for i, s := range k.Shards {
			if i == maxPrintedShards {
				break
			}
			d := s.Differences[0]
			t.put("    shard %d  %s: %s, and %s here\n", s.Shard, plain(strings.TrimSpace(d.What+" "+d.Path)), plain(d.Second), plain(d.First))
		}
	}
	var used, others []string
	for _, op := range r.Operations {
		if op.Used {
			used = append(used, op.Name)
		} else {
			others = append(others, op.Name)
		}
	}
	if len(used) > 0 {
		t.put("  operations that differ, and that the function names: %s\n", strings.Join(used, ", "))
	}
	if len(others) > 0 {
		t.put("  other operations of numpy that differ: %s\n", strings.Join(others, ", "))
	}
}
