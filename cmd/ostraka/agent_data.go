package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
)

// dataFlag says which agent of this machine a command is about: the one whose folder this is.
type dataFlag struct{ path string }

func (d *dataFlag) register(f *pflag.FlagSet) {
	f.StringVar(&d.path, "data", "", "the agent's folder, as agent start has it; left out: your own agent's, or that of the service")
}

// serviceDataDir is where the agent has its data that was installed as a service.
const serviceDataDir = "/var/lib/ostraka-agent"

// dir is the folder of the agent that is meant: the one that is named, the user's own, or, where the user has none, that of the service.
func (d *dataFlag) dir() (string, error) {
	dir, err := agentDataDir(d.path)
	if err != nil || d.path != "" {
		return dir, err
	}
	return existing(dir, serviceDataDir), nil
}

// existing is the second folder where it exists and the first one does not.
func existing(first, second string) string {
	if _, err := os.Stat(first); !errors.Is(err, fs.ErrNotExist) {
		return first
	}
	if _, err := os.Stat(second); err != nil {
		return first
	}
	return second
}

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
