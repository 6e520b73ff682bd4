package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// flagOptions are what `ostraka flag show` and `ostraka flag resolve` share.
type flagOptions struct {
	outputFlag
	terminal *terminal
	server   *serverFlags
}

func newFlagShow(t *terminal, server *serverFlags) *cobra.Command {
	o := &flagOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "show FLAG", Short: "Show a flag, how the answers differ, and what each decision will do", Args: arguments(1),
		ValidArgsFunction: server.complete(flagIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			c, id, err := server.connectAbout(cmd.Context(), "flag", args[0])
			if err != nil {
				return err
			}
			doc, err := getFlag(cmd.Context(), c, id)
			if err != nil {
				return err
			}
			return o.printFlag(cmd.Context(), c, doc)
		},
	}
	o.register(cmd.Flags())
	return cmd
}

func getFlag(ctx context.Context, c *connection, id uuid.UUID) (answer.Document[client.FlagDetail], error) {
	doc, err := answer.Read[client.FlagDetail](c.GetFlag(ctx, c.project, id))
	if err != nil {
		return doc, explain("getting the flag", err)
	}
	return doc, nil
}

func flagIDs(ctx context.Context, c *connection) ([]string, error) {
	return suggestions(func(f client.Flag) string { return f.ID.String() + "\t" + f.Kind },
		func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListFlags(ctx, c.project, &client.ListFlagsParams{Cursor: cursor, Limit: size})
		})
}

func (o *flagOptions) printFlag(ctx context.Context, c *connection, doc answer.Document[client.FlagDetail]) error {
	if o.json() {
		return writeJSON(o.terminal.out, doc.Raw)
	}
	names, err := lookUpNames(ctx, c)
	if err != nil {
		names = nil // their IDs do as well
	}
	f := doc.Value
	if err := printOne(o.terminal, &o.outputFlag, nil, flagFields(f, names)); err != nil {
		return err
	}
	printSamples(o.terminal, f, names)
	printFlagControls(o.terminal, f, names)
	if f.Item != nil {
		if err := printGroups(o.terminal, *f.Item, names); err != nil {
			return err
		}
	}
	printDecisions(o.terminal, f)
	return nil
}

func flagFields(f client.FlagDetail, names agentNames) [][2]string {
	fields := [][2]string{
		{"flag", f.ID.String()}, {"kind", f.Kind}, {"rule", f.Rule}, {"state", string(f.State)},
	}
	add := func(name, value string) { fields = append(fields, [2]string{name, value}) }
	if f.Function != "" {
		add("function", fmt.Sprintf("%s, version %d", f.Function, f.Version))
	}
	if f.Job != nil {
		add("job", f.Job.String())
	}
	if f.Shard != nil {
		add("shard", numberText(f.Shard))
	}
	if f.Agent != nil {
		add("agent", names.of(*f.Agent))
	}
	add("decision", f.Decision)
	if f.Times > 1 {
		add("happened", fmt.Sprintf("%d times, from %s to %s", f.Times, shortTime(f.CreatedAt), shortTime(f.LastAt)))
	} else {
		add("happened", shortTime(f.CreatedAt))
	}
	if _, own := controlsOfFlag(f); string(f.Detail) != "{}" && !own {
		add("detail", string(f.Detail))
	}
	if f.ResolvedAt != nil {
		add("resolved", fmt.Sprintf("%s by %s: %s", shortTime(*f.ResolvedAt), f.ResolvedBy, f.Resolution))
		add("reason", f.Reason)
	}
	if f.Item != nil {
		add("input", cut(string(f.Item.Input)))
		add("shard is", string(f.Item.State))
		add("why", reasonsText(f.Item.Reasons))
	}
	return fields
}

func printSamples(t *terminal, f client.FlagDetail, names agentNames) {
	if len(f.Samples) == 0 {
		return
	}
	t.put("\nfurther occurrences, %d of %d:\n", len(f.Samples), f.Times-1)
	for _, s := range f.Samples {
		where := ""
		if s.Shard != nil {
			where += " shard " + numberText(s.Shard)
		}
		if s.Agent != nil {
			where += " " + names.of(*s.Agent)
		}
		t.put("  %s%s %s\n", shortTime(s.At), plain(where), plain(cut(string(s.Detail))))
	}
}

// printGroups prints the answers of a shard, and how they differ from the reference.
func printGroups(t *terminal, item client.FlagItem, names agentNames) error {
	if len(item.Groups) == 0 {
		t.put("\nno attempt of the shard was reported\n")
		return nil
	}
	t.put("\n")
	table := newTable(t.out, "DIGEST", "STATUS", "BY", "OUTPUT", "")
	for _, g := range item.Groups {
		table.row(firstOf(shortDigest(g.Digest), "-"), g.Status, givers(g, names), cut(firstOf(string(g.Output), g.Exception, "-")), groupMarks(g))
	}
	if err := table.flush(); err != nil {
		return err
	}
	for _, g := range item.Groups {
		printDifferences(t, g, shortDigest(item.Groups[0].Digest))
	}
	return nil
}

func givers(g client.AnswerGroup, names agentNames) string {
	who := make([]string, len(g.Agents))
	for i, a := range g.Agents {
		who[i] = names.of(a)
	}
	return strings.Join(who, ", ")
}

func groupMarks(g client.AnswerGroup) string {
	var marks []string
	if g.Accepted {
		marks = append(marks, "accepted")
	}
	if g.Reference {
		marks = append(marks, "reference")
	}
	return strings.Join(marks, ", ")
}

func printDifferences(t *terminal, g client.AnswerGroup, reference string) {
	name := plain(firstOf(shortDigest(g.Digest), g.Status))
	if g.NotCompared != "" {
		t.put("\n%s is not compared: %s\n", name, plain(g.NotCompared))
	}
	if len(g.Differences) == 0 {
		return
	}
	t.put("\n%s differs from %s:\n", name, plain(reference))
	for _, d := range g.Differences {
		t.put("  %s: %s, not %s\n", plain(d.Path), plain(firstOf(d.Here, "nothing")), plain(firstOf(d.Reference, "nothing")))
	}
	if g.MoreDifferences {
		t.put("  and more\n")
	}
}

func printDecisions(t *terminal, f client.FlagDetail) {
	if len(f.Decisions) == 0 {
		return
	}
	t.put("\nwhat can be decided:\n")
	for _, d := range f.Decisions {
		t.put("  --%s\n      %s\n", plain(strings.TrimSpace(string(d.Decision)+" "+shortDigest(d.Digest))), plain(d.Effect))
	}
	t.put("\n  %s flag resolve %s --DECISION --reason TEXT\n", t.program, f.ID)
}
