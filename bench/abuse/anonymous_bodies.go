package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// bodiesMiB is how much more memory the server may take for bodies than it has when it is idle.
const bodiesMiB = 256

// anonymousBodies sends many requests at once whose bodies cost as much as they can: of strangers, and of a submitter.
func anonymousBodies(ctx context.Context, s *scene) ([]figure, error) {
	nested := func(before, after string, size int) string {
		return before + "[" + strings.TrimSuffix(strings.Repeat("[],", size/3), ",") + "]" + after
	}
	jobs := s.server.URL + "/v1/projects/" + s.hostile.ID.String() + "/jobs"
	var figures []figure
	for _, c := range []struct{ name, url, key, body string }{
		{"anonymous_bodies_mib", s.server.URL + "/v1/agent/enrol", "", nested(`{"public_key":`, `}`, 1_000_000)},
		{"submitters_bodies_mib", jobs, s.hostile.OwnerKey, nested(`{"function":"f","partition":{"kind":"items","values":`, `}}`, 4_200_000)},
		{"named_bodies_mib", jobs, s.hostile.OwnerKey, names(4_200_000)},
	} {
		took, err := s.flood(ctx, c.url, c.key, c.body)
		if err != nil {
			return figures, err
		}
		figures = append(figures, figure{c.name, took})
		if took > bodiesMiB {
			return figures, harm("%s: the server took %.0f MiB more than it has when it is idle", c.name, took)
		}
	}
	_, err := s.own(ctx, 10, usual())
	return figures, err
}

func names(size int) string {
	var text strings.Builder
	text.WriteString(`{"function":"f"`)
	for i := 0; text.Len() < size; i++ {
		fmt.Fprintf(&text, `,"%d":0`, i)
	}
	return text.String() + "}"
}

// flood sends the request so often at once, and says how much memory the server took for it.
func (s *scene) flood(ctx context.Context, url, key, body string) (mib float64, err error) {
	if err := s.server.ForgetPeak(); err != nil {
		return 0, err
	}
	idle, err := s.server.MemoryMiB()
	if err != nil {
		return 0, err
	}
	var all sync.WaitGroup
	for range s.size(60, 200) {
		all.Go(func() {
			x := newStranger("203.0.113.6", 1)
			_, _ = x.ask(ctx, http.MethodPost, url, key, body)
			x.web.CloseIdleConnections()
		})
	}
	all.Wait()
	peak, err := s.server.PeakMiB()
	return peak - idle, err
}
