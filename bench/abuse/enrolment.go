package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/ostraka/ostraka/bench/rig"
	"github.com/ostraka/ostraka/client"
)

// enrolmentReplayed sends an enrolment again that somebody has seen once: in a proxy's log, or on a server that the agent has left.
func enrolmentReplayed(ctx context.Context, s *scene) ([]figure, error) {
	token, err := s.victim.Token(ctx, "replayed")
	if err != nil {
		return nil, err
	}
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(rig.Enrolment(public, key, "replayed", token))
	if err != nil {
		return nil, err
	}
	honest, thief := newStranger("192.0.2.7", 1), newStranger("198.51.100.9", 1)
	first, err := honest.ask(ctx, http.MethodPost, s.server.URL+"/v1/agent/enrol", token, string(body))
	if err != nil {
		return nil, err
	}
	var enrolled struct {
		Key string `json:"key"`
	}
	if first.status != http.StatusCreated || json.Unmarshal([]byte(first.body), &enrolled) != nil {
		return nil, fmt.Errorf("enrolling: %d: %s", first.status, first.body)
	}
	second, err := thief.ask(ctx, http.MethodPost, s.server.URL+"/v1/agent/enrol", token, string(body))
	if err != nil {
		return nil, err
	}
	agent, err := rig.Connect(s.server.URL, enrolled.Key)
	if err != nil {
		return nil, err
	}
	directives, err := agent.GetDirectivesWithResponse(ctx, &client.GetDirectivesParams{})
	if err != nil {
		return nil, err
	}
	if second.status < http.StatusMultipleChoices || directives.JSON200 == nil {
		return nil, harm("an enrolment that was sent again from elsewhere is answered with %d, and the agent's own key with %s", second.status, directives.Status())
	}
	return nil, nil
}

// enrolmentFlood has strangers ask for admission, each with a key of its own, from many addresses.
func enrolmentFlood(ctx context.Context, s *scene) ([]figure, error) {
	const rows = "select (select count(*) from ostraka.agents) + (select count(*) from ostraka.api_keys) + (select count(*) from ostraka.server_audit)"
	before, err := s.server.Number(ctx, rows)
	if err != nil {
		return nil, err
	}
	requests := s.size(200, 2_000)
	var taken atomic.Int64
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := worker; i < requests; i += 8 {
				x := newStranger(fmt.Sprintf("10.%d.%d.1", i/250, i%250), 1)
				if s.enrolAsNobody(ctx, x) < http.StatusMultipleChoices {
					taken.Add(1)
				}
				x.web.CloseIdleConnections()
			}
		})
	}
	all.Wait()
	after, err := s.server.Number(ctx, rows)
	if err != nil {
		return nil, err
	}
	figures := []figure{{"enrolment_flood_requests", float64(requests)}, {"enrolment_flood_rows", float64(after - before)}}
	if _, err := s.victim.Agent(ctx, "latecomer"); err != nil {
		return figures, harm("after %d enrolments of strangers an agent with a token is refused: %v", requests, err)
	}
	if taken.Load() > 0 || after > before {
		return figures, harm("%d of %d enrolments of strangers have left %d rows for ever", taken.Load(), requests, after-before)
	}
	return figures, nil
}

func (s *scene) enrolAsNobody(ctx context.Context, x *stranger) int {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return 0
	}
	body, err := json.Marshal(rig.Enrolment(public, key, "stranger", ""))
	if err != nil {
		return 0
	}
	a, err := x.ask(ctx, http.MethodPost, s.server.URL+"/v1/agent/enrol", "", string(body))
	if err != nil {
		return http.StatusServiceUnavailable
	}
	return a.status
}
