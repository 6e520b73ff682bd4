package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/eula"
	"github.com/ostraka/ostraka/runtime/inputfile"
	"github.com/ostraka/ostraka/runtime/protocol"
)

const (
	// pollWait is how long the server may keep an agent waiting for work: below the idle time-outs of common proxies.
	pollWait = 25 * time.Second
	// callLimit is how long a call may take besides waiting and sending much.
	callLimit = 30 * time.Second
	// transferLimit is how long a bundle or an output may take: 16 MiB over a slow line.
	transferLimit = 5 * time.Minute
)

// remote is the server as the agent sees it. Each method is one request; repeating it is the caller's affair.
type remote struct {
	client      *client.Client
	connections client.HttpRequestDoer
	instance    string                 // tells this process from another one with the same key
	key         atomic.Pointer[string] // what the server gave this agent
	admitted    atomic.Bool            // it has let this process speak for the agent
}

func newRemote(url, version string) (*remote, error) {
	c, err := client.Connect(url, "", "ostraka-agent/"+version)
	if err != nil {
		return nil, err
	}
	r := &remote{client: c, connections: c.Client, instance: uuid.NewString()}
	c.Client = &versioned{c.Client, protocol.Ours()}
	c.RequestEditors = append(c.RequestEditors, func(_ context.Context, req *http.Request) error {
		req.Header.Set("Ostraka-Instance", r.instance)
		if key := r.key.Load(); key != nil {
			req.Header.Set("Authorization", "Bearer "+*key)
		}
		return nil
	})
	return r, nil
}

func (r *remote) useKey(key string) { r.key.Store(&key) }

// close lets idle connections go.
func (r *remote) close() {
	if doer, ok := r.connections.(*http.Client); ok {
		doer.CloseIdleConnections()
	}
}

func (r *remote) enrol(ctx context.Context, token string, e client.Enrolment) (client.Enrolled, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	doc, err := answer.Read[client.Enrolled](r.client.EnrolAgent(ctx, nil, e, func(_ context.Context, req *http.Request) error {
		req.Header.Del("Authorization") // of an earlier enrolment
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		return nil
	}))
	return doc.Value, err
}

// challenge asks for what makes an enrolment good once only.
func (r *remote) challenge(ctx context.Context) (client.Challenge, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	doc, err := answer.Read[client.Challenge](r.client.GetEnrolmentChallenge(ctx, func(_ context.Context, req *http.Request) error {
		req.Header.Del("Authorization") // of an earlier enrolment
		return nil
	}))
	return doc.Value, err
}

// eula reads the agreement that the server asks for.
func (r *remote) eula(ctx context.Context) (d eula.Document, err error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	doc, err := answer.Read[client.Document](r.client.GetEULA(ctx))
	if err != nil {
		return d, err
	}
	d = eula.Document{Version: doc.Value.Version, Digest: doc.Value.Digest, Text: doc.Value.Text}
	return d, d.Check()
}

func (r *remote) acceptEULA(ctx context.Context, a client.Acceptance) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	_, err := answer.Read[struct{}](r.client.AcceptEULA(ctx, nil, a))
	return err
}

// lease asks for work; it returns nil when there is none.
func (r *remote) lease(ctx context.Context, most int, idempotencyKey string) (*client.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, pollWait+callLimit)
	defer cancel()
	doc, err := answer.Read[client.Lease](r.client.LeaseShards(ctx, &client.LeaseShardsParams{
		Wait: new(pollWait.String()), Max: new(int64(most)), IdempotencyKey: &idempotencyKey,
	}))
	if err == nil {
		r.admitted.Store(true)
	}
	if err != nil || doc.Status == http.StatusNoContent {
		return nil, err
	}
	return &doc.Value, nil
}

// bundle reads the bundle of a lease. The time limit covers the reading.
func (r *remote) bundle(ctx context.Context, lease uuid.UUID) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, transferLimit)
	body, err := answer.Stream(r.client.GetLeaseBundle(ctx, lease))
	if err != nil {
		cancel()
		return nil, err
	}
	return &cancelBody{body, cancel}, nil
}

// transferRate is how many bytes a second a large file is expected to have at least: a slow line, 512 kbit/s.
const transferRate = 64 << 10

// input reads a file of a shard. The time limit covers the reading and grows with the file.
func (r *remote) input(ctx context.Context, lease uuid.UUID, shard int64, f inputfile.File) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, transferLimit+time.Duration(f.Size/transferRate)*time.Second)
	body, err := answer.Stream(r.client.GetLeaseFile(ctx, lease, shard, f.Digest))
	if err != nil {
		cancel()
		return nil, err
	}
	return &cancelBody{body, cancel}, nil
}

// isLost says that the server does not have what it lends.
func isLost(err error) bool { return errors.Is(err, answer.Code("input_lost")) }

// brokeOff says whether a server that could be reached did not bring its answer to an end.
func brokeOff(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// cancelBody ends its request when it is closed. An answer that breaks off is as good as none: it may be asked for again.
type cancelBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Read implements io.Reader.
func (b *cancelBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &answer.Unreachable{Err: err}
	}
	return n, err
}

// Close implements io.Closer.
func (b *cancelBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

func (r *remote) putOutput(ctx context.Context, lease uuid.UUID, digest string, output io.Reader) error {
	ctx, cancel := context.WithTimeout(ctx, transferLimit)
	defer cancel()
	_, err := answer.Read[client.Object](r.client.PutOutputWithBody(ctx, lease, digest, "application/octet-stream", output))
	return err
}

// post sends results that are encoded already.
func (r *remote) post(ctx context.Context, lease uuid.UUID, body []byte) (client.Recorded, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	doc, err := answer.Read[client.Recorded](r.client.PostResultsWithBody(ctx, lease, nil, "application/json", bytes.NewReader(body)))
	return doc.Value, err
}

func (r *remote) returnLease(ctx context.Context, lease uuid.UUID, why client.Refusal) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	_, err := answer.Read[struct{}](r.client.ReturnLease(ctx, lease, nil, why))
	return err
}

// projects lists the projects whose work this agent may be lent.
func (r *remote) projects(ctx context.Context, cursor *string) (client.AgentProjectList, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	doc, err := answer.Read[client.AgentProjectList](r.client.ListAgentProjects(ctx, &client.ListAgentProjectsParams{Cursor: cursor}))
	return doc.Value, err
}

// directives waits until what the server wants is something else than what is known.
func (r *remote) directives(ctx context.Context, known string) (client.Directives, error) {
	ctx, cancel := context.WithTimeout(ctx, pollWait+callLimit)
	defer cancel()
	params := &client.GetDirectivesParams{Wait: new(pollWait.String())}
	if known != "" {
		params.Known = &known
	}
	doc, err := answer.Read[client.Directives](r.client.GetDirectives(ctx, params))
	return doc.Value, err
}

// confirm says that the directives of a revision are carried out.
func (r *remote) confirm(ctx context.Context, revision string) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	_, err := answer.Read[struct{}](r.client.ConfirmDirectives(ctx, revision, nil))
	return err
}

func (r *remote) heartbeat(ctx context.Context, t client.Heartbeat) (client.Directives, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	doc, err := answer.Read[client.Directives](r.client.Heartbeat(ctx, nil, t))
	if err == nil {
		r.admitted.Store(true)
	}
	return doc.Value, err
}
