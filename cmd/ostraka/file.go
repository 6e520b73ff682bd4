package main

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newFile(t *terminal, server *serverFlags) *cobra.Command {
	return noun("file", "Named files of a project, which jobs read", newFilePut(t, server), newFileList(t, server), newFileGet(t, server), newFileRemove(t, server))
}

func newFileList(t *terminal, server *serverFlags) *cobra.Command {
	l := &listFlags{}
	cmd := &cobra.Command{
		Use: "list [PREFIX]", Short: "List files, or those whose names begin with PREFIX", Args: argumentsBetween(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.check(); err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			prefix := ""
			if len(args) > 0 {
				prefix = args[0]
			}
			return show(t, l, "listing files", []string{"NAME", "BYTES", "DIGEST", "UPDATED"}, func(f client.NamedFile) []string {
				return []string{f.Name, strconv.FormatInt(f.Size, 10), shortDigest(f.Digest), shortTime(f.UpdatedAt)}
			}, func(cursor *string, size *int64) (*http.Response, error) {
				return c.files(cmd.Context(), prefix, cursor, size)
			})
		},
	}
	l.register(cmd.Flags())
	return cmd
}

// files asks for a page of the files under a prefix.
func (c *connection) files(ctx context.Context, prefix string, cursor *string, size *int64) (*http.Response, error) {
	return c.ListFiles(ctx, c.project, &client.ListFilesParams{Prefix: &prefix, Cursor: cursor, Limit: size})
}

func newFileGet(t *terminal, server *serverFlags) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "get NAME", Short: "Read a file, to stdout or to a file here", Args: arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.NamedFile](c.GetFile(cmd.Context(), c.project, args[0]))
			if err != nil {
				return explain("reading the file", err)
			}
			return getObject(cmd.Context(), t, c, doc.Value.Digest, file)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "write to this file instead of stdout")
	return cmd
}

func newFileRemove(t *terminal, server *serverFlags) *cobra.Command {
	return &cobra.Command{
		Use: "rm NAME...", Short: "Take names away; jobs that were submitted still read the files", Args: argumentsBetween(1, anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			var failed error
			for _, name := range args {
				if _, err := answer.Read[struct{}](c.DeleteFile(cmd.Context(), c.project, name, nil)); err != nil {
					failed = errors.Join(failed, explain("removing the file "+name, err))
					continue
				}
				t.say("removed the file %s", name)
			}
			return failed
		},
	}
}
