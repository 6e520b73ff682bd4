package main

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

const (
	// directFrom is the size from which a file goes past the server, in bytes: smaller ones are there sooner in one request than in three.
	directFrom = 1 << 20
	// storeDialLimit is how long the object store may take to accept a connection: where it cannot be reached from here at all, the
	// server can be asked instead.
	storeDialLimit = 10 * time.Second
	// storeSilence is how long nothing may move on the way to the object store.
	storeSilence = time.Minute
	// maxStoreProblem is how much of an object store's complaint is read, in bytes.
	maxStoreProblem = 4 << 10
)

// directStore sends objects straight to the object store with URLs that the server grants. What it cannot send goes through the server:
// that is said once, and then nothing is tried again.
type directStore struct {
	c    *connection
	http *http.Client
	note func(format string, args ...any)

	mu   sync.Mutex
	away bool
}

func newDirectStore(c *connection, note func(string, ...any)) *directStore {
	return &directStore{c: c, note: note, http: &http.Client{
		Transport: &http.Transport{
			Proxy:       http.ProxyFromEnvironment,
			DialContext: (&net.Dialer{Timeout: storeDialLimit}).DialContext, TLSHandshakeTimeout: storeDialLimit, ResponseHeaderTimeout: storeSilence,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a grant is for one address
	}}
}

// put makes a file an object of the project, unless the file has to go through the server.
func (d *directStore) put(ctx context.Context, u *upload, f localFile, digest string) (past bool, err error) {
	if f.size < directFrom || d.isAway() {
		return false, nil
	}
	key := uuid.NewString()
	grant, err := tried(ctx, func() (answer.Document[client.Upload], error) {
		return answer.Read[client.Upload](d.c.CreateUpload(ctx, d.c.project, &client.CreateUploadParams{IdempotencyKey: &key}, client.UploadRequest{Digest: digest, Size: f.size}))
	})
	if err != nil {
		return false, err
	}
	if grant.Value.Stored {
		u.add(f.size)
		return true, nil
	}
	if err := d.send(ctx, u, f, grant.Value); err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if grant.Value.NeedsKey { // it was on its way through the server
			return false, err
		}
		d.giveUp(err)
		return false, nil
	}
	_, err = tried(ctx, func() (answer.Document[client.Object], error) {
		return answer.Read[client.Object](d.c.CompleteUpload(ctx, d.c.project, grant.Value.ID, nil))
	})
	return err == nil, err
}

func (d *directStore) isAway() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.away
}

func (d *directStore) giveUp(why error) {
	d.mu.Lock()
	first := !d.away
	d.away = true
	d.mu.Unlock()
	if first {
		d.note("files cannot be sent straight to the object store (%v): they go through the server", why)
	}
}

// send sends the bytes where the server said.
func (d *directStore) send(ctx context.Context, u *upload, f localFile, grant client.Upload) error {
	if grant.NeedsKey { // the server keeps the objects itself
		_, err := tried(ctx, func() (answer.Document[client.Object], error) {
			return sent(u, f, func(body io.Reader) (answer.Document[client.Object], error) {
				return answer.Read[client.Object](d.c.PutUploadWithBody(ctx, d.c.project, grant.ID, octetStream, body))
			})
		})
		return err
	}
	for tries := newRetries(); ; {
		_, err := sent(u, f, func(body io.Reader) (struct{}, error) { return struct{}{}, d.sendOnce(ctx, grant, f.size, body) })
		if err == nil || !answer.Temporary(err) || !tries.again(ctx) {
			return err
		}
	}
}

// sendOnce leaves the URL out of every error: anybody with it may upload.
func (d *directStore) sendOnce(ctx context.Context, grant client.Upload, size int64, body io.Reader) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(storeSilence, func() { cancel(errStoreSilent) })
	defer quiet.Stop()
	request, err := http.NewRequestWithContext(ctx, grant.Method, grant.URL, &movingReader{body, quiet})
	if err != nil {
		return errors.New("the server granted an upload to something that is no URL")
	}
	request.ContentLength = size
	for name, value := range grant.Headers {
		request.Header.Set(name, value)
	}
	response, err := d.http.Do(request)
	if err != nil {
		return storeError(firstError(context.Cause(ctx), err))
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return nil
	}
	return storeRefusal(response)
}

var errStoreSilent = fmt.Errorf("nothing moved for %v", storeSilence)

// movingReader puts an alarm off as long as something is read.
type movingReader struct {
	io.Reader
	alarm *time.Timer
}

// Read implements io.Reader.
func (m *movingReader) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if err == nil {
		m.alarm.Reset(storeSilence)
	}
	return n, err
}

// storeError is a request without an answer. One that could not be sent at all is not tried again.
func storeError(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return err
	}
	return &storeTrouble{err}
}

// storeTrouble is what may go away by itself.
type storeTrouble struct{ error }

// Temporary is for answer.Temporary.
func (s *storeTrouble) Temporary() bool { return true }

// storeRefusal says what the store answered: the code of its complaint, and nothing that may hold the signature.
func storeRefusal(response *http.Response) error {
	var complaint struct{ Code string }
	text, err := io.ReadAll(io.LimitReader(response.Body, maxStoreProblem))
	if err == nil {
		err = xml.Unmarshal(text, &complaint)
	}
	why := fmt.Errorf("it answered %s %s", response.Status, plain(complaint.Code))
	if err != nil || complaint.Code == "" {
		why = fmt.Errorf("it answered %s", response.Status)
	}
	if response.StatusCode >= http.StatusInternalServerError {
		return &storeTrouble{why}
	}
	return why
}
