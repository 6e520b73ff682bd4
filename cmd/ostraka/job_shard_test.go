package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

func attempt(agent uuid.UUID, status string, d string) client.Attempt {
	return client.Attempt{Agent: agent, Status: status, Diagnostics: json.RawMessage(d)}
}

func TestFailuresAreShown(t *testing.T) {
	a, b := uuid.New(), uuid.New()
	names := agentNames{a: "ann"}
	raised := `{"exception":{"type":"ValueError","message":"no \u001b[31mluck","traceback":"Traceback:\n  File\u0007 x\r\n"},"stderr_tail":"warned"}`
	for name, c := range map[string]struct {
		attempts []client.Attempt
		want     string
	}{
		"nothing failed": {[]client.Attempt{attempt(a, "ok", `{"stdout_tail":"x"}`)}, ""},
		"an exception, before what failed otherwise": {
			[]client.Attempt{attempt(b, "timeout", `{"stderr_tail":"slow"}`), attempt(a, "error", raised)},
			"\nValueError: no ·[31mluck on ann:\n  Traceback:\n    File· x\n\nthe end of stderr on ann:\n  warned\n",
		},
		"no exception": {
			[]client.Attempt{attempt(b, "timeout", `{"stdout_tail":"step 1\nstep 2"}`)},
			"\nthe end of stdout on " + b.String() + ":\n  step 1\n  step 2\n",
		},
		"no message":        {[]client.Attempt{attempt(a, "error", `{"exception":{"type":"KeyError"}}`)}, "\nKeyError on ann:\n"},
		"says nothing":      {[]client.Attempt{attempt(a, "killed", "")}, ""},
		"cannot be read":    {[]client.Attempt{attempt(a, "error", `{"exception":7}`)}, ""},
		"there are none":    {nil, ""},
		"output, cut short": {[]client.Attempt{attempt(a, "error", `{"stdout_tail":"x","stdout_truncated":true}`)}, "\nthe end of stdout on ann:\n  x\n"},
	} {
		var out strings.Builder
		printFailure(&terminal{out: &out}, c.attempts, names)
		require.Equal(t, c.want, out.String(), name)
	}
	var out strings.Builder
	require.NoError(t, printAttempts(&terminal{out: &out}, []client.Attempt{attempt(a, "error", raised)}, names))
	require.Regexp(t, `(?m)^ann +error +.*ValueError: no ·\[31mluck$`, out.String())
}

func TestNamesThatSeveralBearTellNothing(t *testing.T) {
	a, b, c := uuid.New(), uuid.New(), uuid.New()
	names := namesOf([]client.ProjectAgent{{ID: a, Name: "x"}, {ID: b, Name: "x"}, {ID: c, Name: "y"}})
	require.Equal(t, []string{a.String(), b.String(), "y"}, []string{names.of(a), names.of(b), names.of(c)})
	require.Equal(t, a.String(), agentNames(nil).of(a))
	require.Equal(t, "the server", names.of(uuid.Nil))
}

func TestDigestsAreChosenByTheirStart(t *testing.T) {
	digest := func(start string) string { return start + strings.Repeat("0", digestLength-len(start)) }
	attempts := []client.Attempt{{OutputDigest: digest("aaaaaaaaaaaa1")}, {OutputDigest: digest("bbbbbbbbbbbb")}, {}, {OutputDigest: digest("aaaaaaaaaaaa2")}, {OutputDigest: digest("bbbbbbbbbbbb")}}
	got, err := chooseDigest(attempts, "bbbbbbbbbbbb")
	require.NoError(t, err)
	require.Equal(t, digest("bbbbbbbbbbbb"), got)
	for _, start := range []string{"aaaaaaaaaaaa", "cccccccccccc"} {
		_, err = chooseDigest(attempts, start)
		require.Equal(t, exitRefused, exitCode(err), start)
		require.Contains(t, hintOf(err), "ostraka job shard")
	}
}
