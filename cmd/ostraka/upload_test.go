package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/testenv"
)

// storeSecret stands for a signature, which nobody may be shown.
const storeSecret = "X-Amz-Signature=secret"

// uploadServer answers as a server with an object store does, and remembers what came.
type uploadServer struct {
	mu      sync.Mutex
	store   string // its URL; "": the server keeps the objects itself
	has     bool   // the project has the object already
	through []byte
	asked   []string
}

func (s *uploadServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	what := r.Method + " " + r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	s.asked = append(s.asked, what)
	w.Header().Set("Content-Type", "application/json")
	switch what {
	case "POST uploads":
		if s.has {
			fmt.Fprint(w, `{"id":"00000000-0000-0000-0000-000000000000","digest":"d","size":1,"stored":true}`)
			return
		}
		fmt.Fprintf(w, `{"id":"01a1ff77-a273-76db-a3c6-9d3d82710df9","digest":"d","size":1,"stored":false,"method":"PUT","needs_key":%t,"url":%q,"headers":{"X-Checksum":"c"}}`,
			s.store == "", s.store+"/bucket/key?"+storeSecret)
	case "PUT content", "PUT big", "PUT small":
		s.through = body
		fmt.Fprint(w, `{"name":"big","digest":"d","size":1,"updated_at":"2026-01-01T00:00:00Z"}`)
	default:
		fmt.Fprint(w, `{"name":"big","digest":"d","size":1,"updated_at":"2026-01-01T00:00:00Z"}`)
	}
}

// fakeStore is an object store that answers with these statuses, the last one for ever.
func fakeStore(t *testing.T, statuses ...int) (url string, got *lockedBuffer) {
	t.Helper()
	got = &lockedBuffer{}
	var mu sync.Mutex
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		status := statuses[0]
		if len(statuses) > 1 {
			statuses = statuses[1:]
		}
		if status != http.StatusOK {
			w.WriteHeader(status)
			fmt.Fprint(w, "<Error><Code>SlowDown\u202e</Code><Resource>"+storeSecret+"</Resource></Error>")
			return
		}
		if r.Method != http.MethodPut || r.Header.Get("X-Checksum") != "c" || r.ContentLength < 0 || r.Header.Get("Authorization") != "" {
			w.WriteHeader(http.StatusTeapot) // the key is for the server alone
			return
		}
		_, _ = io.Copy(got, r.Body)
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

// deadAddress refuses connections.
func deadAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return "http://" + l.Addr().String()
}

func fileOf(t *testing.T, name string, size int) localFile {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte("x"), size), 0o600))
	return localFile{path: path, name: name, size: int64(size)}
}

func TestLargeFilesGoPastTheServer(t *testing.T) {
	const direct, through = "POST uploads, POST complete, POST files", "PUT big"
	for name, c := range map[string]struct {
		size     int
		has      bool
		statuses []int
		noStore  string // another address of the store
		asked    string
		says     string
	}{
		"large":                      {size: directFrom, statuses: []int{200}, asked: direct},
		"small":                      {size: directFrom - 1, statuses: []int{200}, asked: through},
		"stored already":             {size: directFrom, has: true, asked: "POST uploads, POST files"},
		"the store stumbles":         {size: directFrom, statuses: []int{503, 200}, asked: direct},
		"the store refuses":          {size: directFrom, statuses: []int{403}, asked: "POST uploads, " + through, says: "it answered 403 Forbidden SlowDown·"},
		"the store leads away":       {size: directFrom, statuses: []int{307}, asked: "POST uploads, " + through, says: "it answered 307"},
		"the store is away":          {size: directFrom, noStore: deadAddress(t), asked: "POST uploads, " + through, says: "connection refused"},
		"the server is the store":    {size: directFrom, noStore: "-", asked: "POST uploads, PUT content, POST complete, POST files"},
		"the store is no URL at all": {size: directFrom, noStore: "http://[", asked: "POST uploads, " + through, says: "is no URL"},
	} {
		t.Run(name, func(t *testing.T) {
			api := &uploadServer{has: c.has, store: strings.TrimSuffix(c.noStore, "-")}
			var stored *lockedBuffer
			if c.statuses != nil {
				api.store, stored = fakeStore(t, c.statuses...)
			}
			connection, terminal, talk := talkTo(t, api.ServeHTTP)
			u := newUpload(terminal, connection)
			f := fileOf(t, "big", c.size)
			require.NoError(t, u.all(t.Context(), []localFile{f}))
			require.Equal(t, c.asked, strings.Join(api.asked, ", "))
			require.Contains(t, talk.String(), c.says)
			require.NotContains(t, talk.String(), "secret")
			require.Contains(t, talk.String(), "(100%)")
			require.Equal(t, u.total, u.done)
			got := len(api.through)
			if stored != nil {
				got += len(stored.String())
			}
			if !c.has {
				require.Equal(t, c.size, got)
			}
		})
	}
}

