package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
)

const (
	// archivePoll is how often it is asked how far an archive is.
	archivePoll = 200 * time.Millisecond
	// packAfter is long enough to measure a job before its attempts are packed.
	packAfter = 30 * time.Second
)

// kept measures what a job leaves in Postgres, as it ended, with its attempts packed and as an archive, and how much its deletion slows a job
// beside it: bytes_per_fresh_shard, bytes_per_shard, bytes_per_archived_shard and delete_neighbour_ratio. The jobs have -kept shards with outputs of some 25 bytes, and believe the first answer.
func (b *bench) kept(ctx context.Context) (all []figure, err error) {
	s, err := b.startServer(ctx, "--pack-after", packAfter.String())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	empty, err := b.relations(ctx, s.project)
	if err != nil {
		return nil, err
	}
	first, _, err := b.another(ctx, s)
	if err != nil {
		return nil, err
	}
	fresh, err := b.relations(ctx, s.project)
	if err != nil {
		return nil, err
	}
	if err := b.waitPacked(ctx, s.project, first); err != nil {
		return nil, err
	}
	ended, err := b.relations(ctx, s.project)
	if err != nil {
		return nil, err
	}
	if err := archive(ctx, s, first); err != nil {
		return nil, err
	}
	archived, err := b.relations(ctx, s.project)
	if err != nil {
		return nil, err
	}
	if err := printRelations(os.Stderr, empty, ended, b.keptShards); err != nil {
		return nil, err
	}
	each := func(now []relation) float64 { return float64(bytesOf(now)-bytesOf(empty)) / float64(b.keptShards) }
	say("%d shards: %.0f bytes of Postgres a shard when the job has ended, %.0f with packed attempts, %.1f as an archive",
		b.keptShards, each(fresh), each(ended), each(archived))
	ratio, err := b.deleted(ctx, s)
	return []figure{
		{"bytes_per_fresh_shard", each(fresh)},
		{"bytes_per_shard", each(ended)},
		{"bytes_per_archived_shard", each(archived)},
		{"delete_neighbour_ratio", ratio},
	}, err
}

// another runs one more job to its end.
func (b *bench) another(ctx context.Context, s *server) (job uuid.UUID, speed float64, err error) {
	if job, err = b.submit(ctx, s, believed(b.keptShards)); err != nil {
		return job, 0, err
	}
	seconds, err := b.drain(ctx, s, job, b.keptShards)
	return job, float64(b.keptShards) / seconds, err
}

// deleted compares the speed of a job alone with that of one while another is deleted.
func (b *bench) deleted(ctx context.Context, s *server) (float64, error) {
	job, alone, err := b.another(ctx, s)
	if err != nil {
		return 0, err
	}
	gone, err := s.owner.DeleteJobWithResponse(ctx, s.project, job)
	if err != nil || gone.StatusCode() >= http.StatusMultipleChoices {
		return 0, fmt.Errorf("deleting the job: %w: %s", err, gone.Body)
	}
	_, beside, err := b.another(ctx, s)
	if err != nil {
		return 0, err
	}
	say("%.0f shards/s alone, %.0f beside a job of %d shards that is deleted", alone, beside, b.keptShards)
	return beside / alone, nil
}

// archive makes an archive of a job, and waits until its rows are gone.
func archive(ctx context.Context, s *server, job uuid.UUID) error {
	for {
		asked, err := s.owner.ArchiveJobWithResponse(ctx, s.project, job, nil)
		switch {
		case err != nil:
			return err
		case asked.StatusCode() == http.StatusConflict: // what follows from its end is under way
		case asked.JSON202 == nil:
			return fmt.Errorf("archiving the job: %s: %s", asked.Status(), asked.Body)
		case asked.JSON202.State == client.JobArchiveStateArchived:
			return nil
		case asked.JSON202.State == client.JobArchiveStateFailed:
			return fmt.Errorf("archiving the job: %s", asked.JSON202.Error)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(archivePoll):
		}
	}
}
