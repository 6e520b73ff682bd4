package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// uploads is how many files are sent at a time: small ones cost a round trip each.
const uploads = 4

// upload sends files, some at a time, and shows how many bytes are there.
type upload struct {
	c     *connection
	store *directStore
	there map[string]string // digests of what the server has, by name

	mu    sync.Mutex
	bar   *progress
	total int64 // bytes
	done  int64
	sent  int64 // files
	last  answer.Document[client.NamedFile]
}

func newUpload(t *terminal, c *connection) *upload {
	u := &upload{c: c, bar: newProgress(t, "stored")}
	u.bar.unit, u.bar.bytes = "byte", true
	u.store = newDirectStore(c, u.note)
	return u
}

// all sends files that have names.
func (u *upload) all(ctx context.Context, files []localFile) error {
	defer u.bar.finish()
	for _, f := range files {
		u.total += f.size
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(uploads)
	for _, f := range files {
		if ctx.Err() != nil {
			break
		}
		work.Go(func() error { return u.one(ctx, f) })
	}
	return work.Wait()
}

func (u *upload) one(ctx context.Context, f localFile) error {
	digest, err := digestOfFile(ctx, f.path)
	if err != nil {
		return fmt.Errorf("reading %s: %w", f.path, err)
	}
	if u.there[f.name] == digest {
		u.add(f.size)
		return nil
	}
	doc, err := u.send(ctx, f, digest)
	if err != nil {
		return explain("storing "+f.path, err)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sent++
	u.last = doc
	return nil
}

// send stores a file, past the server where that can be.
func (u *upload) send(ctx context.Context, f localFile, digest string) (doc answer.Document[client.NamedFile], err error) {
	past, err := u.store.put(ctx, u, f, digest)
	if err != nil {
		return doc, err
	}
	if past {
		return tried(ctx, func() (answer.Document[client.NamedFile], error) {
			return answer.Read[client.NamedFile](u.c.NameFile(ctx, u.c.project, nil, client.FileRequest{Name: f.name, Digest: digest}))
		})
	}
	return tried(ctx, func() (answer.Document[client.NamedFile], error) {
		return sent(u, f, func(body io.Reader) (answer.Document[client.NamedFile], error) {
			return answer.Read[client.NamedFile](u.c.PutFileWithBody(ctx, u.c.project, f.name, &client.PutFileParams{Digest: &digest}, octetStream, body))
		})
	})
}

// object stores a file without a name.
func (u *upload) object(ctx context.Context, f localFile) (doc answer.Document[client.Object], err error) {
	defer u.bar.finish()
	if f.size >= directFrom { // less is there before anybody has read a line about it
		u.total = f.size
	}
	return u.nameless(ctx, f)
}

// objects stores files without names, and shows how far all of them are.
func (u *upload) objects(ctx context.Context, files []localFile) error {
	defer u.bar.finish()
	for _, f := range files {
		u.total += f.size
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(uploads)
	for _, f := range files {
		if ctx.Err() != nil {
			break
		}
		work.Go(func() error {
			_, err := u.nameless(ctx, f)
			return err
		})
	}
	return work.Wait()
}

func (u *upload) nameless(ctx context.Context, f localFile) (doc answer.Document[client.Object], err error) {
	digest, err := digestOfFile(ctx, f.path)
	if err != nil {
		return doc, fmt.Errorf("reading %s: %w", f.path, err)
	}
	past, err := u.store.put(ctx, u, f, digest)
	if err != nil {
		return doc, err
	}
	if past {
		return objectDocument(client.Object{Digest: digest, Size: f.size})
	}
	return tried(ctx, func() (answer.Document[client.Object], error) {
		return sent(u, f, func(body io.Reader) (answer.Document[client.Object], error) {
			return answer.Read[client.Object](u.c.PutObjectWithBody(ctx, u.c.project, &client.PutObjectParams{Digest: &digest}, octetStream, body))
		})
	})
}

// tried sends a request that may be sent again, until it is answered or has failed too often.
func tried[T any](ctx context.Context, send func() (answer.Document[T], error)) (doc answer.Document[T], err error) {
	for tries := newRetries(); ; {
		doc, err = send()
		if err == nil || !answer.Temporary(err) || !tries.again(ctx) {
			return doc, err
		}
	}
}

// sent sends a file as the body of a request, and counts it as long as the request does not fail.
func sent[T any](u *upload, f localFile, send func(body io.Reader) (T, error)) (result T, err error) {
	in, err := os.Open(f.path)
	if err != nil {
		return result, err
	}
	body := &countedFile{in: in, u: u}
	result, err = send(body)
	body.end(err == nil)
	return result, err
}

// countedFile counts what is read of it as sent. It has no other way to be read.
type countedFile struct {
	in *os.File
	u  *upload

	mu    sync.Mutex
	n     int64
	ended bool
}

// Read implements io.Reader.
func (c *countedFile) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.n += int64(n)
		c.u.add(int64(n))
	}
	return n, err
}

// end takes back what was counted where it was in vain.
func (c *countedFile) end(well bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended = true; !well && c.n > 0 {
		c.u.add(-c.n)
	}
	_ = c.in.Close() // it was only read
}

func (u *upload) add(n int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.done += n
	u.bar.update(u.done, u.total)
}

// note says something beside the bar.
func (u *upload) note(format string, args ...any) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.bar.note(format, args...)
}

func digestOfFile(ctx context.Context, name string) (string, error) {
	in, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	stop := context.AfterFunc(ctx, func() { _ = in.Close() }) // a large file takes minutes
	defer stop()
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return "", firstError(ctx.Err(), err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
