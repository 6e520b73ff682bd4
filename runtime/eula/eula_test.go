package eula

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A changed text is a new agreement, which every agent's owner must accept anew: this test makes that a decision.
func TestTheEmbeddedAgreement(t *testing.T) {
	d := Embedded()
	require.Equal(t, "2026-11", d.Version)
	require.NoError(t, d.Check())
	for _, line := range strings.Split(d.Text, "\n") {
		require.LessOrEqual(t, len(line), 80, "it fits a terminal: %s", line)
	}
	for _, must := range []string{"What runs here", "What is measured", "What it may never do", "How to stop", "No warranty"} {
		require.Contains(t, d.Text, must)
	}
}

func TestParse(t *testing.T) {
	fill := func(n int) string { return "Version: 1\n" + strings.Repeat("x", n-len("Version: 1\n")) }
	for name, c := range map[string]struct{ text, wrong string }{
		"short":                  {"Version: 1", ""},
		"version further down":   {strings.Repeat("\n", versionLines-1) + "Version: a.b-c_1", ""},
		"version too far down":   {strings.Repeat("\n", versionLines) + "Version: 1", "first 10 lines"},
		"no version":             {"Read this.", "first 10 lines"},
		"long version":           {"Version: " + strings.Repeat("1", MaxVersion), ""},
		"version too long":       {"Version: " + strings.Repeat("1", MaxVersion+1), "at most 40"},
		"as long as it may be":   {fill(MaxBytes), ""},
		"one byte too many":      {fill(MaxBytes + 1), "at most 65536"},
		"empty":                  {"", "empty"},
		"not UTF-8":              {"Version: 1\n\xff", "UTF-8"},
		"an escape":              {"Version: 1\n\x1b[2J", "U+001B"},
		"carriage return":        {"Version: 1\r\n", "U+000D"},
		"direction turned round": {"Version: 1\n\u202e", "U+202E"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Parse([]byte(c.text))
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong)
				return
			}
			require.NoError(t, err)
			require.NoError(t, d.Check())
			d.Text += "!"
			require.Error(t, d.Check())
		})
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agreement.txt")
	_, err := Load(path)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, embedded, 0o600))
	d, err := Load(path)
	require.NoError(t, err)
	require.Equal(t, Embedded(), d)
	require.NoError(t, os.WriteFile(path, make([]byte, MaxBytes+1), 0o600))
	_, err = Load(path)
	require.ErrorContains(t, err, "at most 65536")
	_, err = Load(t.TempDir())
	require.Error(t, err)
}

func FuzzParse(f *testing.F) {
	f.Add(embedded)
	f.Add([]byte("Version: 1"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Parse(text)
		if err != nil {
			return
		}
		require.Equal(t, string(text), d.Text)
		require.NoError(t, d.Check())
		require.NotContains(t, d.Text, "\x1b")
	})
}
