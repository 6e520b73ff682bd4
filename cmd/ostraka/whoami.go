package main

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newWhoami(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "whoami", Short: "Say which server and project commands use, and as whom", Args: arguments(0), Example: "  ostraka whoami -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := server.connect()
			if err != nil {
				return err
			}
			return whoami(cmd.Context(), t, &output, c)
		},
	}
	output.register(cmd.Flags())
	return cmd
}

// identity is what `ostraka whoami -o json` prints.
type identity struct {
	Server        string `json:"server"`
	ServerVersion string `json:"server_version"`
	Context       string `json:"context,omitempty"`
	Role          string `json:"role"`
	Project       string `json:"project,omitempty"`
	ProjectName   string `json:"project_name,omitempty"`
	Key           string `json:"key,omitempty"`
}

func whoami(ctx context.Context, t *terminal, o *outputFlag, c *connection) error {
	var version string
	who, err := answer.Read[client.Identity](seeVersion(&version)(c.GetSession(ctx)))
	if err != nil {
		return explain("asking who you are", err)
	}
	i := identity{Server: c.url, ServerVersion: version, Context: c.context, Role: string(who.Value.Role)}
	if id := who.Value.KeyID; id != nil {
		i.Key = id.String()
	}
	if id := who.Value.Project; id != nil {
		project, err := answer.Read[client.Project](c.GetProject(ctx, *id, nil))
		if err != nil {
			return explain("getting the project", err)
		}
		i.Project, i.ProjectName = id.String(), project.Value.Name
	}
	if o.json() {
		return writeValue(t.out, i)
	}
	return printFields(t, [][2]string{
		{"server", plain(i.Server)}, {"version", plain(i.ServerVersion)}, {"context", i.Context}, {"role", plain(i.Role)}, {"project", plain(i.ProjectName)}, {"project ID", i.Project}, {"key", i.Key},
	})
}

// seeVersion keeps the version that a server says of itself in its answer.
func seeVersion(version *string) func(*http.Response, error) (*http.Response, error) {
	return func(r *http.Response, err error) (*http.Response, error) {
		if err == nil {
			*version = r.Header.Get(client.HeaderServerVersion)
		}
		return r, err
	}
}
