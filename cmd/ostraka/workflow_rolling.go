package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
)

func newWorkflowExtend(t *terminal, server *serverFlags) *cobra.Command {
	var to, step string
	cmd := aboutRun(t, server, "extend", "extending", "Have rolling steps of a run go further", func(ctx context.Context, c *connection, id uuid.UUID) (*http.Response, error) {
		return c.ExtendWorkflowRun(ctx, c.project, id, nil, client.ExtendWorkflowRunRequest{To: to, Step: step})
	})
	extend := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if to == "" {
			return usageError("say with --to how far the steps are to go")
		}
		return extend(cmd, args)
	}
	cmd.Long = "Have rolling steps of a run go further: their range ends later from now on. A step that has finished is not extended."
	cmd.Example = "  ostraka workflow extend 01a1fe3b-6802-78bf-aa3a-e26a4f42cf10 --to 2^64+10^12"
	cmd.Flags().StringVar(&to, "to", "", "the new end of the range, which is not in it: an integer such as 2^64+10^12")
	cmd.Flags().StringVar(&step, "step", "", "which step; left out: all rolling steps of the run")
	return cmd
}

func newWorkflowRetry(t *terminal, server *serverFlags) *cobra.Command {
	var step string
	cmd := aboutRun(t, server, "retry", "retrying holes of", "Make new jobs for the holes of rolling steps", func(ctx context.Context, c *connection, id uuid.UUID) (*http.Response, error) {
		return c.RetryWorkflowRun(ctx, c.project, id, nil, client.RetryWorkflowRunRequest{Step: step})
	})
	cmd.Flags().StringVar(&step, "step", "", "which step; left out: all rolling steps of the run")
	return cmd
}

// rollingFields say how far a rolling step has come.
func rollingFields(s client.RunStep) [][2]string {
	p := s.Rolling
	if p == nil {
		return nil
	}
	fields := [][2]string{{"front of " + s.Name, frontLine(p)}}
	if p.OpenJobs > 0 {
		fields = append(fields, [2]string{"open", fmt.Sprintf("%s with %s, of at most %d", count(p.OpenJobs, "job"), count(p.OpenShards, "shard"), p.Ahead)})
	}
	if text := paceLine(p); text != "" {
		fields = append(fields, [2]string{"pace", text})
	}
	if p.Waits != "" {
		fields = append(fields, [2]string{"waits", plain(p.Waits)})
	}
	for _, h := range p.Holes {
		fields = append(fields, [2]string{"hole", holeLine(h)})
	}
	if len(p.Answer) > 0 {
		fields = append(fields, jsonFields("so far", p.Answer)...)
	}
	return fields
}

func frontLine(p *client.RollingProgress) string {
	text := fmt.Sprintf("everything below %s is verified: [%s, %s) of %s, with %s", p.Front, p.From, p.Front, p.To, count(p.Results, "result"))
	if p.Left != "0" {
		text += fmt.Sprintf("; %s integers are left", p.Left)
	}
	return text
}

func paceLine(p *client.RollingProgress) string {
	if p.PerSecond == 0 {
		return ""
	}
	parts := []string{strconv.FormatFloat(p.PerSecond, 'g', 4, 64) + " integers a second"}
	if p.Eta != nil {
		parts = append(parts, "through about "+shortTime(*p.Eta))
		if p.EtaEarliest != nil {
			parts = append(parts, "not before "+shortTime(*p.EtaEarliest))
		}
		parts = append(parts, "not after "+latest(p.EtaLatest))
	}
	return strings.Join(parts, ", ")
}

func latest(at *time.Time) string {
	if at == nil {
		return "a date that can be told"
	}
	return shortTime(*at)
}

func holeLine(h client.Hole) string {
	text := fmt.Sprintf("[%s, %s)", h.From, h.To)
	if h.Job != nil {
		text += " job " + h.Job.String()
	}
	switch h.State {
	case client.HoleStateAgain:
		text += " gets another job"
	case client.HoleStatePeople:
		text += " waits for people: see its flags, or aggregate it again"
	default:
		text += " came to nothing"
	}
	if h.Error != "" {
		text += ": " + h.Error
	}
	return plain(text)
}
