package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// defaultWeight is the weight of a new project, as the server has it.
const defaultWeight = 100

func newProject(t *terminal, server *serverFlags) *cobra.Command {
	return noun("project", "Tenants", newProjectCreate(t, server), newProjectList(t, server), newProjectGet(t, server), newProjectSet(t, server),
		newProjectQuotas(t, server), newProjectSetQuota(t, server), newProjectRecover(t, server), newProjectExport(t, server), newProjectImport(t, server))
}

func newProjectCreate(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a project and print its first owner's key",
		Long: "Create a project. It takes an operator's key. The project's first owner's key is printed, this once.",
		Args: arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := server.connect()
			if err != nil {
				return err
			}
			key := uuid.NewString()
			doc, err := answer.Read[client.CreatedProject](c.CreateProject(cmd.Context(), &client.CreateProjectParams{IdempotencyKey: &key}, client.NewProject{Name: args[0]}))
			if err != nil {
				return explain("creating the project", err)
			}
			if output.json() {
				return writeJSON(t.out, doc.Raw)
			}
			t.say("project %s is %s", doc.Value.Project.Name, doc.Value.Project.ID)
			return printSecret(t, &output, "owner's key", doc.Value.OwnerKey, nil)
		},
	}
	output.register(cmd.Flags())
	return cmd
}

func newProjectList(t *terminal, server *serverFlags) *cobra.Command {
	l := &listFlags{}
	cmd := &cobra.Command{
		Use: "list", Short: "List all projects; takes an operator's key", Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := l.check(); err != nil {
				return err
			}
			c, err := server.connect()
			if err != nil {
				return err
			}
			return show(t, l, "listing projects", []string{"PROJECT", "NAME", "FOLLOW-UPS", "CREATED"},
				func(p client.Project) []string {
					return []string{p.ID.String(), p.Name, onOff(p.FollowupsEnabled), shortTime(p.CreatedAt)}
				},
				func(cursor *string, size *int64) (*http.Response, error) {
					return c.ListProjects(cmd.Context(), &client.ListProjectsParams{Cursor: cursor, Limit: size})
				})
		},
	}
	l.register(cmd.Flags())
	return cmd
}

func newProjectGet(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "get", Short: "Show the project", Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.Project](c.GetProject(cmd.Context(), c.project, nil))
			if err != nil {
				return explain("getting the project", err)
			}
			if err := showProject(t, &output, doc); err != nil || output.json() {
				return err
			}
			return showProjectUse(cmd.Context(), t, c)
		},
	}
	output.register(cmd.Flags())
	return cmd
}

func newProjectSet(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	var followups, agents, isolation, heuristics string
	var limits thresholdChange
	var weight, seconds int64
	var keep, archive, records int64
	cmd := &cobra.Command{
		Use: "set", Short: "Change the project's settings", Args: arguments(0),
		Long: `Change the project's settings; the others stay as they are.

--agents listed lends work to agents that joined with the project's tokens or were approved for it;
--agents open to every agent of the installation that is approved and was not removed from the project.

--weight, with an operator's key, is the project's share of agents that serve several projects: one of
twice the weight has twice as many turns. --recheck-seconds, likewise, is for how many seconds a day
servers execute its shards; then its rechecks wait for midnight (UTC).

--keep-jobs is for how many days jobs are kept that have ended, with their results; older ones are deleted,
now and every hour. Fetch what you want to keep before: ostraka job results, job artifacts, job receipt.

--archive-jobs is after how many days such jobs become archives: their shards leave the database for a file
from which results are read as before; --keep-jobs ends archives, too.

--audit-retention is for how many days records of the audit log keep what they say; then their hashes are left,
so that the log still verifies. Export before what you want to keep: ostraka audit export.

Thresholds are for all sandboxes that work for the project, besides those of a function ([monitor] in its
function.toml) and of a machine's owner: the strictest hold. They are set all together.`,
		Example: "  ostraka project set --agents open --min-isolation linux",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			change, err := projectChange(followups, agents, isolation, &limits, heuristics)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("weight") {
				change.Weight = &weight
			}
			if cmd.Flags().Changed("recheck-seconds") {
				change.RecheckSeconds = &seconds
			}
			if cmd.Flags().Changed("keep-jobs") {
				change.KeepJobsDays = &keep
			}
			if cmd.Flags().Changed("archive-jobs") {
				change.ArchiveJobsDays = &archive
			}
			if cmd.Flags().Changed("audit-retention") {
				change.AuditDays = &records
			}
			if change == (client.ProjectChange{}) {
				return usageError("what to set? --followups, --agents, --min-isolation, --threshold, --heuristics, --weight, --recheck-seconds, --archive-jobs, --audit-retention or --keep-jobs")
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			doc, err := changeProject(cmd.Context(), c, change)
			if err != nil {
				return explain("changing the project", err)
			}
			return showProject(t, &output, doc)
		},
	}
	output.register(cmd.Flags())
	f := cmd.Flags()
	f.StringVar(&followups, "followups", "", "on or off: whether rules may start follow-up jobs")
	limits.register(f)
	f.StringVar(&heuristics, "heuristics", "", "what looks at code and results: a file of JSON (see docs/modules.md), none, or default, which is the server's")
	f.Int64Var(&weight, "weight", defaultWeight, "1 to 1000: the project's share of agents that serve several projects; takes an operator's key")
	f.Int64Var(&seconds, "recheck-seconds", 0, "for how many seconds a day servers execute the project's shards at most; 0: what the server says; takes an operator's key")
	f.Int64Var(&keep, "keep-jobs", 0, "for how many days ended jobs are kept, 1 to 36500; 0: until somebody deletes them")
	f.Int64Var(&archive, "archive-jobs", 0, "after how many days ended jobs become archives, 1 to 36500; 0: never; -1: what the server says")
	f.Int64Var(&records, "audit-retention", 0, "for how many days records of the audit log keep what they say, 1 to 36500; 0: until somebody prunes them; -1: what the server says")
	f.StringVar(&agents, "agents", "", "listed or open: which agents may work for the project")
	f.StringVar(&isolation, "min-isolation", "", "the weakest isolation that the project accepts: gvisor, container, wasm, linux, linux-nocgroup, landlock or process")
	return cmd
}

