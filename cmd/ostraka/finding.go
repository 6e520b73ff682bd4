package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newFinding(t *terminal, server *serverFlags) *cobra.Command {
	return noun("finding", "What heuristics have found", newFindingList(t, server), newFindingShow(t, server))
}

// findingListOptions are the flags of `ostraka finding list`.
type findingListOptions struct {
	listFlags
	terminal  *terminal
	server    *serverFlags
	function  string
	job       string
	heuristic string
	version   int64
}

func newFindingList(t *terminal, server *serverFlags) *cobra.Command {
	o := &findingListOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "list", Short: "List what heuristics have found", Args: arguments(0),
		Long: `List what heuristics have found in functions and in results of jobs. A finding is advice: what follows from it is the project's
policy (ostraka project set --heuristics), and it never accepts anything.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	f := cmd.Flags()
	o.register(f)
	f.StringVar(&o.function, "function", "", "only findings about this function")
	f.Int64Var(&o.version, "version", 0, "only findings about this version")
	f.StringVar(&o.job, "job", "", "only findings about this job")
	f.StringVar(&o.heuristic, "heuristic", "", "only findings of this heuristic")
	return cmd
}

func (o *findingListOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	params := client.ListFindingsParams{Function: given(o.function), Heuristic: given(o.heuristic)}
	if o.version > 0 {
		params.Version = &o.version
	}
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	if o.job != "" {
		id, err := findJob(ctx, c, o.job)
		if err != nil {
			return err
		}
		params.Job = &id
	}
	return show(o.terminal, &o.listFlags, "listing findings", []string{"FINDING", "HEURISTIC", "FUNCTION", "WHERE", "SCORE", "LABELS", "ACTIONS"},
		func(f client.HeuristicFinding) []string {
			return []string{
				f.ID.String(), f.Heuristic, fmt.Sprintf("%s@%d", f.Function, f.Version), findingPlace(f), scoreText(f.Score),
				strings.Join(f.Labels, " "), strings.Join(actionTexts(f.Actions), " "),
			}
		},
		func(cursor *string, size *int64) (*http.Response, error) {
			page := params
			page.Cursor, page.Limit = cursor, size
			return c.ListFindings(ctx, c.project, &page)
		})
}

// findingPlace is the file of a finding, or its job and shard.
func findingPlace(f client.HeuristicFinding) string {
	if f.Job == nil || f.Shard == nil {
		return firstOf(f.File, "-")
	}
	return fmt.Sprintf("%s/%d", f.Job, *f.Shard)
}

func scoreText(score float64) string { return strconv.FormatFloat(score, 'f', 2, 64) }

func actionTexts[A ~string](actions []A) []string {
	texts := make([]string, len(actions))
	for i, a := range actions {
		texts[i] = string(a)
	}
	return texts
}

func newFindingShow(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "show FINDING", Short: "Show a finding with the lines or the measures that weigh", Args: arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			id, err := parseID("finding", args[0])
			if err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.HeuristicFinding](c.GetFinding(cmd.Context(), c.project, id))
			if err != nil {
				return explain("getting the finding", err)
			}
			return showFinding(t, &output, doc)
		},
	}
	output.register(cmd.Flags())
	return cmd
}

func showFinding(t *terminal, o *outputFlag, doc answer.Document[client.HeuristicFinding]) error {
	f := doc.Value
	fields := [][2]string{
		{"finding", f.ID.String()},
		{"heuristic", f.Heuristic},
		{"function", fmt.Sprintf("%s version %d", f.Function, f.Version)},
		{"where", findingPlace(f)},
		{"score", scoreText(f.Score)},
		{"labels", strings.Join(f.Labels, " ")},
		{"followed", strings.Join(actionTexts(f.Actions), " ")},
		{"says", f.Explanation},
	}
	if f.Agent != nil {
		fields = append(fields, [2]string{"agent", f.Agent.String()})
	}
	for _, p := range f.Places {
		if f.Shard != nil {
			fields = append(fields, [2]string{p.Label, fmt.Sprintf("%s %s", scoreText(p.Weight), p.What)})
		} else {
			fields = append(fields, [2]string{fmt.Sprintf("line %d", p.Line), fmt.Sprintf("%s %s: %s", scoreText(p.Weight), p.Label, p.Text)})
		}
	}
	return printOne(t, o, doc.Raw, fields)
}
