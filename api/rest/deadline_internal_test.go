package rest

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// deadlines is a connection that remembers its deadlines.
type deadlines struct {
	*httptest.ResponseRecorder
	read, write []time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error  { d.read = append(d.read, at); return nil }
func (d *deadlines) SetWriteDeadline(at time.Time) error { d.write = append(d.write, at); return nil }

// TestNoReadDeadlineStays: the server reads on while a handler runs, to see the client go; a deadline that passes then looks like one
// that went, and ends a request that is only slow to store.
func TestNoReadDeadlineStays(t *testing.T) {
	for name, rule := range map[string]Body{"JSON": {Limit: 100}, "stream": {Limit: 100, Stream: OctetStream}} {
		t.Run(name, func(t *testing.T) {
			w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
			c := &Call{Request: httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"a":1}`)), Writer: w}
			s := NewServer(nil, slog.New(slog.DiscardHandler), "")
			release, err := s.readBody(rule, shape{}, c)
			require.NoError(t, err)
			defer release()
			text, err := io.ReadAll(c.Request.Body)
			require.NoError(t, err)
			require.JSONEq(t, `{"a":1}`, string(text))
			require.Greater(t, len(w.read), 1)
			require.True(t, w.read[len(w.read)-1].IsZero())
			if rule.Stream != "" {
				require.WithinDuration(t, time.Now().Add(storeTimeout), w.write[len(w.write)-1], time.Minute)
			}
		})
	}
}
