package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// archivePoll is how often a command asks how far an archive is.
const archivePoll = time.Second

func newJobArchive(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobOptions{terminal: t, server: server}
	cmd := newJobCommand(o, "archive", "Have a job that has ended become an archive", `Have a job that has ended become an archive, now: its shards with all that is known of them go into a Parquet
file, what else is known of it into a JSON document, and the rows of its shards leave the database. Results,
answer and receipt are read as before; what needs the rows is not: a shard, its artifacts, another aggregation,
running it again. A job with open flags stays as it is until somebody has closed them.

Ctrl-C leaves the server archiving, and the same command goes on waiting.`,
		func(ctx context.Context, c *connection, id uuid.UUID) error {
			doc, err := answer.Read[client.JobArchive](c.ArchiveJob(ctx, c.project, id, &client.ArchiveJobParams{}))
			if err != nil {
				return explain("archiving the job", err)
			}
			if doc, err = waitForArchive(ctx, t, c, doc); err != nil {
				return err
			}
			return showArchive(t, &o.outputFlag, doc)
		})
	cmd.Example = "  ostraka job archive @last\n  ostraka archive download @last"
	return cmd
}

// waitForArchive waits until the files of an archive are what is read.
func waitForArchive(ctx context.Context, t *terminal, c *connection, doc answer.Document[client.JobArchive]) (answer.Document[client.JobArchive], error) {
	said := false
	tick := time.NewTicker(archivePoll)
	defer tick.Stop()
	for tries := newRetries(); doc.Value.State == client.JobArchiveStateWriting || doc.Value.State == client.JobArchiveStateRemoving; {
		if !said && doc.Value.State == client.JobArchiveStateRemoving {
			said = true
			t.say("the files are written; the rows of %s leave the database", count(doc.Value.Shards, "shard"))
		}
		select {
		case <-ctx.Done():
			return doc, &exitError{code: exitInterrupted, err: errors.New("interrupted: the server continues to archive the job"), hint: "the same command continues to wait for it"}
		case <-tick.C:
		}
		next, err := answer.Read[client.JobArchive](c.GetArchive(ctx, c.project, doc.Value.Job))
		switch {
		case err == nil:
			doc = next
			tries.reset()
		case !answer.Temporary(err) || !tries.again(ctx):
			return doc, explain("looking how far the archive is", err)
		}
	}
	if doc.Value.State == client.JobArchiveStateFailed {
		return doc, &exitError{code: exitRefused, err: fmt.Errorf("the job could not become an archive: %s", doc.Value.Error), hint: "when that is fixed: ostraka job archive " + doc.Value.Job.String()}
	}
	return doc, nil
}

// archiveText says where the shards of a job are.
func archiveText(a *client.JobArchive) string {
	switch {
	case a == nil:
		return ""
	case a.State == client.JobArchiveStateFailed:
		return "could not be made: ostraka job explain says why"
	case a.Results == nil:
		return "is being written"
	default:
		return fmt.Sprintf("the shards are in object %s (%s); ostraka archive show %s", shortDigest(a.Results.Digest), roughBytes(a.Results.Bytes), a.Job)
	}
}

// listedState is a job's state in lists.
func listedState(j client.Job) string {
	if j.Archive != nil && j.Archive.Results != nil {
		return string(j.State) + ", archived"
	}
	return string(j.State)
}
