package liar

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/ostraka/ostraka/client"
)

// maxReplayed is the largest body that is kept to be sent again, in bytes.
const maxReplayed = 4 << 20

// replayer sends the results and the signature of an earlier lease again, with the numbers of the shards that it leases now.
type replayer struct {
	next    client.HttpRequestDoer
	options Options

	mu    sync.Mutex
	kept  *client.ResultsRequest // an honest submission
	given int64
}

// Do implements client.HttpRequestDoer.
func (r *replayer) Do(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodPost || !strings.HasSuffix(req.URL.Path, "/results") || req.Body == nil {
		return r.next.Do(req)
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, maxReplayed+1))
	if err != nil {
		return nil, fmt.Errorf("reading our own request: %w", err)
	}
	if len(body) > maxReplayed {
		return nil, fmt.Errorf("a submission of more than %d bytes is not one that a replaying liar sends", maxReplayed)
	}
	if body, err = r.forge(body); err != nil {
		return nil, err
	}
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return r.next.Do(req)
}

// forge replaces an honest submission by the one that was kept, with the shards' numbers changed. The first one is sent as it is.
func (r *replayer) forge(body []byte) ([]byte, error) {
	var ours client.ResultsRequest
	if err := json.Unmarshal(body, &ours); err != nil {
		return nil, fmt.Errorf("reading our own submission: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.given += int64(len(ours.Results))
	if len(ours.Results) == 0 {
		return body, nil
	}
	if r.kept == nil {
		r.kept = &ours
		return body, nil
	}
	_, lies := r.options.lie("replay", ours.Results[0].Shard)
	if !lies || r.given <= r.options.After {
		return body, nil
	}
	forged := client.ResultsRequest{Signature: r.kept.Signature}
	for i, result := range ours.Results {
		old := r.kept.Results[i%len(r.kept.Results)]
		old.Shard = result.Shard
		forged.Results = append(forged.Results, old)
	}
	r.options.Log.Warn("REPLAYING an old submission, as this agent was told to", "results", len(forged.Results))
	text, err := json.Marshal(forged)
	if err != nil {
		return nil, fmt.Errorf("encoding a forged submission: %w", err)
	}
	return text, nil
}
