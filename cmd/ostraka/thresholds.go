package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

// thresholdChange are the flags that change a project's thresholds.
type thresholdChange struct {
	texts   []string
	without bool
}

func (c *thresholdChange) register(f *pflag.FlagSet) {
	f.StringArrayVar(&c.texts, "threshold", nil, "what a sandbox may come to, for example memory.critical=95%; give the flag several times")
	f.BoolVar(&c.without, "no-thresholds", false, "take all thresholds away")
}

func (c *thresholdChange) nothing() bool { return len(c.texts) == 0 && !c.without }

// read returns what to set; nothing where the flags are not given.
func (c *thresholdChange) read() (*client.Thresholds, error) {
	switch {
	case c.nothing():
		return nil, nil
	case c.without && len(c.texts) > 0:
		return nil, usageError("--threshold and --no-thresholds exclude one another")
	}
	return thresholdFlags(c.texts)
}

// thresholdFlags reads what --threshold was given.
func thresholdFlags(texts []string) (*client.Thresholds, error) {
	var r threshold.Rules
	for _, text := range texts {
		if err := r.ParseFlag(text); err != nil {
			return nil, usageError("--threshold %w", err)
		}
	}
	if err := r.Check(); err != nil {
		return nil, usageError("--threshold: %w", err)
	}
	pair := func(p *threshold.Pair) *client.ThresholdPair {
		if p == nil {
			return nil
		}
		return &client.ThresholdPair{Warning: p.Warning, Critical: p.Critical}
	}
	return &client.Thresholds{
		CPU: pair(r.CPU), Memory: pair(r.Memory), Workspace: pair(r.Workspace), Network: pair(r.Network), Processes: pair(r.Processes), Output: pair(r.Output),
		Samples: int64(r.Samples),
	}, nil
}

// thresholdWords writes thresholds as --threshold takes them; "" where there are none.
func thresholdWords(t *client.Thresholds) string {
	if t == nil {
		return ""
	}
	var words []string
	for _, m := range []struct {
		name string
		pair *client.ThresholdPair
	}{{"cpu", t.CPU}, {"memory", t.Memory}, {"workspace", t.Workspace}, {"network", t.Network}, {"processes", t.Processes}, {"output", t.Output}} {
		if m.pair == nil {
			continue
		}
		for _, level := range [][2]string{{"warning", m.pair.Warning}, {"critical", m.pair.Critical}} {
			if level[1] != "" {
				words = append(words, m.name+"."+level[0]+"="+level[1])
			}
		}
	}
	if len(words) > 0 && t.Samples > 0 {
		words = append(words, fmt.Sprintf("samples=%d", t.Samples))
	}
	return strings.Join(words, " ")
}
