package main

import (
	"fmt"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/runtime/protocol"
)

func newVersion(t *terminal) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "version", Short: "Say which version this is", Args: arguments(0),
		RunE: func(*cobra.Command, []string) error {
			if err := output.check(); err != nil {
				return err
			}
			if output.json() {
				return writeValue(t.out, map[string]string{"version": version, "api": apiVersion, "agent_protocol": strconv.Itoa(protocol.Current), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
			}
			_, err := fmt.Fprint(t.out, versionLine())
			return err
		},
	}
	output.register(cmd.Flags())
	return cmd
}

// versionLine says which program this is, to people.
func versionLine() string {
	return fmt.Sprintf("ostraka %s (API %s, %s, %s/%s)\n", version, apiVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
