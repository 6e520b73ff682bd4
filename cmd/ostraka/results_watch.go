package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client/answer"
)

// watchShare is which share of the time a watcher asks for results at most: one in so many. All that come after the first shard that
// has none are sent each time.
const watchShare = 10

// watch follows the job to its end and has the results written as they come.
func (o *jobResultsOptions) watch(ctx context.Context, c *connection, id uuid.UUID, once *resultsOnce) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	news, ended := make(chan struct{}, 1), make(chan struct{})
	w := &watcher{c: c, job: id, progress: newProgress(o.talker(), "done"), changed: func() {
		select {
		case news <- struct{}{}:
		default: // it is told already
		}
	}}
	var followed error
	go func() {
		defer close(ended)
		followed = w.follow(ctx)
	}()
	err := o.catchUpAt(ctx, c, id, once, news, ended)
	if err != nil {
		cancel()
	}
	<-ended
	if err == nil {
		err = followed
	}
	if err == nil {
		err = once.catchUp(ctx, o, c, id)
	}
	return err
}

// catchUpAt writes what is new at each piece of news until the job has ended. A server that is away is the watcher's to wait for.
func (o *jobResultsOptions) catchUpAt(ctx context.Context, c *connection, id uuid.UUID, once *resultsOnce, news, ended <-chan struct{}) error {
	for {
		select {
		case <-ended:
			return nil
		case <-news:
		}
		start := time.Now()
		if err := once.catchUp(ctx, o, c, id); err != nil && !answer.Temporary(err) {
			return err
		}
		rest := time.NewTimer((watchShare - 1) * time.Since(start))
		select {
		case <-ended:
			rest.Stop()
			return nil
		case <-rest.C:
		}
	}
}

// waitForEnd follows the job to its end: only then a table's columns are known.
func (o *jobResultsOptions) waitForEnd(ctx context.Context, c *connection, id uuid.UUID) error {
	w := &watcher{c: c, job: id, progress: newProgress(o.talker(), "done")}
	return w.follow(ctx)
}

// talker is the terminal without bars where the results are shown on it.
func (o *jobResultsOptions) talker() *terminal {
	t := *o.terminal
	t.live = t.live && (!t.shows || o.file != "")
	return &t
}

// stopped says how to continue where a person ends the wait for a job. after is the last shard up to which everything was printed.
func (o *jobResultsOptions) stopped(id uuid.UUID, after int64, err error) error {
	if !o.watching || !errors.Is(err, context.Canceled) {
		return err
	}
	again := []string{"ostraka job results", id.String(), "--watch"}
	if o.format != "json" {
		again = append(again, "-o", o.format)
	}
	for _, f := range []struct {
		given bool
		flag  string
	}{{o.input, "--with-input"}, {o.final && !o.resume, "--final"}} {
		if f.given {
			again = append(again, f.flag)
		}
	}
	switch {
	case o.file != "" && o.format != "parquet":
		again = append(again, "--resume", "--file", shellWord(o.file))
	case o.file != "":
		again = append(again, "--file", shellWord(o.file))
	case after >= 0:
		again = append(again, "--after", fmt.Sprint(after))
	}
	o.terminal.say("stopped waiting; the job goes on. To go on:\n  %s", strings.Join(again, " "))
	return &exitError{code: exitInterrupted, err: fmt.Errorf("stopped waiting: %w", errSaid)}
}
