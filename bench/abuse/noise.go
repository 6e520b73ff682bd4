package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/bench/rig"
	"github.com/ostraka/ostraka/client"
)

const (
	noisyAgents = 4   // that lease and report
	noisyLoops  = 4   // of each other kind
	noisyPolls  = 200 // that wait
	niceness    = 19
)

// noise is a tenant that does everything as fast as it may.
type noise struct {
	URL     string
	Project uuid.UUID
	Owner   string // key
	Agents  []rig.Secret
}

// maybeMakeNoise makes noise until it is killed, where this process was started for that.
func maybeMakeNoise() (noisy bool, err error) {
	text := os.Getenv(noiseEnv)
	if text == "" {
		return false, nil
	}
	var n noise
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		return true, err
	}
	if err := giveWay(); err != nil {
		return true, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return true, n.make(ctx)
}

// giveWay has this process take what others leave of the processors. Linux gives each thread a niceness of its own, and what is asked for a
// process is the calling thread's alone: so it becomes a group of its own, whose threads all get it, and those that they start.
func giveWay() error {
	if err := syscall.Setpgid(0, 0); err != nil {
		return fmt.Errorf("becoming a group of processes: %w", err)
	}
	if err := syscall.Setpriority(syscall.PRIO_PGRP, 0, niceness); err != nil {
		return fmt.Errorf("giving way to others: %w", err)
	}
	return nil
}

func (n noise) make(ctx context.Context) error {
	owner := newStranger("203.0.113.10", noisyLoops*4)
	project := n.URL + "/v1/projects/" + n.Project.String()
	var all sync.WaitGroup
	forever := func(do func()) {
		all.Go(func() {
			for ctx.Err() == nil {
				do()
			}
		})
	}
	for _, secret := range n.Agents {
		a, err := secret.Agent(n.URL)
		if err != nil {
			return err
		}
		forever(func() { _ = a.Work(ctx, 1024, nil) })
	}
	var sent atomic.Int64
	for range noisyLoops {
		forever(func() { n.post(ctx, owner, project+"/jobs", client.PolicyRequest{None: true}) })
		forever(func() { n.post(ctx, owner, project+"/jobs", client.PolicyRequest{Recheck: "all"}) })
		forever(func() {
			body := fmt.Sprintf("%0262144d", sent.Add(1))
			_, _ = owner.ask(ctx, http.MethodPost, project+"/objects", n.Owner, body, "Content-Type", "application/octet-stream")
		})
		forever(func() { _, _ = owner.ask(ctx, http.MethodGet, project+"/jobs?limit=500", n.Owner, "") })
	}
	waiter := newStranger("203.0.113.11", noisyPolls)
	for range noisyPolls {
		forever(func() {
			got, err := waiter.ask(ctx, http.MethodGet, project+"/events?topics=jobs", n.Owner, "")
			if err != nil || got.status >= http.StatusBadRequest {
				select { // a refusal is answered at once, and this process is to hurt the server, not to heat the room
				case <-ctx.Done():
				case <-time.After(10 * time.Millisecond):
				}
			}
		})
	}
	all.Wait()
	return nil
}

func (n noise) post(ctx context.Context, x *stranger, url string, policy client.PolicyRequest) {
	body, err := json.Marshal(rig.Range("trivial", 200, policy))
	if err == nil {
		_, _ = x.ask(ctx, http.MethodPost, url, n.Owner, string(body))
	}
}
