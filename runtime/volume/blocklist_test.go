//go:build unix

package volume

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBlocklist(t *testing.T) {
	home, own := filepath.Join(t.TempDir(), "me"), filepath.Join(t.TempDir(), "agent")
	t.Setenv("HOME", home)
	b := NewBlocklist(own)
	for path, says := range map[string]string{
		"/": "holds everything", "/etc": "nothing in /etc", "/etc/ssl/private": "nothing in /etc", "/proc": "nothing in /proc", "/proc/1/root": "nothing in /proc",
		"/sys/kernel": "nothing in /sys", "/dev/shm": "nothing in /dev", "/root": "nothing in /root", "/root/data": "nothing in /root", "/boot": "nothing in /boot",
		"/run/docker.sock": "can never be", "/var/run/docker.sock": "can never be", "/run": "it holds", "/var": "it holds", "/var/lib": "it holds",
		"/run/containerd": "can never be", "/run/containerd/s": "can never be", "/var/lib/docker/volumes": "can never be", "/var/lib/kubelet/pods": "can never be",
		home: "it holds", filepath.Dir(home): "it holds", filepath.Join(home, ".ssh"): "nothing in", filepath.Join(home, ".gnupg", "private-keys-v1.d"): "nothing in",
		filepath.Join(home, ".aws"): "nothing in", "/srv/someone/.ssh": "where keys lie", "/srv/x/.config/gcloud/logs": "where keys lie",
		own: "nothing in", filepath.Join(own, "python"): "nothing in", filepath.Dir(own): "it holds",
		"data": "no plain absolute path", "/srv/../etc": "no plain absolute path", "/srv//a": "no plain absolute path", "/srv/": "no plain absolute path", "": "no plain absolute path",
	} {
		require.ErrorContains(t, b.Check(path), says, "%q", path)
	}
	for _, path := range []string{"/srv", "/srv/data", "/data", "/mnt/disk", "/etcetera", "/rooted/x", "/run/media/me/disk", filepath.Join(home, "data"), filepath.Join(home, ".sshx"), own + "-data"} {
		require.NoError(t, b.Check(path), "%q", path)
	}
}

// A home that /etc/passwd does not know is found by what lies in it.
func TestBlocklistKnowsHomesByTheirKeys(t *testing.T) {
	dir := t.TempDir()
	b := NewBlocklist()
	require.NoError(t, b.Check(dir))
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".ssh"), 0o700))
	require.ErrorContains(t, b.Check(dir), "it holds .ssh, where keys lie")
}
