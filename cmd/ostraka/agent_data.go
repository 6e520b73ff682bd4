package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
)

// dataFlag says which agent of this machine a command is about: the one whose folder this is.
type dataFlag struct{ path string }

func (d *dataFlag) register(f *pflag.FlagSet) {
	f.StringVar(&d.path, "data", "", "the agent's folder, as agent start has it")
}

func (d *dataFlag) dir() (string, error) { return agentDataDir(d.path) }

// agentDataDir is the agent's folder: the one that is named, or the usual one of the user.
func agentDataDir(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", usageError("there is no folder for the agent's data (%v): give one with --data", err)
	}
	return filepath.Join(home, ".local", "share", "ostraka", "agent"), nil
}
