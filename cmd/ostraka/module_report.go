//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/ostraka/ostraka/wasm"
)

// printReport prints what a trial of a module found, and fails unless it found nothing.
func printReport(t *terminal, o *outputFlag, r wasm.Report) error {
	if o.json() {
		if err := writeValue(t.out, r); err != nil {
			return err
		}
	} else if err := printReportTable(t, r); err != nil {
		return err
	}
	if r.Passed() {
		return nil
	}
	failed := int64(0)
	for _, f := range r.Findings {
		if !f.Passed {
			failed++
		}
	}
	hint := "docs/modules.md has the contract"
	if r.Error != nil && r.Error.Hint != "" {
		hint = r.Error.Hint
	}
	return &exitError{code: exitFailed, err: fmt.Errorf("the module did not pass: %s", count(failed, "finding")), hint: hint}
}

func printReportTable(t *terminal, r wasm.Report) error {
	fields := [][2]string{
		{"module", fmt.Sprintf("%s, %d bytes, %s", shortDigest(r.Digest), r.Bytes, r.Kind)},
		{"describes", described(r)},
		{"parameters", string(r.Params)},
	}
	if s := r.Stats; s.Batches > 0 {
		fields = append(fields, [][2]string{
			{"in", fmt.Sprintf("%d records, %d bytes", s.InLines, s.InBytes)},
			{"out", fmt.Sprintf("%d lines, %d bytes", s.OutLines, s.OutBytes)},
			{"time", fmt.Sprintf("%s in %s", s.Wall.Round(time.Microsecond), batches(s.Batches))},
			{"fuel", strconv.FormatInt(s.Fuel, 10) + " units"},
			{"peak memory", fmt.Sprintf("%d KiB", s.Memory>>10)},
		}...)
	}
	stderr := r.Stats.Stderr
	if e := r.Error; e == nil && r.Stats.Batches > 0 {
		fields = append(fields, [2]string{"exit", "0"})
	} else if e != nil {
		fields = append(fields, [2]string{"exit", fmt.Sprintf("%s: %s", e.Class, plain(e.Message))})
		for _, frame := range e.Frames {
			fields = append(fields, [2]string{"frame", plain(frame)})
		}
		stderr = e.Stderr
	}
	if stderr != "" {
		fields = append(fields, [2]string{"stderr", plain(stderr)})
	}
	if err := printOne(t, &outputFlag{}, nil, fields); err != nil {
		return err
	}
	table := newTable(t.out, "CHECK", "RESULT", "DETAIL")
	for _, f := range r.Findings {
		result := "passed"
		if !f.Passed {
			result = "FAILED"
		}
		table.row(f.Check, result, plain(f.Detail))
	}
	if err := table.flush(); err != nil {
		return err
	}
	for _, line := range r.Output {
		t.put("%s\n", line)
	}
	return nil
}

// described is a description in one line; empty where the module was refused, and never asked for one.
func described(r wasm.Report) string {
	d := r.Description
	switch {
	case d != nil:
		return plain(d.Name + " " + d.Version + " " + d.Summary)
	case len(r.Findings) > 0 && r.Findings[0].Passed:
		return "nothing (it does not know the phase describe)"
	default:
		return ""
	}
}

// paramsFlag reads a JSON object from a flag.
func paramsFlag(text string) (json.RawMessage, error) {
	if text == "" {
		return nil, nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil || object == nil {
		return nil, usageError("--params must be a JSON object")
	}
	return json.RawMessage(text), nil
}

func batches(n int) string {
	if n == 1 {
		return "1 batch"
	}
	return strconv.Itoa(n) + " batches"
}
