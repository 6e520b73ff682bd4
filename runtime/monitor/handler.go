package monitor

import (
	"context"
	"log/slog"
	"time"

	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

// Event is what handlers are told: an alert, and what it is about.
type Event struct {
	Sandbox string `json:"sandbox"`
	About
	threshold.Alert
	Killed bool `json:"killed" doc:"What the sandbox ran was ended."`
}

// Handler does something with an alert. The context ends when it has taken too long.
type Handler interface {
	Name() string
	Handle(ctx context.Context, e Event) error
}

const (
	// MaxWaiting is how many alerts wait for a handler that is busy; more are left out, which the log says.
	MaxWaiting = 256
	// HandlerLimit is how long a handler may take for one alert, with everything it tries.
	HandlerLimit = 30 * time.Second
)

// bell rings one handler, an alert at a time, and never makes anybody wait.
type bell struct {
	handler Handler
	log     *slog.Logger
	waiting chan Event
}

func newBell(h Handler, log *slog.Logger) *bell {
	return &bell{handler: h, log: log, waiting: make(chan Event, MaxWaiting)}
}

func (b *bell) ring(e Event) {
	select {
	case b.waiting <- e:
	default:
		b.log.Error("an alert is not told", "handler", b.handler.Name(), "sandbox", e.Sandbox, "alert", e.Text, "error", errBusy)
	}
}

func (b *bell) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-b.waiting:
			limited, cancel := context.WithTimeout(ctx, HandlerLimit)
			if err := b.handler.Handle(limited, e); err != nil && ctx.Err() == nil {
				b.log.Error("an alert could not be told", "handler", b.handler.Name(), "sandbox", e.Sandbox, "alert", e.Text, "error", err)
			}
			cancel()
		}
	}
}
