package functions_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
)

// lines is a log that a test reads, a record at a time.
type lines chan string

func (l lines) Write(record []byte) (int, error) {
	l <- string(record)
	return len(record), nil
}

// TestASandboxThatIsAwayIsSaidOnce tells the operator in the log, and everybody in what /readyz shows.
func TestASandboxThatIsAwayIsSaidOnce(t *testing.T) {
	c, log := &court{trouble: errAway}, make(lines, 10)
	w := newWorld(t, withCourt(c), func(o *functions.Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); w.AnnounceRechecks(ctx, "court") }()
	require.Contains(t, <-log, "cannot execute shards itself at present\" reason=\"the sandbox does not answer\"")
	stop()
	<-ended
	checks, _ := w.Ready(t.Context())
	require.Contains(t, checks["rechecks"], "the sandbox does not answer since ")
}
