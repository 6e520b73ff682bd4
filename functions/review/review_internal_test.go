package review

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/flag"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", MaxDifferenceText)
	for name, c := range map[string]struct {
		here, reference string
		want            []Difference
	}{
		"the same":           {`{"a":[1,2]}`, `{"a":[1,2]}`, nil},
		"numbers above 2^53": {`9007199254740993`, `9007199254740992`, []Difference{{"$", "9007199254740993", "9007199254740992"}}},
		"ways to write":      {`1.0`, `1`, []Difference{{"$", "1.0", "1"}}},
		"deep":               {`{"a":{"b":[1,{"c d":2}]}}`, `{"a":{"b":[1,{"c d":3}]}}`, []Difference{{`$.a.b[1]["c d"]`, "2", "3"}}},
		"keys":               {`{"a":1,"c":2}`, `{"b":1,"c":2}`, []Difference{{"$.a", "1", ""}, {"$.b", "", "1"}}},
		"lengths":            {`[1]`, `[1,null]`, []Difference{{"$[1]", "", "null"}}},
		"kinds":              {`[]`, `{}`, []Difference{{"$", "[]", "{}"}}},
		"null and list":      {`null`, `[]`, []Difference{{"$", "null", "[]"}}},
		"the empty key":      {`{"":1}`, `{"":2}`, []Difference{{`$[""]`, "1", "2"}}},
		"long texts":         {`"` + long + `"`, `"<&>"`, []Difference{{"$", `"` + long[1:] + "…", `"<&>"`}}},
	} {
		got, more, err := differences([]byte(c.here), []byte(c.reference))
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
		require.False(t, more, name)
	}
	_, _, err := differences([]byte("{"), []byte("1"))
	require.Error(t, err)
}

func TestDifferencesAreBounded(t *testing.T) {
	t.Parallel()
	list := func(n int) []byte { return []byte("[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]") }
	got, more, err := differences(list(MaxDifferences), []byte("[]"))
	require.NoError(t, err)
	require.Len(t, got, MaxDifferences)
	require.False(t, more)
	got, more, err = differences(list(MaxDifferences+1), []byte("[]"))
	require.NoError(t, err)
	require.Len(t, got, MaxDifferences)
	require.True(t, more)
}

func TestGroupsOfAnswers(t *testing.T) {
	t.Parallel()
	a, b, c := uuid.New(), uuid.New(), uuid.New()
	attempts := []functions.Attempt{
		{Agent: a, Status: "timeout"},
		{Agent: b, Status: "ok", OutputDigest: "1"},
		{Agent: c, Status: "ok", OutputDigest: "1"},
		{Agent: uuid.Nil, Status: "ok", OutputDigest: "2"},
		{Agent: uuid.New(), Status: "error", Diagnostics: json.RawMessage(`{"exception":{"type":"E","message":"m"}}`)},
	}
	groups := groupAnswers(attempts)
	require.Len(t, groups, 4)
	require.Equal(t, "2", groups[0].Digest, "the server's answer is the reference")
	require.True(t, groups[0].Server && groups[0].Reference)
	require.Equal(t, []uuid.UUID{b, c}, groups[1].Agents)
	require.False(t, groups[1].Reference)
	require.Equal(t, "E: m", groups[3].Exception)
	groups = groupAnswers(attempts[:3])
	require.Equal(t, "1", groups[0].Digest, "an output comes before what is none")
	require.Empty(t, groupAnswers(nil))
}

func TestDecisionsAreOffered(t *testing.T) {
	t.Parallel()
	number, agent := int64(3), uuid.New()
	item := func(state functions.ShardState) *FlagItem {
		return &FlagItem{Shard: functions.Shard{Number: 3, State: state}, Groups: groupAnswers([]functions.Attempt{
			{Agent: agent, Status: "ok", OutputDigest: "d1"}, {Agent: uuid.Nil, Status: "ok", OutputDigest: "d2"}, {Agent: uuid.New(), Status: "timeout"},
		})}
	}
	raised := func(kind string, state FlagState, shard *int64) Flag {
		return Flag{Kind: kind, State: state, Shard: shard}
	}
	for name, c := range map[string]struct {
		d    FlagDetail
		job  functions.JobState
		want string
	}{
		"in review":      {FlagDetail{Flag: raised(flag.FlagReview, FlagOpen, &number), Item: item(functions.ShardReview)}, functions.JobReview, "[accept accept rerun recheck reject]"},
		"accepted":       {FlagDetail{Flag: raised(flag.FlagReview, FlagResolved, &number), Item: item(functions.ShardAccepted)}, functions.JobRunning, "[rerun]"},
		"ended":          {FlagDetail{Flag: raised(flag.FlagReview, FlagResolved, &number), Item: item(functions.ShardAccepted)}, functions.JobFinished, "[]"},
		"cancelled":      {FlagDetail{Flag: raised(flag.FlagReview, FlagOpen, &number), Item: item(functions.ShardCancelled)}, functions.JobCancelled, "[dismiss]"},
		"many":           {FlagDetail{Flag: raised(flag.FlagReview, FlagOpen, nil)}, functions.JobReview, "[rerun reject dismiss]"},
		"a mismatch":     {FlagDetail{Flag: raised(flag.FlagMismatch, FlagOpen, &number), Item: item(functions.ShardAccepted)}, functions.JobRunning, "[dismiss]"},
		"dismissed once": {FlagDetail{Flag: raised(flag.FlagMismatch, FlagResolved, &number), Item: item(functions.ShardAccepted)}, functions.JobRunning, "[]"},
	} {
		names := []string{}
		for _, o := range decisionsOf(c.d, c.job) {
			require.NotEmpty(t, o.Effect)
			names = append(names, o.Decision)
		}
		require.Equal(t, c.want, fmt.Sprint(names), name)
	}
}
