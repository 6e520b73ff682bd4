package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// viewers is how many pages show the job while it runs.
	viewers = 200
	// viewEvery is how often a page draws the job's map anew.
	viewEvery = 2 * time.Second
)

// watched compares a job that 200 people watch with one that nobody does: each has a stream of the project's events, and draws the map.
func (b *bench) watched(ctx context.Context) ([]figure, error) {
	if b.many == 0 {
		return nil, nil
	}
	before, err := b.job(ctx, b.many)
	if err != nil {
		return nil, err
	}
	with, err := b.watchedJob(ctx, b.many, viewers)
	if err != nil {
		return nil, err
	}
	after, err := b.job(ctx, b.many)
	if err != nil {
		return nil, err
	}
	alone := (before.speed + after.speed) / 2
	say("%d viewers: %.0f shards/s, alone %.0f (%.0f before, %.0f after)", viewers, with.speed, alone, before.speed, after.speed)
	return []figure{{"viewers_ratio", with.speed / alone}}, nil
}

// watch has n viewers look at a job until stop is called, which says what went wrong.
func watch(ctx context.Context, s *server, job uuid.UUID, n int) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	web := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n, DisableCompression: true}}
	failed := make(chan error, 2*n)
	var all sync.WaitGroup
	project := s.info.URL + "/v1/projects/" + s.info.Project
	get := func(address, tag string) (*http.Response, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+s.info.OwnerKey)
		request.Header.Set("If-None-Match", tag)
		response, err := web.Do(request)
		if err == nil && response.StatusCode >= http.StatusBadRequest {
			response.Body.Close()
			err = fmt.Errorf("%s: %s", address, response.Status)
		}
		return response, err
	}
	for range n {
		all.Go(func() { failed <- follow(get, project+"/events?topics=jobs,flags,agents,job:"+job.String()) })
		all.Go(func() { failed <- redraw(ctx, get, project+"/jobs/"+job.String()+"/map?mode=pages") })
	}
	return func() error {
		early := ctx.Err()
		cancel()
		all.Wait()
		web.CloseIdleConnections()
		close(failed)
		for err := range failed {
			if early == nil && err != nil && !errors.Is(err, context.Canceled) {
				return fmt.Errorf("watching: %w", err)
			}
		}
		return nil
	}
}

type getter func(address, tag string) (*http.Response, error)

func follow(get getter, address string) error {
	response, err := get(address, "")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

func redraw(ctx context.Context, get getter, address string) error {
	tag := ""
	tick := time.NewTicker(viewEvery)
	defer tick.Stop()
	for {
		response, err := get(address, tag)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if err != nil {
			return err
		}
		tag = response.Header.Get("ETag")
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