// TestAStoreThatIsAwayIsAskedOnce however many files there are.
func TestAStoreThatIsAwayIsAskedOnce(t *testing.T) {
	api := &uploadServer{store: deadAddress(t)}
	connection, terminal, talk := talkTo(t, api.ServeHTTP)
	u := newUpload(terminal, connection)
	first, second := fileOf(t, "big", directFrom), fileOf(t, "small", directFrom)
	require.NoError(t, u.all(t.Context(), []localFile{first}))
	require.NoError(t, u.all(t.Context(), []localFile{second}))
	require.Equal(t, "POST uploads, PUT big, PUT small", strings.Join(api.asked, ", "))
	require.Equal(t, 1, strings.Count(talk.String(), "go through the server"))
}

func TestAnUploadIsStopped(t *testing.T) {
	begun, over := make(chan struct{}), make(chan struct{})
	store := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(begun)
		<-over
	}))
	defer store.Close()
	defer close(over)
	api := &uploadServer{store: store.URL}
	connection, terminal, talk := talkTo(t, api.ServeHTTP)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	err := newUpload(terminal, connection).all(ctx, []localFile{fileOf(t, "big", 16*directFrom)})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, exitInterrupted, exitCode(err))
	require.Equal(t, []string{"POST uploads"}, api.asked, "what a person stopped is not sent another way")
	require.NotContains(t, talk.String(), "secret")
}

// TestFilesReachARealStore by the way that the command takes, whose checks are the store's own.
func TestFilesReachARealStore(t *testing.T) {
	s3 := testenv.MinIO(t)
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	d, err := startDev(t.Context(), devConfig{
		Dir: filepath.Join(t.TempDir(), "dev"), Listen: "127.0.0.1:0", Log: log, Terminal: systemTerminal(),
		Objects: objectConfig{S3Endpoint: s3.Endpoint, S3Bucket: s3.Bucket, S3Plaintext: true, accessKey: s3.AccessKey, secretKey: s3.SecretKey},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.stop()) })
	c, err := dial(d.info.URL, d.info.OwnerKey)
	require.NoError(t, err)
	c.project = uuid.MustParse(d.info.Project)
	talk := &lockedBuffer{}
	terminal := &terminal{in: strings.NewReader(""), out: &lockedBuffer{}, talk: talk, env: func(string) string { return "" }}
	f := fileOf(t, "big", 3*directFrom)
	u := newUpload(terminal, c)
	require.NoError(t, u.all(t.Context(), []localFile{f}))
	require.NotContains(t, talk.String(), "through the server")
	there, err := answer.Stream(c.ReadFile(t.Context(), c.project, "big"))
	require.NoError(t, err)
	defer there.Close()
	require.NoError(t, copyVerified(io.Discard, there, u.last.Value.Digest))

	// A file that changes while it is sent gets nowhere.
	other := fileOf(t, "other", directFrom)
	past, err := u.store.put(t.Context(), u, other, strings.Repeat("0", 64))
	require.NoError(t, err)
	require.False(t, past)
	require.Contains(t, talk.String(), "it answered 400")
	require.NotContains(t, talk.String(), "Signature")
}
