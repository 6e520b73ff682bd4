package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDecisions(t *testing.T) {
	whole := strings.Repeat("a", digestLength)
	for name, c := range map[string]struct {
		flags       decisionFlags
		retry, fail bool
		want        string
	}{
		"accept":              {flags: decisionFlags{accept: whole, reason: "r"}, want: "accept"},
		"accept, start":       {flags: decisionFlags{accept: whole[:minDigestStart], reason: "r"}, want: "accept"},
		"accept, short start": {flags: decisionFlags{accept: whole[:minDigestStart-1], reason: "r"}},
		"accept, too long":    {flags: decisionFlags{accept: whole + "a", reason: "r"}},
		"accept, fail":        {flags: decisionFlags{accept: whole, reason: "r"}, fail: true},
		"retry":               {flags: decisionFlags{reason: strings.Repeat("r", maxReasonBytes)}, retry: true, want: "retry"},
		"retry, long reason":  {flags: decisionFlags{reason: strings.Repeat("r", maxReasonBytes+1)}, retry: true},
		"fail":                {flags: decisionFlags{reason: "r"}, fail: true, want: "fail"},
		"no reason":           {fail: true},
		"none":                {flags: decisionFlags{reason: "r"}},
		"two":                 {flags: decisionFlags{reason: "r"}, fail: true, retry: true},
	} {
		got, err := c.flags.decision("which?", choice{"retry", c.retry}, choice{"fail", c.fail})
		if c.want == "" {
			require.Equal(t, exitUsage, exitCode(err), name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
}
