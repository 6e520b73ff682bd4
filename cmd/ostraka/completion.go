package main

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
)

// completionLimit is how long a person who pressed Tab waits.
const completionLimit = 2 * time.Second

// completer suggests words; what comes after a tab explains one.
type completer func(ctx context.Context, c *connection) ([]string, error)

// complete makes of a completer what cobra wants, for the first argument. Whatever goes wrong, it suggests nothing.
func (f *serverFlags) complete(suggest completer) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		c, err := f.connectProject()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(contextOf(cmd)), completionLimit)
		defer cancel()
		words, err := suggest(ctx, c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// contextOf is the command's context; completion runs without one.
func contextOf(cmd *cobra.Command) context.Context {
	if ctx := cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

// suggestions turns a page of a list into words.
func suggestions[T any](word func(T) string, page func(cursor *string, size *int64) (*http.Response, error)) ([]string, error) {
	items, _, _, err := gather[T](defaultListed, page)
	words := make([]string, len(items))
	for i, item := range items {
		words[i] = plain(word(item))
	}
	return words, err
}

func functionNames(ctx context.Context, c *connection) ([]string, error) {
	return suggestions(func(f client.FunctionVersion) string { return f.Name + "\t" + f.Manifest.Description },
		func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListFunctions(ctx, c.project, &client.ListFunctionsParams{Cursor: cursor, Limit: size})
		})
}

func jobIDs(ctx context.Context, c *connection) ([]string, error) {
	return suggestions(func(j client.Job) string { return j.ID.String() + "\t" + j.Function + ", " + string(j.State) },
		func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListJobs(ctx, c.project, &client.ListJobsParams{Cursor: cursor, Limit: size})
		})
}

func moduleNames(ctx context.Context, c *connection) ([]string, error) {
	return suggestions(func(m client.Module) string { return m.Name + "\t" + m.Kind },
		func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListModules(ctx, c.project, &client.ListModulesParams{Cursor: cursor, Limit: size})
		})
}

func ruleIDs(ctx context.Context, c *connection) ([]string, error) {
	return suggestions(func(r client.Rule) string { return r.ID.String() + "\t" + r.Spec.Name },
		func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListRules(ctx, c.project, &client.ListRulesParams{Cursor: cursor, Limit: size})
		})
}

func scheduleNames(ctx context.Context, c *connection) ([]string, error) {
	return suggestions(func(s client.Schedule) string { return s.Spec.Name + "\t" + timesText(s.Spec) },
		func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListSchedules(ctx, c.project, &client.ListSchedulesParams{Cursor: cursor, Limit: size})
		})
}

func webhookNames(ctx context.Context, c *connection) ([]string, error) {
	return suggestions(func(w client.Webhook) string { return w.Name + "\t" + strings.Join(w.Kinds, ",") },
		func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListWebhooks(ctx, c.project, &client.ListWebhooksParams{Cursor: cursor, Limit: size})
		})
}

func keyIDs(ctx context.Context, c *connection) ([]string, error) {
	return suggestions(func(k client.Key) string { return k.ID.String() + "\t" + k.Name + ", " + string(k.Role) },
		func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListKeys(ctx, c.project, &client.ListKeysParams{Cursor: cursor, Limit: size})
		})
}

func tokenIDs(ctx context.Context, c *connection) ([]string, error) {
	return suggestions(func(t client.EnrolmentToken) string { return t.ID.String() + "\t" + t.Name },
		func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListEnrolmentTokens(ctx, c.project, &client.ListEnrolmentTokensParams{Cursor: cursor, Limit: size})
		})
}

func agentIDs(ctx context.Context, c *connection) ([]string, error) {
	return suggestions(func(a client.ProjectAgent) string { return a.ID.String() + "\t" + a.Name },
		func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListProjectAgents(ctx, c.project, &client.ListProjectAgentsParams{Cursor: cursor, Limit: size})
		})
}
