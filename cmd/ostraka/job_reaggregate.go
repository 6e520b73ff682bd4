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

// reaggregateOptions are the flags of `ostraka job reaggregate`.
type reaggregateOptions struct {
	jobOptions
	aggregator string
	params     string
}

func newJobReaggregate(t *terminal, server *serverFlags) *cobra.Command {
	o := &reaggregateOptions{jobOptions: jobOptions{terminal: t, server: server}}
	cmd := &cobra.Command{
		Use: "reaggregate JOB", Short: "Fold a job's results again, with another module or a fixed one",
		Long: `Fold the accepted results of a job again; no shard runs. A job that is held, because its aggregator has
failed, goes on with it. A job that has ended keeps its answer until the new one stands; the old one is
kept as well: "ostraka job aggregations" lists them. A module of the project is taken in its newest
version.`,
		Example: `  ostraka module push mended.wasm --name histogram
  ostraka job reaggregate JOB
  ostraka job reaggregate JOB --aggregator max --params '{"field":"score"}'`,
		Args: arguments(1), ValidArgsFunction: server.complete(jobIDs),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	f := cmd.Flags()
	o.register(f)
	f.StringVar(&o.aggregator, "aggregator", "", "a module of the project or a built-in one; the job's own when left out")
	f.StringVar(&o.params, "params", "", "parameters of the aggregator, a JSON object; the job's own when left out")
	return cmd
}

func (o *reaggregateOptions) run(ctx context.Context, job string) error {
	if err := o.check(); err != nil {
		return err
	}
	request := client.AggregationRequest{Module: o.aggregator}
	if o.params != "" {
		if !json.Valid([]byte(o.params)) {
			return usageError("--params %q is not JSON: give an object such as '{\"field\":\"score\"}'", o.params)
		}
		request.Params = json.RawMessage(o.params)
	}
	c, id, err := o.server.connectAbout(ctx, "job", job)
	if err != nil {
		return err
	}
	key := uuid.NewString()
	doc, err := answer.Read[client.Job](c.ReaggregateJob(ctx, c.project, id, &client.ReaggregateJobParams{IdempotencyKey: &key}, request))
	if err != nil {
		return explain("aggregating the job again", err)
	}
	return showJob(o.terminal, &o.outputFlag, doc.Raw, doc.Value)
}

func newJobAggregations(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobOptions{terminal: t, server: server}
	return newJobCommand(o, "aggregations", "List the aggregations of a job",
		"List the aggregations of a job: the one that it was submitted with, and those that were asked for later.",
		func(ctx context.Context, c *connection, id uuid.UUID) error {
			limit := int64(pageSize)
			doc, err := answer.Read[pageOf[client.Aggregation]](c.ListAggregations(ctx, c.project, id, &client.ListAggregationsParams{Limit: &limit}))
			if err != nil {
				return explain("listing aggregations", err)
			}
			var list []client.Aggregation
			var raw []json.RawMessage
			for _, i := range doc.Value.Items {
				list, raw = append(list, i.value), append(raw, i.raw)
			}
			return printRows(t, &o.outputFlag, list, raw, []string{"RUN", "SHOWN", "AGGREGATOR", "STATE", "PAGES", "ANSWER"}, aggregationRow)
		})
}

func aggregationRow(a client.Aggregation) []string {
	module, result := "none", a.Error
	if a.Aggregator != nil {
		module = a.Aggregator.Module + " " + shortDigest(a.Aggregator.Digest)
	}
	if a.Aggregate != nil && a.Aggregate.Preview == nil {
		result = firstOf(a.Aggregate.Object, string(a.Aggregate.Value))
	}
	pages := strconv.FormatInt(a.PagesFolded, 10) + " of " + strconv.FormatInt(a.PagesTotal, 10)
	return []string{strconv.FormatInt(a.Run, 10), yes(a.Current), module, string(a.State), pages, cut(result)}
}
