package liar

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/harness"
)

// doubling is a sandbox whose function doubles the number of its shard.
type doubling struct {
	isolation.Sandbox
	isolation.Session
	ran int
}

func (d *doubling) Open(context.Context, *bundle.Bundle, harness.Settings) (isolation.Session, error) {
	return d, nil
}

func (d *doubling) Run(_ context.Context, shard int64, _ []byte) (harness.Result, error) {
	d.ran++
	output := fmt.Sprintf(`{"n":%d}`, 2*shard)
	at := time.Unix(shard, 0).UTC().Format(time.RFC3339Nano)
	return harness.Result{Shard: shard, Status: harness.StatusOK, Output: output, OutputDigest: canonical.Digest([]byte(output)), StartedAt: at, EndedAt: at}, nil
}

// answers runs shards 0 to n-1 on an agent of that kind.
func answers(t *testing.T, o Options, n int64) (given []string, ran int) {
	t.Helper()
	cheat, err := New(o)
	require.NoError(t, err)
	inner := &doubling{}
	s, err := cheat.Sandbox(inner).Open(t.Context(), &bundle.Bundle{Digest: "d"}, harness.Settings{})
	require.NoError(t, err)
	for shard := range n {
		r, err := s.Run(t.Context(), shard, nil)
		require.NoError(t, err)
		require.Equal(t, shard, r.Shard)
		require.Equal(t, canonical.Digest([]byte(r.Output)), r.OutputDigest, "a lie is well formed")
		given = append(given, r.Output)
	}
	return given, inner.ran
}

func wrong(given []string) (shards []int) {
	for shard, output := range given {
		if output != fmt.Sprintf(`{"n":%d}`, 2*shard) {
			shards = append(shards, shard)
		}
	}
	return shards
}

func TestEachKindLiesInItsWay(t *testing.T) {
	const n = 200
	all := Options{Probability: 1, Seed: 7}
	kind := func(k Kind) Options {
		o := all
		o.Kind = k
		return o
	}
	given, ran := answers(t, kind(Random), n)
	require.Len(t, wrong(given), n)
	require.Equal(t, n, ran)
	other := kind(Random)
	other.Seed = 8
	others, _ := answers(t, other, n)
	agree := 0
	for i := range given {
		if given[i] == others[i] {
			agree++
		}
	}
	require.Less(t, agree, 5, "two random liars do not agree")

	given, _ = answers(t, kind(Patient), n)
	require.Len(t, wrong(given), n-DefaultAfter)
	require.Equal(t, DefaultAfter, wrong(given)[0], "it begins to lie after it was honest")

	given, _ = answers(t, kind(Constant), n)
	for _, output := range given[1:] {
		require.Equal(t, given[0], output)
	}

	given, _ = answers(t, kind(Colluding), n)
	other = kind(Colluding)
	other.Seed = 8
	others, _ = answers(t, other, n)
	require.Equal(t, given, others, "colluding liars agree")
	require.Len(t, wrong(given), n)

	given, ran = answers(t, kind(Lazy), n)
	require.Equal(t, 1, ran, "a lazy one works once")
	require.Len(t, wrong(given), n-1)

	half := kind(Random)
	half.Probability = 0.5
	given, _ = answers(t, half, n)
	require.InDelta(t, n/2, len(wrong(given)), n/4)
	again, _ := answers(t, half, n)
	require.Equal(t, given, again, "it says the same when it is asked again")
}

func TestNoOneLiesWhoIsNotToldTo(t *testing.T) {
	for _, k := range []Kind{Patient, Constant, Colluding, Random, Lazy} {
		given, _ := answers(t, Options{Kind: k}, 100)
		require.Empty(t, wrong(given), k)
		given, _ = answers(t, Options{Kind: k, Probability: 1, After: 100}, 100)
		require.Empty(t, wrong(given), k)
	}
}

func TestReplayedSubmissionsAreOldOnes(t *testing.T) {
	var sent []client.ResultsRequest
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body client.ResultsRequest
		text, err := io.ReadAll(r.Body)
		if err == nil && strings.HasSuffix(r.URL.Path, "/results") {
			err = json.Unmarshal(text, &body)
			sent = append(sent, body)
		}
		if err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	cheat, err := New(Options{Kind: Replay, Probability: 1})
	require.NoError(t, err)
	doer := cheat.Requests(server.Client())
	post := func(path string, shards ...int64) {
		body := client.ResultsRequest{Signature: []byte{byte(len(sent))}}
		for _, s := range shards {
			body.Results = append(body.Results, client.ShardResult{Shard: s, Output: fmt.Sprint(s)})
		}
		text, err := json.Marshal(body)
		require.NoError(t, err)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, bytes.NewReader(text))
		require.NoError(t, err)
		answer, err := doer.Do(req)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
	}
	post("/v1/agent/leases/1/results", 1, 2)
	post("/v1/agent/leases/2/results", 3, 4, 5)
	post("/v1/agent/heartbeat")
	require.Len(t, sent, 2)
	require.Equal(t, "1", sent[0].Results[0].Output, "the first is honest")
	require.Equal(t, sent[0].Signature, sent[1].Signature)
	require.Equal(t, []string{"1", "2", "1"}, []string{sent[1].Results[0].Output, sent[1].Results[1].Output, sent[1].Results[2].Output})
	require.Equal(t, int64(5), sent[1].Results[2].Shard)
}

func TestOptionsAreChecked(t *testing.T) {
	for says, o := range map[string]Options{
		"probability 1.1":    {Probability: 1.1},
		"probability -0.1":   {Probability: -0.1},
		`kind "charming"`:    {Kind: "charming"},
		"for -1 results":     {After: -1},
		"for 1099511627777 ": {After: MaxAfter + 1},
	} {
		_, err := New(o)
		require.ErrorContains(t, err, says)
	}
	_, err := New(Options{After: MaxAfter, Probability: 1})
	require.NoError(t, err)
}
