package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/determinism"
	"github.com/ostraka/ostraka/runtime/harness"
)

const (
	// maxPrintedShards is how many shards are described; JSON has them all.
	maxPrintedShards = 5
	// maxPrintedInput is how many characters of an input are shown.
	maxPrintedInput = 80
)

// checkReport is everything that `ostraka function check` tells.
type checkReport struct {
	Function string `json:"function"`
	Digest   string `json:"digest"`
	determinism.Report
	Kernels    []determinism.KernelReport `json:"kernels,omitempty"`    // of a function in a runtime
	Operations []kernelOperation          `json:"operations,omitempty"` // of numpy that differ between kernels
	Limits     bundle.Limits              `json:"limits"`
	Suspects   []determinism.Suspect      `json:"suspects,omitempty"`
}

func (o *functionCheckOptions) print(r checkReport) error {
	if o.json() {
		return writeValue(o.terminal.out, r)
	}
	t := o.terminal
	t.put("%s\n", r.verdict())
	fields := newFields(t.out)
	fmt.Fprintf(fields, "interpreter\t%s\nisolation\t%s\n", r.Interpreter, r.Isolation)
	if err := fields.Flush(); err != nil {
		return err
	}
	printed := 0
	for _, s := range r.Shards {
		if len(s.Differences) == 0 && s.Status == harness.StatusOK {
			continue
		}
		if printed++; printed > maxPrintedShards {
			t.put("\n… and %s more; -o json has them all\n", count(int64(r.Differing+r.Failing-maxPrintedShards), "finding"))
			break
		}
		r.putShard(t, s)
	}
	r.putKernels(t)
	r.putStdout(t)
	r.putSuspects(t)
	return r.putLimits(t)
}

// verdict is the answer in one line.
func (r checkReport) verdict() string {
	shards := count(int64(len(r.Shards)), "shard")
	switch {
	case r.Differing > 0:
		return fmt.Sprintf("%s: %d of %s %s", r.Function, r.Differing, shards, agree(r.Differing, "differ"))
	case r.Failing > 0:
		return fmt.Sprintf("%s: %d of %s %s, the same way each time", r.Function, r.Failing, shards, agree(r.Failing, "fail"))
	default:
		return fmt.Sprintf("%s: %s ran twice and agree", r.Function, shards)
	}
}

// agree makes a verb fit a number of shards.
func agree(n int, verb string) string {
	if n == 1 {
		return verb + "s"
	}
	return verb
}

func (r checkReport) putShard(t *terminal, s determinism.Shard) {
	input := []rune(plain(s.Input))
	if len(input) > maxPrintedInput {
		input = append(input[:maxPrintedInput], '…')
	}
	t.put("\nshard %d  %s\n", s.Shard, string(input))
	for _, d := range s.Differences {
		t.put("  %s\n    first   %s\n    second  %s\n", plain(strings.TrimSpace(d.What+" "+d.Path)), plain(d.First), plain(d.Second))
		if d.Looks != "" {
			t.put("    looks like %s\n", d.Looks)
		}
	}
	if s.OnlyOrder {
		t.put("  the values are the same, their order is not\n")
	}
	for _, c := range s.Causes {
		t.put("  likely cause: %s\n    %s\n", c.Explain(), c.Advise())
		for _, likely := range determinism.Behind(c, r.Suspects) {
			t.put("    %s:%d  %s\n", plain(likely.Path), likely.Line, plain(likely.Code))
		}
	}
	if len(s.Differences) == 0 && s.Exception != nil {
		t.put("  %s: %s: %s\n", s.Status, plain(s.Exception.Type), plain(s.Exception.Message))
	}
}

// putStdout tells of shards that print different things: agents do not compare that, but it is a trace of something.
func (r checkReport) putStdout(t *terminal) {
	var silent int64
	for _, s := range r.Shards {
		if s.StdoutDiffers && len(s.Differences) == 0 {
			silent++
		}
	}
	if silent > 0 {
		t.put("\n%s printed different things on stdout, which nobody compares\n", count(silent, "shard"))
	}
}

// putSuspects names lines that deserve a look although nothing differed here and now.
func (r checkReport) putSuspects(t *terminal) {
	if r.Differing > 0 || len(r.Suspects) == 0 {
		return
	}
	t.put("\nnothing differed here, but these lines may differ elsewhere or on another day:\n")
	for _, s := range r.Suspects {
		t.put("  %s:%d  %s\n      %s\n", plain(s.Path), s.Line, plain(s.Code), s.Explain())
	}
}

// putLimits shows the most that any run took beside what the manifest allows.
func (r checkReport) putLimits(t *terminal) error {
	used, limits := r.Used, r.Limits
	t.put("\n")
	table := newTable(t.out, "LIMIT", "USED AT MOST", "ALLOWED", "SHARE")
	row := func(name string, used, allowed int64, show func(int64) string) {
		share := "-"
		if allowed > 0 {
			share = fmt.Sprintf("%d%%", 100*used/allowed)
		}
		if used > 0 && 100*used < allowed {
			share = "<1%"
		}
		table.row(name, show(used), show(allowed), share)
	}
	seconds := func(micros int64) string {
		return (time.Duration(micros) * time.Microsecond).Round(time.Millisecond).String()
	}
	plainNumber := func(n int64) string { return fmt.Sprint(n) }
	row("wall_seconds", used.WallMicros, limits.WallSeconds*1e6, seconds)
	if limits.Fuel > 0 { // of a function in WebAssembly, which has neither files nor anything to print on but its result
		row("fuel", used.Fuel, limits.Fuel, plainNumber)
		row("memory_bytes", used.PeakRSSBytes, limits.MemoryBytes, roughBytes)
		row("output_bytes", used.OutputBytes, limits.OutputBytes, roughBytes)
		return table.flush()
	}
	row("cpu_seconds", used.CPUMicros, limits.CPUSeconds*1e6, seconds)
	row("memory_bytes", used.PeakRSSBytes, limits.MemoryBytes, roughBytes)
	row("output_bytes", used.OutputBytes, limits.OutputBytes, roughBytes)
	row("stdout_bytes", used.StdoutBytes, limits.StdoutBytes, roughBytes)
	row("stderr_bytes", used.StderrBytes, limits.StderrBytes, roughBytes)
	row("artifact_bytes", used.ArtifactBytes, limits.ArtifactBytes, roughBytes)
	row("files", used.Artifacts, limits.Files, plainNumber)
	return table.flush()
}

// roughBytes is a size for people, to one decimal.
func roughBytes(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB"}
	size, u := float64(n), 0
	for size >= 1024 && u < len(units)-1 {
		size, u = size/1024, u+1
	}
	if u == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", size, units[u])
}
