package agent

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client/answer"
)

func TestServerThatIsDownIsMentionedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		log := slog.New(slog.NewTextHandler(&said, nil))
		a := &agent{log: log, outage: outage{log: log}}
		begin := time.Now()
		err := a.persist(t.Context(), "asking", func(context.Context) error {
			if time.Since(begin) < 10*time.Minute {
				return &answer.Unreachable{Err: errors.New("refused")}
			}
			return nil
		})
		require.NoError(t, err)
		warnings := strings.Count(said.String(), "level=WARN")
		require.GreaterOrEqual(t, warnings, 6)
		require.LessOrEqual(t, warnings, 10)
		require.Equal(t, 1, strings.Count(said.String(), "can be used again"))
	})
}

func TestRetryAfterIsHeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.DiscardHandler)
		a := &agent{log: log, outage: outage{log: log}}
		for asked, want := range map[time.Duration]time.Duration{20 * time.Second: 20 * time.Second, time.Hour: maxRetryAfter} {
			begin, calls := time.Now(), 0
			require.NoError(t, a.persist(t.Context(), "asking", func(context.Context) error {
				if calls++; calls == 1 {
					return &answer.Error{HTTPStatus: http.StatusTooManyRequests, RetryAfter: asked}
				}
				return nil
			}))
			require.Equal(t, want, time.Since(begin))
		}
	})
}

func TestPersistEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.DiscardHandler)
		a := &agent{log: log, outage: outage{log: log}}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(errLeaseEnded) })
		err := a.persist(ctx, "asking", func(context.Context) error { return &answer.Unreachable{Err: errors.New("refused")} })
		require.ErrorIs(t, err, errLeaseEnded)
	})
}
