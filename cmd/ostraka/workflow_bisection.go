package main

import (
	"fmt"
	"strings"

	"github.com/ostraka/ostraka/client"
)

// bisectionFields say what a check whose identity does not hold looks for, and what it has found.
func bisectionFields(s client.RunStep) [][2]string {
	b := s.Bisection
	if b == nil {
		return nil
	}
	var fields [][2]string
	if b.Step != "" {
		text := fmt.Sprintf("for a wrong shard of %s: the sides differ over [%s, %s); %s so far", b.Step, b.From, b.To, count(b.Jobs, "job"))
		fields = append(fields, [2]string{"searches", plain(text)})
	}
	for _, w := range b.Found {
		fields = append(fields, [2]string{"wrong", plain(wrongLine(w))})
	}
	return fields
}

func wrongLine(w client.WrongShard) string {
	text := fmt.Sprintf("shard %d of %s, [%s, %s)", w.Shard, w.Step, w.From, w.To)
	if w.Job != nil {
		text += " in job " + w.Job.String()
	}
	if len(w.Instead) > 0 {
		text += fmt.Sprintf(": was %s, is %s", cut(string(w.Was)), cut(string(w.Instead)))
	}
	var hands []string
	for _, h := range w.Agents {
		hand := "agent " + h.Agent.String()
		if h.Owner != "" {
			hand += " of " + h.Owner
		}
		hands = append(hands, hand)
	}
	if len(hands) == 0 {
		hands = []string{"no agent"}
	}
	return text + "; given by " + strings.Join(hands, ", ") + "; found with " + count(w.Jobs, "job")
}
