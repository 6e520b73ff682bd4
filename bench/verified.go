package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ostraka/ostraka/client"
)

// verifiedOwners lend machines to the job of the default policy: as many as its promise needs, and some more.
const verifiedOwners = 12

// countedSource returns what fakeAgents say, so that the server agrees with them when it executes a shard.
const countedSource = `def handler(x):
    return {"passed": int(x["from"]) * 2654435761 % 1009, "tested": 1000}
`

// verified is how many shards a second go through everything under the default policy, with agents of several owners that execute nothing, and a server
// that executes what it doubts.
func (b *bench) verified(ctx context.Context, n int64) (speed float64, err error) {
	s, err := b.startServer(ctx, "--recheck-sandbox", "linux")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	job, err := b.submit(ctx, s, load{n, countedSource, nil})
	if err != nil {
		return 0, err
	}
	fleet := make([]*fakeAgent, verifiedOwners)
	for i := range fleet {
		if fleet[i], err = enrolOwner(ctx, s, fmt.Sprintf("owner %d", i)); err != nil {
			return 0, err
		}
	}
	working, stop := context.WithCancel(ctx)
	group, working := errgroup.WithContext(working)
	start := time.Now()
	for _, a := range fleet {
		group.Go(func() error {
			if err := a.work(working, func(int) bool { return false }); working.Err() == nil {
				return err
			}
			return nil // the answer stands
		})
	}
	got, err := waitEnded(ctx, s.owner, s.project, job)
	seconds := time.Since(start).Seconds()
	stop()
	if err := errors.Join(err, group.Wait()); err != nil {
		return 0, err
	}
	say("%d shards under the default policy: answer after %.1f s", n, seconds)
	return float64(n) / seconds, checkAnswer(got, n)
}

// enrolOwner enrols an agent of an owner of its own.
func enrolOwner(ctx context.Context, s *server, owner string) (*fakeAgent, error) {
	token, err := s.owner.CreateEnrolmentTokenWithResponse(ctx, s.project, nil, client.NewEnrolmentToken{Name: owner, Owner: owner})
	if err != nil {
		return nil, fmt.Errorf("making a token: %w", err)
	}
	if token.JSON201 == nil {
		return nil, fmt.Errorf("making a token: %s: %s", token.Status(), token.Body)
	}
	info := s.info
	info.EnrolmentToken = token.JSON201.Secret
	return enrol(ctx, info, owner)
}
