package service

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// bootedSystem is a machine with systemd that fails when it is told to.
type bootedSystem struct {
	users map[string]bool
	ran   []string
	fail  string
}

func (b *bootedSystem) Booted() bool                      { return true }
func (b *bootedSystem) HasUser(name string) (bool, error) { return b.users[name], nil }
func (b *bootedSystem) Run(_ context.Context, program string, arguments ...string) error {
	b.ran = append(b.ran, program+" "+arguments[0])
	if program == b.fail {
		return errors.New(program + " fails")
	}
	return nil
}

// The steps besides the files, which stay out of it here: they need no root.
func TestUserAndServiceAreMadeAndTakenBack(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, Agent.etc), 0o755))
	system := &bootedSystem{users: map[string]bool{"lab": true}}
	i := &installer{Options: Options{Kind: Agent, User: Agent.Name, Root: ""}, system: system, say: func(Step) {}, dryRun: true}
	require.NoError(t, i.user(t.Context()))
	require.NoError(t, i.start(t.Context()))
	require.Empty(t, system.ran)

	i.User = "nobody-here"
	require.ErrorContains(t, i.user(t.Context()), "no user nobody-here")
	i.User = "lab"
	require.NoError(t, i.user(t.Context()))
	require.Empty(t, i.manifest.User, "a user that was there is not ours")
}

func TestUninstallStopsFirst(t *testing.T) {
	system := &bootedSystem{fail: "systemctl"}
	u := &remover{Removal: Removal{Kind: Agent}, system: system, say: func(Step) {}}
	require.Error(t, u.stop(t.Context()), "what cannot be stopped is not removed")
	system.fail = ""
	require.NoError(t, u.stop(t.Context()))
	require.Equal(t, []string{"systemctl disable", "systemctl disable"}, system.ran)
}
