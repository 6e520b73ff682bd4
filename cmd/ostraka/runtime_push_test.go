package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/tree"
)

// pieceServer keeps objects as a server does. When it has haltAt of them it calls halt, and takes no more.
type pieceServer struct {
	mu     sync.Mutex
	stored map[string]int // how often each came
	haltAt int
	halt   func()
}

func (s *pieceServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // it was cut off
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch what := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]; what {
	case "missing":
		s.answerMissing(w, body)
	case "objects":
		if s.haltAt > 0 && len(s.stored) == s.haltAt {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		digest := tree.DigestOf(body)
		s.stored[digest]++
		if len(s.stored) == s.haltAt {
			s.halt()
		}
		fmt.Fprintf(w, `{"digest":%q,"size":%d}`, digest, len(body))
	default:
		fmt.Fprint(w, `{"name":"mine","digest":"d","platform":"p","python":"3","bytes":1,"files":1,"pieces":1,"created_at":"2026-01-01T00:00:00Z"}`)
	}
}

func (s *pieceServer) answerMissing(w io.Writer, body []byte) {
	var asked struct{ Digests []string }
	_ = json.Unmarshal(body, &asked)
	missing := []string{}
	for _, d := range asked.Digests {
		if s.stored[d] == 0 {
			missing = append(missing, d)
		}
	}
	text, _ := json.Marshal(map[string][]string{"missing": missing})
	_, _ = w.Write(text)
}

// TestAnUploadThatWasCancelledContinues where it was: each object comes once.
func TestAnUploadThatWasCancelledContinues(t *testing.T) {
	p := smallRuntime(t, 20)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const before = 6
	halting := &pieceServer{stored: map[string]int{}, haltAt: before, halt: cancel}
	connection, terminal, talk := talkTo(t, halting.ServeHTTP)
	_, err := p.push(ctx, terminal, connection, "mine", "")
	require.ErrorIs(t, err, context.Canceled)
	require.Contains(t, talk.String(), "the same command continues there")

	halting.mu.Lock()
	server := &pieceServer{stored: maps.Clone(halting.stored)}
	halting.mu.Unlock()
	connection, terminal, talk = talkTo(t, server.ServeHTTP)
	_, err = p.push(t.Context(), terminal, connection, "mine", "")
	require.NoError(t, err)
	server.mu.Lock()
	defer server.mu.Unlock()
	require.Len(t, server.stored, len(p.order))
	for digest, times := range server.stored {
		require.Equal(t, 1, times, digest)
	}
	require.Contains(t, talk.String(), fmt.Sprintf("%d objects sent, %d were there already", len(p.order)-before, before))
	require.Contains(t, talk.String(), "(100%)", "one count for all pieces")
}

// smallRuntime packs a tree of some packages, each a piece of its own.
func smallRuntime(t *testing.T, packages int) *packedRuntime {
	t.Helper()
	dir := t.TempDir()
	from := filepath.Join(dir, "tree")
	for _, program := range []string{"bin/python3.14", "lib/native/ld.so"} {
		at := filepath.Join(from, program)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
		require.NoError(t, os.WriteFile(at, []byte("program"), 0o700))
	}
	site := "lib/python3.14/site-packages"
	for i := range packages {
		at := filepath.Join(from, site, fmt.Sprintf("p%02d/data", i))
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
		require.NoError(t, os.WriteFile(at, []byte(strings.Repeat(string(rune('a'+i)), 300<<10)), 0o600))
	}
	about := tree.Manifest{
		Platform: tree.Platform, Python: "3.14.6", Interpreter: "bin/python3.14", Loader: "lib/native/ld.so", Libraries: []string{"lib/native"}, Packages: []string{site},
	}
	p, err := packRuntime(t.Context(), about, from, filepath.Join(dir, "objects"))
	require.NoError(t, err)
	return p
}
