package main

import (
	"log/slog"

	"github.com/spf13/pflag"
)

// logFlags say what a program that runs for long logs, and how.
type logFlags struct {
	level, format string
	inForce       slog.LevelVar // may be set while the program runs
}

func (l *logFlags) register(f *pflag.FlagSet, usualLevel string) {
	f.StringVar(&l.level, "log-level", usualLevel, "what to log: debug, info, warn or error")
	f.StringVar(&l.format, "log-format", "text", "how to log: text, or json for programs that read it")
}

// open makes the log.
func (l *logFlags) open(t *terminal) (*slog.Logger, error) {
	if l.format != "json" && l.format != "text" {
		return nil, usageError("--log-format %q: choose text or json", l.format)
	}
	level, err := levelOf(l.level)
	l.inForce.Set(level)
	if err != nil || l.format == "text" {
		return textLog(t, &l.inForce), err
	}
	return slog.New(slog.NewJSONHandler(t.talk, &slog.HandlerOptions{Level: &l.inForce})), nil
}

// newLog logs to where people read.
func newLog(t *terminal, level string) (*slog.Logger, error) {
	l, err := levelOf(level)
	return textLog(t, l), err
}

func textLog(t *terminal, level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.talk, &slog.HandlerOptions{Level: level}))
}

func levelOf(text string) (l slog.Level, err error) {
	if err := l.UnmarshalText([]byte(text)); err != nil {
		return l, usageError("--log-level %q: choose debug, info, warn or error", text)
	}
	return l, nil
}
