package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	memoryRequests = 200       // at once
	memoryAllowed  = 256 << 10 // KiB that they may cost above what the idle server takes
)

// TestRequestsDoNotTakeTheMemory sends 200 requests of each kind at once that are made to cost as much as a body can.
func TestRequestsDoNotTakeTheMemory(t *testing.T) {
	w := startWorld(t, 0)
	nested := func(before, after string, size int) string {
		return before + "[" + strings.TrimSuffix(strings.Repeat("[],", size/3), ",") + "]" + after
	}
	names := func(size int) string {
		var text strings.Builder
		text.WriteString(`{"function":"f"`)
		for i := 0; text.Len() < size; i++ {
			fmt.Fprintf(&text, `,"%d":0`, i)
		}
		return text.String() + "}"
	}
	jobs := "/v1/projects/" + w.project.id.String() + "/jobs"
	for _, c := range []struct{ name, path, key, body string }{
		{"enrolments of nobody", "/v1/agent/enrol", "", nested(`{"public_key":`, `}`, 1_000_000)},
		{"jobs of nested lists", jobs, w.project.ownerKey, nested(`{"function":"f","partition":{"kind":"items","values":`, `}}`, 4_200_000)},
		{"jobs of parameters", jobs, w.project.ownerKey, nested(`{"function":"f","partition":{"kind":"range"},"aggregator":{"params":`, `}}`, 4_200_000)},
		{"jobs of names", jobs, w.project.ownerKey, names(4_200_000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			idle := w.peakMemory(t, true)
			require.EqualValues(t, memoryRequests, w.flood(t, c.path, c.key, c.body), "all were refused, with an answer")
			took := w.peakMemory(t, false) - idle
			t.Logf("%d MiB above %d", took>>10, idle>>10)
			require.LessOrEqual(t, took, memoryAllowed)
		})
	}
}

// flood sends the request so often at once, and counts the refusals.
func (w *world) flood(t *testing.T, path, key, body string) int64 {
	t.Helper()
	var all sync.WaitGroup
	var refused atomic.Int64
	for range memoryRequests {
		all.Go(func() {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+w.address+path, strings.NewReader(body))
			if err != nil {
				return
			}
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("Expect", "100-continue") // so that the answer to a body that is not read is not lost
			if key != "" {
				request.Header.Set("Authorization", "Bearer "+key)
			}
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, ExpectContinueTimeout: time.Hour}}
			answer, err := client.Do(request)
			if err != nil {
				return
			}
			defer answer.Body.Close()
			if _, err := io.Copy(io.Discard, answer.Body); err == nil && answer.StatusCode >= http.StatusBadRequest {
				refused.Add(1)
			}
		})
	}
	all.Wait()
	return refused.Load()
}

// peakMemory is the most that the server has had in memory since it was last forgotten, in KiB. Forgetting begins with what it has now.
func (w *world) peakMemory(t *testing.T, forget bool) int {
	t.Helper()
	proc := "/proc/" + strconv.Itoa(w.server.cmd.Process.Pid)
	if forget {
		require.NoError(t, os.WriteFile(proc+"/clear_refs", []byte("5"), 0))
	}
	text, err := os.ReadFile(proc + "/status")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			require.NoError(t, err)
			return kib
		}
	}
	t.Fatal("the kernel does not say how much memory the server has had")
	return 0
}
