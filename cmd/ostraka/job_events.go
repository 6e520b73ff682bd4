package main

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// jobEventsOptions are the flags of `ostraka job events`.
type jobEventsOptions struct {
	listFlags
	terminal *terminal
	server   *serverFlags
	since    int64
}

func newJobEvents(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobEventsOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "events JOB", Short: "List what has happened to a job",
		Long: `List what has happened to a job, oldest first: who was caught, which shards went to a person, which
follow-ups were started, and which were not and why (follow_up_skipped).`,
		Args: arguments(1), ValidArgsFunction: server.complete(jobIDs),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	o.register(cmd.Flags())
	cmd.Flags().Int64Var(&o.since, "since", 0, "only events after the one with this number (SEQ)")
	return cmd
}

func (o *jobEventsOptions) run(ctx context.Context, job string) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.since < 0 {
		return usageError("--since is %d: events count from 1", o.since)
	}
	c, id, err := o.server.connectAbout(ctx, "job", job)
	if err != nil {
		return err
	}
	events, raw, more, err := gatherEvents(ctx, c, id, o.since, o.limit)
	if err != nil {
		return explain("listing events", err)
	}
	err = printRows(o.terminal, &o.outputFlag, events, raw, []string{"SEQ", "AT", "EVENT", "DATA"}, func(e client.Event) []string {
		return []string{strconv.FormatInt(e.Seq, 10), shortTime(e.At), e.Type, string(e.Data)}
	})
	if err == nil && more {
		o.terminal.say("there are more: --since %d goes on, --limit 0 shows all", events[len(events)-1].Seq)
	}
	return err
}

// gatherEvents collects events until there are enough; more says that there would be further ones.
func gatherEvents(ctx context.Context, c *connection, job uuid.UUID, since int64, limit int) (events []client.Event, raw []json.RawMessage, more bool, err error) {
	for {
		size := int64(pageSize)
		if limit > 0 {
			size = min(size, int64(limit-len(events))+1) // one more tells whether there is more
		}
		doc, err := answer.Read[pageOf[client.Event]](c.ListEvents(ctx, c.project, job, &client.ListEventsParams{Since: &since, Limit: &size}))
		if err != nil {
			return nil, nil, false, err
		}
		for _, i := range doc.Value.Items {
			if limit > 0 && len(events) == limit {
				return events, raw, true, nil
			}
			events, raw = append(events, i.value), append(raw, i.raw)
			since = i.value.Seq
		}
		if int64(len(doc.Value.Items)) < size {
			return events, raw, false, nil
		}
	}
}
