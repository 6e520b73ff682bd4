package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newProjectQuotas(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "quotas", Short: "Show what the project may have, and what of it is used", Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.Quotas](c.GetQuotas(cmd.Context(), c.project))
			if err != nil {
				return explain("getting the project's limits", err)
			}
			return showQuotas(t, &output, doc)
		},
	}
	output.register(cmd.Flags())
	return cmd
}

func newProjectSetQuota(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "set-quota NAME=VALUE…", Short: "Set what the project may have; takes an operator's key",
		Long: `Set limits of the project named by --project. A value is a number, none for no limit, or default for what holds
on this server. What the project has stays, also where it is more than it may have from then on.
"ostraka project quotas" lists the names.`,
		Example: "  ostraka project set-quota --project ID open_jobs=50 open_shards=1000000 polls=default",
		Args:    argumentsBetween(1, anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			limits, err := readQuotas(args)
			if err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.Quotas](c.SetQuotas(cmd.Context(), c.project, client.QuotaChange{Limits: limits}))
			if err != nil {
				return explain("setting the project's limits", err)
			}
			return showQuotas(t, &output, doc)
		},
	}
	output.register(cmd.Flags())
	return cmd
}

func readQuotas(args []string) (map[string]*int64, error) {
	limits := map[string]*int64{}
	for _, arg := range args {
		name, text, found := strings.Cut(arg, "=")
		if !found {
			return nil, usageError("%q is no limit: write NAME=VALUE, for example open_jobs=50", arg)
		}
		switch text {
		case "default":
			limits[name] = nil
		case "none":
			limits[name] = new(int64(0))
		default:
			value, err := strconv.ParseInt(text, 10, 64)
			if err != nil || value < 0 {
				return nil, usageError("%q is no value of a limit: write a number, none or default", text)
			}
			limits[name] = &value
		}
	}
	return limits, nil
}

func showQuotas(t *terminal, o *outputFlag, doc answer.Document[client.Quotas]) error {
	if o.json() {
		return writeJSON(t.out, doc.Raw)
	}
	table := newTable(t.out, "LIMIT", "USED", "MOST", "SET BY", "WHAT")
	for _, q := range doc.Value.Quotas {
		by := "server"
		if q.Own {
			by = "project"
		}
		table.row(q.Name, usedWords(q), mostWords(q), by, q.About)
	}
	return table.flush()
}

func usedWords(q client.Quota) string {
	if q.Used == nil {
		return "-"
	}
	return strconv.FormatInt(*q.Used, 10)
}

func mostWords(q client.Quota) string {
	if q.Limit == 0 {
		return "no limit"
	}
	return strconv.FormatInt(q.Limit, 10)
}

// showProjectUse shows what the project has and may have, below the project itself.
func showProjectUse(ctx context.Context, t *terminal, c *connection) error {
	doc, err := answer.Read[client.Quotas](c.GetQuotas(ctx, c.project))
	if err != nil {
		return explain("getting the project's limits", err)
	}
	var fields [][2]string
	for _, q := range doc.Value.Quotas {
		if q.Used != nil {
			fields = append(fields, [2]string{strings.ReplaceAll(q.Name, "_", " "), fmt.Sprintf("%d of %s", *q.Used, mostWords(q))})
		}
	}
	return printFields(t, fields)
}