func projectChange(followups, agents, isolation string, limits *thresholdChange, heuristics string) (c client.ProjectChange, err error) {
	switch {
	case followups != "" && followups != "on" && followups != "off":
		return c, usageError("--followups is %q: choose on or off", followups)
	case agents != "" && agents != "listed" && agents != "open":
		return c, usageError("--agents is %q: choose listed or open", agents)
	}
	if c.Monitor, err = limits.read(); err != nil {
		return c, err
	}
	if c.Heuristics, err = readHeuristics(heuristics); err != nil {
		return c, err
	}
	if followups != "" {
		c.FollowupsEnabled = new(followups == "on")
	}
	if agents != "" {
		c.AgentsOpen = new(agents == "open")
	}
	if isolation != "" {
		level, err := bundle.ParseIsolation(isolation)
		if err != nil {
			return c, usageError("--min-isolation: %w", err)
		}
		c.MinIsolation = new(client.ProjectChangeMinIsolation(level))
	}
	return c, nil
}

// changeProject changes the project as it is now. Somebody who changes it in between is not overruled.
func changeProject(ctx context.Context, c *connection, change client.ProjectChange) (doc answer.Document[client.Project], err error) {
	if doc, err = answer.Read[client.Project](c.GetProject(ctx, c.project, nil)); err != nil {
		return doc, err
	}
	tag := doc.Header.Get("ETag")
	if tag == "" {
		return doc, errors.New("the server sent no ETag with the project")
	}
	return answer.Read[client.Project](c.UpdateProject(ctx, c.project, &client.UpdateProjectParams{IfMatch: &tag}, change))
}

func showProject(t *terminal, o *outputFlag, doc answer.Document[client.Project]) error {
	p := doc.Value
	return printOne(t, o, doc.Raw, [][2]string{
		{"project", p.ID.String()},
		{"name", p.Name},
		{"follow-ups", onOff(p.FollowupsEnabled)},
		{"agents", listedOpen(p.AgentsOpen)},
		{"asks for", p.MinIsolation},
		{"thresholds", thresholdWords(p.Monitor)},
		{"heuristics", heuristicsWords(p.Heuristics)},
		{"weight", fmt.Sprint(p.Weight)},
		{"server time", serverTimeText(p.RecheckSeconds)},
		{"archives", archivesText(p.ArchiveJobsDays)},
		{"audit records", recordsText(p.AuditDays)},
		{"ended jobs", keptForText(p.KeepJobsDays)},
		{"created", shortTime(p.CreatedAt)},
	})
}

// serverTimeText says for how long servers execute a project's shards.
func serverTimeText(perDay int64) string {
	if perDay == 0 {
		return "what the server says"
	}
	return fmt.Sprintf("%d s a day", perDay)
}

// archivesText says when jobs become archives.
func archivesText(days *int64) string {
	switch {
	case days == nil:
		return "what the server says"
	case *days == 0:
		return "made when somebody asks"
	default:
		return fmt.Sprintf("made %s after a job's end", count(*days, "day"))
	}
}

// recordsText says for how long records of the audit log keep what they say.
func recordsText(days *int64) string {
	switch {
	case days == nil:
		return "what the server says"
	case *days == 0:
		return "kept until somebody prunes them"
	default:
		return fmt.Sprintf("what they say is kept for %s, their hashes for ever", count(*days, "day"))
	}
}

// keptForText says for how long jobs are kept that have ended.
func keptForText(days int64) string {
	if days == 0 {
		return "kept until somebody deletes them"
	}
	return fmt.Sprintf("kept for %d days, then deleted", days)
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

func listedOpen(open bool) string {
	if open {
		return "open"
	}
	return "listed"
}
