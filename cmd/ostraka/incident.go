package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newIncident(t *terminal, server *serverFlags) *cobra.Command {
	return noun("incident", "Final results of agents that were caught later", newIncidentList(t, server), newIncidentShow(t, server))
}

func newIncidentList(t *terminal, server *serverFlags) *cobra.Command {
	var job string
	cmd := newList(server, "List jobs that keep final results of agents that were caught later", func(ctx context.Context, c *connection, l *listFlags) error {
		var of *uuid.UUID
		if job != "" {
			id, err := findJob(ctx, c, job)
			if err != nil {
				return err
			}
			of = &id
		}
		return show(t, l, "listing incidents", []string{"INCIDENT", "JOB", "AGENT", "SHARDS", "FOUND", "WHY"},
			func(i client.Incident) []string {
				return []string{i.ID.String(), i.Job.String(), i.Agent.String(), strconv.FormatInt(i.Shards, 10), shortTime(i.CreatedAt), i.Reason}
			},
			func(cursor *string, size *int64) (*http.Response, error) {
				return c.ListIncidents(ctx, c.project, &client.ListIncidentsParams{Job: of, Cursor: cursor, Limit: size})
			})
	})
	cmd.Flags().StringVar(&job, "job", "", "only those of this job")
	return cmd
}

func newIncidentShow(t *terminal, server *serverFlags) *cobra.Command {
	o := &outputFlag{}
	cmd := &cobra.Command{
		Use: "show INCIDENT", Short: "Show an incident with its shards", Args: arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			c, id, err := server.connectAbout(cmd.Context(), "incident", args[0])
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.IncidentDetail](c.GetIncident(cmd.Context(), c.project, id))
			if err != nil {
				return explain("getting the incident", err)
			}
			return printOne(t, o, doc.Raw, incidentFields(doc.Value))
		},
	}
	o.register(cmd.Flags())
	return cmd
}

func incidentFields(i client.IncidentDetail) [][2]string {
	numbers := make([]string, len(i.ShardNumbers))
	for n, shard := range i.ShardNumbers {
		numbers[n] = strconv.FormatInt(shard, 10)
	}
	return [][2]string{
		{"incident", i.ID.String()},
		{"job", i.Job.String()},
		{"it was", string(i.JobState)},
		{"agent", i.Agent.String()},
		{"why", i.Reason},
		{"found", shortTime(i.CreatedAt)},
		{"results", strconv.FormatInt(i.Shards, 10)},
		{"shards", cut(strings.Join(numbers, ", "))},
		{"what now", fmt.Sprintf("the bound of the job counts them in; ostraka job rerun %s makes the answer again, without this agent and its owner's others", i.Job)},
	}
}
