//go:build linux

package main

import (
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/api"
)

// newOpenAPI prints the specification, from which openapi.yaml and the client are made.
func newOpenAPI(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use: "openapi", Short: "Print the API's specification", Hidden: true, Args: arguments(0),
		RunE: func(*cobra.Command, []string) error {
			spec, err := api.OpenAPIYAML()
			if err != nil {
				return err
			}
			_, err = t.out.Write(spec)
			return err
		},
	}
}
