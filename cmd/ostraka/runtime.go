package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/bundle"
)

func newRuntime(t *terminal, server *serverFlags) *cobra.Command {
	return noun("runtime", "Python with packages and native code, for functions",
		newRuntimeBuild(t, server), newRuntimeImport(t, server), newRuntimeList(t, server), newRuntimeShow(t, server), newRuntimeDelete(t, server))
}

func newRuntimeList(t *terminal, server *serverFlags) *cobra.Command {
	return newList(server, "List runtimes", func(ctx context.Context, c *connection, l *listFlags) error {
		return show(t, l, "listing runtimes", []string{"NAME", "DIGEST", "PLATFORM", "PYTHON", "BYTES", "FILES", "CREATED"},
			func(r client.Runtime) []string {
				return []string{r.Name, shortDigest(r.Digest), r.Platform, r.Python, strconv.FormatInt(r.Bytes, 10), strconv.FormatInt(r.Files, 10), shortTime(r.CreatedAt)}
			},
			func(cursor *string, size *int64) (*http.Response, error) {
				return c.ListRuntimes(ctx, c.project, &client.ListRuntimesParams{Cursor: cursor, Limit: size})
			})
	})
}

func newRuntimeShow(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "show NAME|DIGEST", Aliases: []string{"get"}, Short: "Show a runtime, and how a function.toml names it",
		Long:    "Show a runtime by its digest, or the newest one of a name.",
		Example: "  ostraka runtime show numpy",
		Args:    arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.Runtime](c.GetRuntime(cmd.Context(), c.project, args[0]))
			if err != nil {
				return explain("getting the runtime "+args[0], err)
			}
			r := doc.Value
			return printOne(t, &output, doc.Raw, [][2]string{
				{"name", r.Name},
				{"digest", r.Digest},
				{"platform", r.Platform},
				{"python", r.Python},
				{"bytes", strconv.FormatInt(r.Bytes, 10)},
				{"files", strconv.FormatInt(r.Files, 10)},
				{"pieces", strconv.FormatInt(r.Pieces, 10)},
				{"created", shortTime(r.CreatedAt)},
				{"line", runtimeLine(r)},
			})
		},
	}
	output.register(cmd.Flags())
	return cmd
}

// runtimeLine is how a function.toml names a runtime.
func runtimeLine(r client.Runtime) string {
	return fmt.Sprintf("runtime = %q", bundle.PinnedRuntime(r.Name, r.Digest))
}

func newRuntimeDelete(t *terminal, server *serverFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete DIGEST", Short: "Delete a runtime that no open job needs",
		Long: `Delete a runtime. One that a job needs which has not ended stays. Functions in it stay as well, and no job of
theirs can be submitted until the same tree is there again.`,
		Example: "  ostraka runtime delete 4b38b2bbdd20731b0a917638054985979c422472d6522a00ebaffcfb385c46b3",
		Args:    arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			if _, err := answer.Read[struct{}](c.DeleteRuntime(cmd.Context(), c.project, args[0])); err != nil {
				return explain("deleting the runtime "+args[0], err)
			}
			t.say("deleted runtime %s", args[0])
			return nil
		},
	}
	return cmd
}
