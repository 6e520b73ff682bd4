package rig

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/eula"
	"github.com/ostraka/ostraka/runtime/statement"
)

// Source is a function whose every shard returns Output, so that agents need not execute it and the server may.
const Source = `def handler(x):
    return {"passed": 22, "tested": 1000}
`

// Output is what every shard of Source returns.
const Output = `{"passed":22,"tested":1000}`

// Agent speaks the whole agent protocol and executes nothing.
type Agent struct {
	API *client.ClientWithResponses
	Key string // of the API
	key ed25519.PrivateKey
}

// Agent enrols an agent of an owner of its own.
func (t *Tenant) Agent(ctx context.Context, name string) (*Agent, error) {
	token, err := t.Token(ctx, name)
	if err != nil {
		return nil, err
	}
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	api, err := Connect(t.server.URL, token)
	if err != nil {
		return nil, err
	}
	res, err := api.EnrolAgentWithResponse(ctx, nil, Enrolment(public, key, name, token))
	if err != nil {
		return nil, fmt.Errorf("enrolling %s: %w", name, err)
	}
	if res.JSON201 == nil {
		return nil, fmt.Errorf("enrolling %s: %s: %s", name, res.Status(), res.Body)
	}
	api, err = Connect(t.server.URL, res.JSON201.Key)
	return &Agent{API: api, Key: res.JSON201.Key, key: key}, err
}

// Enrolment is what an agent sends to enrol with a token, or without one.
func Enrolment(public ed25519.PublicKey, key ed25519.PrivateKey, name, token string) client.Enrolment {
	d, at := eula.Embedded(), time.Now().UTC().Truncate(time.Second)
	return client.Enrolment{
		Name: name, Isolation: "process", PublicKey: public, Proof: ed25519.Sign(key, statement.Enrolment(public, token)),
		Platform: client.Platform{Os: "none", Arch: "none", Interpreter: "none", Libc: "none", Agent: "rig", Cpus: 1},
		Eula: &client.Acceptance{
			Version: d.Version, Digest: d.Digest, AcceptedAt: at, Signature: ed25519.Sign(key, statement.Acceptance(public, d.Version, d.Digest, at)),
		},
	}
}

// Lease asks for shards; nil: there are none.
func (a *Agent) Lease(ctx context.Context, most int64, wait string) (*client.Lease, error) {
	res, err := a.API.LeaseShardsWithResponse(ctx, &client.LeaseShardsParams{Max: &most, Wait: &wait})
	if err != nil {
		return nil, err
	}
	if res.StatusCode() != http.StatusNoContent && res.JSON200 == nil {
		return nil, fmt.Errorf("leasing: %s: %s", res.Status(), res.Body)
	}
	return res.JSON200, nil
}

// Report answers all shards of a lease with Output.
func (a *Agent) Report(ctx context.Context, lease *client.Lease) error {
	digest, now := canonical.Digest([]byte(Output)), time.Now().UTC()
	results, lines := make([]client.ShardResult, len(lease.Shards)), make([]statement.Line, len(lease.Shards))
	for i, s := range lease.Shards {
		results[i] = client.ShardResult{
			Shard: s.Shard, Status: "ok", Output: Output, OutputDigest: digest, OutputBytes: int64(len(Output)),
			StartedAt: now, EndedAt: now, CPUUs: 900, WallUs: 1000, PeakRssBytes: 12 << 20, InputBytes: int64(len(s.Input)),
			Isolation: "process", Interpreter: "none", Platform: "none", Libc: "none",
		}
		lines[i] = statement.Line{Shard: s.Shard, Status: "ok", Outcome: digest}
	}
	res, err := a.API.PostResultsWithResponse(ctx, lease.ID, nil, client.ResultsRequest{
		Results: results, Signature: ed25519.Sign(a.key, statement.Results(lease.ID, lines)),
	})
	if err != nil {
		return err
	}
	if res.StatusCode() >= http.StatusMultipleChoices {
		return fmt.Errorf("posting results: %s: %s", res.Status(), res.Body)
	}
	return nil
}

// Work leases and reports until the context ends; leased, where there is one, hears of each lease.
func (a *Agent) Work(ctx context.Context, most int64, leased func(job uuid.UUID, shards int)) error {
	for ctx.Err() == nil {
		lease, err := a.Lease(ctx, most, "1s")
		if err == nil && lease != nil {
			if leased != nil {
				leased(lease.Job, len(lease.Shards))
			}
			err = a.Report(ctx, lease)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// RightAnswer says whether a job of n shards of Source has the answer that it must have.
func RightAnswer(job *client.Job, n int64) error {
	var got, want any
	if err := json.Unmarshal(fmt.Appendf(nil, `{"passed":%d,"tested":%d}`, 22*n, 1000*n), &want); err != nil {
		return err
	}
	if job == nil || job.State != "finished" || job.Aggregate == nil || json.Unmarshal(job.Aggregate.Value, &got) != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		return fmt.Errorf("the job has not the right answer: %+v", job)
	}
	return nil
}

// Secret is what an agent is to another process.
type Secret struct {
	Key     string
	Private []byte
}

// Secret makes it known to another process.
func (a *Agent) Secret() Secret { return Secret{a.Key, a.key} }

// Agent is the agent of a secret.
func (s Secret) Agent(url string) (*Agent, error) {
	api, err := Connect(url, s.Key)
	return &Agent{API: api, Key: s.Key, key: s.Private}, err
}
