package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/runtime/protocol"
)

// unknownVersion is that of a program that nothing was stamped on.
const unknownVersion = "unknown"

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

// stampedVersion is the version that the linker has set; of a program that plain go build has made it is the commit that Go has stamped it with.
func stampedVersion(set string, read func() (*debug.BuildInfo, bool)) string {
	info, found := read()
	if set != unknownVersion || !found {
		return set
	}
	stamp := map[string]string{}
	for _, s := range info.Settings {
		stamp[s.Key] = s.Value
	}
	commit := stamp["vcs.revision"]
	if commit == "" {
		return set
	}
	if commit = commit[:min(len(commit), 12)]; stamp["vcs.modified"] == "true" {
		commit += "-dirty"
	}
	return commit
}

// versionLine says which program this is, to people.
func versionLine() string {
	return fmt.Sprintf("ostraka %s (API %s, %s, %s/%s)\n", version, apiVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
