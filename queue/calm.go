package queue

import (
	"context"
	"errors"
	"log/slog"
)

// calm passes on what River says, and lowers messages that need no action: its counts and comings and goings, every few seconds and for each
// queue, and what it says of a server that stops, since that what was under way was cut off is no error.
type calm struct {
	slog.Handler
	life context.Context //nolint:containedctx // of the server whose log it is
}

// newCalm makes a log for the time until the context ends, and after it.
func newCalm(life context.Context, log *slog.Logger) *slog.Logger {
	return slog.New(calm{log.Handler(), life})
}

// Handle implements slog.Handler.
func (c calm) Handle(ctx context.Context, r slog.Record) error {
	if r.Level == slog.LevelInfo || r.Level > slog.LevelInfo && c.life.Err() != nil && cutOff(r) {
		r.Level = slog.LevelDebug
		if !c.Enabled(ctx, r.Level) {
			return nil
		}
	}
	return c.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (c calm) WithAttrs(attrs []slog.Attr) slog.Handler {
	return calm{c.Handler.WithAttrs(attrs), c.life}
}

// WithGroup implements slog.Handler.
func (c calm) WithGroup(name string) slog.Handler { return calm{c.Handler.WithGroup(name), c.life} }

// cutOff says whether a record is about something that ended with its context. River gives some errors as text.
func cutOff(r slog.Record) (found bool) {
	r.Attrs(func(a slog.Attr) bool {
		err, isError := a.Value.Any().(error)
		found = isError && errors.Is(err, context.Canceled) || a.Value.Kind() == slog.KindString && a.Value.String() == context.Canceled.Error()
		return !found
	})
	return found
}
