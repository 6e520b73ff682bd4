package agent

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/secretfile"
)

func TestKeyIsMadeOnceAndKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.key")
	made, err := loadKey(path)
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	again, err := loadKey(path)
	require.NoError(t, err)
	require.True(t, made.Equal(again))
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1, "no temporary file stays")
}

func TestKeyThatCannotBeUsedIsNotReplaced(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(ec)
	require.NoError(t, err)
	for name, test := range map[string]struct {
		content []byte
		mode    os.FileMode
		says    string
	}{
		"readable by others": {[]byte("x"), 0o644, "chmod 600"},
		"no PEM":             {[]byte("x"), 0o600, "no private key in PEM"},
		"not PKCS #8":        {pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")}), 0o600, "decoding it"},
		"another kind":       {pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600, "Ed25519"},
		"too large":          {make([]byte, secretfile.MaxBytes+1), 0o600, "no secret of ours"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "agent.key")
			require.NoError(t, os.WriteFile(path, test.content, test.mode))
			_, err := loadKey(path)
			require.ErrorContains(t, err, test.says)
			kept, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, test.content, kept)
		})
	}
}

func TestKeyBehindALinkIsRefused(t *testing.T) {
	dir := t.TempDir()
	_, err := loadKey(filepath.Join(dir, "real"))
	require.NoError(t, err)
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "agent.key")))
	_, err = loadKey(filepath.Join(dir, "agent.key"))
	require.Error(t, err)
}
