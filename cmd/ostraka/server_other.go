//go:build !linux

package main

import (
	"errors"
	"runtime"

	"github.com/spf13/cobra"
)

// apiVersion is the version of the API's specification, which only servers have.
const apiVersion = "none"

// The commands that run a server. Its confinement of modules and its embedded database are made of what Linux has, and a server
// without them would be a danger to those who rely on it.
func newDemo(*terminal) *cobra.Command { return linuxOnly("demo", "Watch a liar being voted out") }

func newDev(*terminal) *cobra.Command {
	return linuxOnly("dev", "Run everything on this machine: database, server and agents")
}
func newServerCommand(*terminal) *cobra.Command { return linuxOnly("server", "Run a server") }
func newMigrate(*terminal) *cobra.Command       { return linuxOnly("migrate", "The database's schemas") }

func newDoctor(*terminal) *cobra.Command {
	return linuxOnly("doctor", "Say what keeps a server from working here")
}

func newBackup(*terminal) *cobra.Command {
	return linuxOnly("backup", "Copy the database and the objects into a folder")
}

func newRestore(*terminal) *cobra.Command {
	return linuxOnly("restore", "Make an installation of a backup, or check one")
}

// configKinds are the programs that take a file of settings.
func configKinds() []configKind { return []configKind{agentConfigKind()} }

func newOperatorKey(*terminal) *cobra.Command {
	return linuxOnly("operator-key", "Keys for those who run the installation")
}

// Modules are tried in the runner that servers have.
func newModuleTrial(*terminal) *cobra.Command {
	return linuxOnly("test", "Try a module here, without a server")
}

func newModuleTestRun(*terminal, *serverFlags) *cobra.Command {
	return linuxOnly("test-run", "Try a module of the project on the server")
}

func newOpenAPI(*terminal) *cobra.Command {
	return linuxOnly("openapi", "Print the API's specification")
}

func linuxOnly(name, short string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short + " (Linux only)", DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return &exitError{
				code: exitFailed, err: errors.New(cmd.CommandPath() + " runs on Linux only, and this is " + runtime.GOOS),
				hint: "run it on a Linux machine, in a container or in a virtual machine; agents and all commands that talk to a server work here",
			}
		},
	}
}
