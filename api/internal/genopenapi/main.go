// Genopenapi writes openapi.yaml. It is run by go generate.
package main

import (
	"fmt"
	"os"

	"github.com/ostraka/ostraka/api"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "genopenapi:", err)
		os.Exit(1) //nolint:forbidigo // this is main
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: genopenapi FILE")
	}
	text, err := api.OpenAPIYAML()
	if err != nil {
		return err
	}
	if err := os.WriteFile(args[0], text, 0o644); err != nil {
		return fmt.Errorf("writing the specification: %w", err)
	}
	return nil
}
