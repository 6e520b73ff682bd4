package main

import (
	"log/slog"
)

// newLog logs to where people read.
func newLog(t *terminal, level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, usageError("--log-level %q: choose debug, info, warn or error", level)
	}
	return slog.New(slog.NewTextHandler(t.talk, &slog.HandlerOptions{Level: l})), nil
}
