package jobs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/verify"
)

func TestTheErrorOfAJobIsASentence(t *testing.T) {
	t.Parallel()
	key := failure{RaisedText: RaisedText{Status: verify.Error, Type: "KeyError", Message: "3", Traceback: "Traceback (most recent call last):\n" +
		"  File \"main.py\", line 8, in handler\n    return helper(x)\n  File \"main.py\", line 3, in helper\n    return table[x]\nKeyError: 3\n"}}
	late := failure{RaisedText: RaisedText{Status: verify.Timeout, Type: "LimitExceeded", Message: "still running after 2 s:\nraise limits.wall_seconds"}}
	person := failure{Reasons: []verify.Reason{{Code: "resolved", Text: "fail: it reads the clock"}}}
	for want, rows := range map[string][]failure{
		"3 of 12 shards failed: KeyError: 3 (main.py:3 in helper)":                                                                    {key, key, key},
		"3 of 12 shards failed: 2× KeyError: 3 (main.py:3 in helper); 1× timeout: still running after 2 s: raise limits.wall_seconds": {late, key, key},
		"3 of 12 shards failed: fail: it reads the clock":                                                                             {person, person, person},
		"3 of 12 shards failed: 1× fail: it reads the clock; 1× no reason was kept (of the first 2)":                                  {person, {}},
		"3 of 12 shards failed: timeout":                                                                                              {{RaisedText: RaisedText{Status: verify.Timeout}}, {RaisedText: RaisedText{Status: verify.Timeout}}, {RaisedText: RaisedText{Status: verify.Timeout}}},
	} {
		require.Equal(t, want, tellFailures(rows, 3, 12))
	}
	var ways []failure
	for _, kind := range []string{"A", "B", "C", "D", "E"} {
		ways = append(ways, failure{RaisedText: RaisedText{Status: verify.Error, Type: kind}})
	}
	require.Equal(t, "5 of 5 shards failed: 1× A; 1× B; 1× C; and in 2 other ways", tellFailures(ways, 5, 5))
	long := RaisedText{Status: verify.Error, Type: "E", Message: strings.Repeat("é", maxExceptionText)}
	require.Len(t, []rune(long.Text()), maxExceptionText+1, "what is left out is marked")
	long.Message = long.Message[:2*(maxExceptionText-len("E: "))]
	require.Len(t, []rune(long.Text()), maxExceptionText)
	require.NotContains(t, long.Text(), "…")
}
