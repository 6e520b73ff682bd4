package queue

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheQueueSaysWhatSomebodyMustActOn(t *testing.T) {
	for name, c := range map[string]struct {
		level   slog.Level // of the log
		stopped bool
		say     func(*slog.Logger)
		want    string
	}{
		"counts":                          {slog.LevelInfo, false, func(l *slog.Logger) { l.Info("counts") }, ""},
		"counts for those who look":       {slog.LevelDebug, false, func(l *slog.Logger) { l.Info("counts") }, "level=DEBUG msg=counts\n"},
		"an error":                        {slog.LevelInfo, false, func(l *slog.Logger) { l.Error("broken", "error", context.Canceled) }, "level=ERROR msg=broken error=\"context canceled\"\n"},
		"an error while the server stops": {slog.LevelInfo, true, func(l *slog.Logger) { l.Error("broken", "error", fmt.Errorf("x: %w", context.Canceled)) }, ""},
		"another one then":                {slog.LevelInfo, true, func(l *slog.Logger) { l.With("a", 1).Error("broken", "error", context.DeadlineExceeded) }, "level=ERROR msg=broken a=1 error=\"context deadline exceeded\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			if c.stopped {
				stop()
			}
			var out bytes.Buffer
			withoutTime := func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}
			c.say(newCalm(ctx, slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: c.level, ReplaceAttr: withoutTime}))))
			require.Equal(t, c.want, out.String())
		})
	}
}
