package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/ostraka/ostraka/client"
)

// readHeuristics reads a policy of heuristics, a project's or a job's: a file of JSON, none or default. Nothing leaves it as it is.
func readHeuristics(from string) (*client.HeuristicsPolicy, error) {
	switch from {
	case "":
		return nil, nil
	case "none":
		return &client.HeuristicsPolicy{}, nil
	case "default":
		return &client.HeuristicsPolicy{Default: true}, nil
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return nil, usageError("--heuristics: %w", err)
	}
	var policy client.HeuristicsPolicy
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&policy); err != nil {
		return nil, usageError("--heuristics %s: %v; write for example {\"use\": [{\"module\": \"code-risk\", \"rules\": [{\"at\": 0.5, \"do\": \"flag\"}]}]}", from, err)
	}
	return &policy, nil
}

// heuristicsWords says in a line what follows from which score.
func heuristicsWords(p *client.HeuristicsPolicy) string {
	if p == nil {
		return "the server's default"
	}
	if len(p.Use) == 0 {
		return "none"
	}
	var all []string
	for _, u := range p.Use {
		all = append(all, ruleWords(u.Module, u.Rules))
	}
	return strings.Join(all, "; ")
}

func ruleWords(module string, list []client.HeuristicRule) string {
	var rules []string
	for _, r := range list {
		rules = append(rules, fmt.Sprintf("%s from %g", r.Do, r.At))
	}
	return module + " (" + strings.Join(rules, ", ") + ")"
}

// resultHeuristicsText says in a line what looks at a job's results.
func resultHeuristicsText(list []client.HeuristicRef) string {
	var all []string
	for _, h := range list {
		all = append(all, ruleWords(h.Module, h.Rules))
	}
	return strings.Join(all, "; ")
}
