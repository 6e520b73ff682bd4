package agent

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/codereader"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// fakeReader finds what it is told.
type fakeReader struct {
	findings []guardian.Finding
	err      error
}

func (r *fakeReader) Read(context.Context, *bundle.Bundle) (codereader.Reading, error) {
	return codereader.Reading{Findings: r.findings, Whole: true}, r.err
}

func (r *fakeReader) Close() {}

func TestWhatTheGuardianRefusesIsNotRun(t *testing.T) {
	t.Parallel()
	found := func(rule string) *fakeReader {
		return &fakeReader{findings: []guardian.Finding{{File: "main.py", Line: 3, Rule: rule, What: "what it saw", Weight: 0.5}}}
	}
	for name, c := range map[string]struct {
		reader     *fakeReader
		prefs      string
		code, says string // none: it runs
	}{
		"denied":           {found("privilege"), "", refusedGuardian, "no-privilege, refuses it: it becomes another user, by sudo, su or the like (main.py, line 3: what it saw)"},
		"denied for all":   {found("wipe"), "", refusedGuardian, "no-wipe"},
		"asked about":      {found("scanner"), "", refusedAsk, "ask-scanner, wants its owner to allow it first"},
		"excepted":         {found("scanner"), `overrides = [{rule = "ask-scanner", subject = "double", reason = "my own", until = 2999-01-01T00:00:00Z}]`, "", ""},
		"excepted another": {found("scanner"), `overrides = [{rule = "ask-scanner", subject = "other", reason = "my own", until = 2999-01-01T00:00:00Z}]`, refusedAsk, ""},
		"exception ended":  {found("scanner"), `overrides = [{rule = "ask-scanner", reason = "my own", until = 2020-01-01T00:00:00Z}]`, refusedAsk, ""},
		"risky":            {found("hidden"), "", "", ""},
		"unreadable":       {&fakeReader{err: errors.New("no runner")}, "", refusedUnread, "could not read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, s := newFakeServer(t, 1)
			o := testOptions(t, s)
			setPrefs(t, o, c.prefs+"\n")
			o.reader = c.reader
			var why client.Refusal
			f.onReturn = func(r client.Refusal) { why = r }
			if c.code != "" {
				o.Sandbox = &fakeSandbox{run: func(context.Context, int64) (string, error) {
					t.Error("it must not run")
					return "1", nil
				}}
			}
			stop := start(t, o)
			if c.code == "" {
				f.untilResults(1)
			} else {
				f.until("it is refused", func() bool { return len(f.returned) == 1 })
			}
			require.NoError(t, stop())
			require.Equal(t, c.code, why.Code)
			require.Contains(t, why.Text, c.says)
			require.Equal(t, c.code != "", why.Refuses)
		})
	}
}

// The real module reads a bundle once, in a process of its own.
func TestTheModuleReadsABundle(t *testing.T) {
	reader := codereader.Open(t.TempDir()+"/modules", nil)
	defer reader.Close()
	bad := packed(t, "import os\n\ndef handler(x):\n    os.system('sudo reboot')\n")
	found, err := reader.Read(t.Context(), bad)
	require.NoError(t, err)
	require.True(t, found.Whole)
	evidence, is := guardian.Evidence("no-privilege", found.Findings)
	require.True(t, is, "%+v", found)
	require.Equal(t, "main.py", evidence.File)
	require.Equal(t, int64(4), evidence.Line)
	_, is = guardian.Evidence("no-shutdown", found.Findings)
	require.True(t, is)
	reader.Close() // what it has read it remembers
	again, err := reader.Read(t.Context(), bad)
	require.NoError(t, err)
	require.Equal(t, found, again)
	_, err = reader.Read(t.Context(), testBundle(t))
	require.Error(t, err)
}
