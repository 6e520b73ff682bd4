package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newArchive(t *terminal, server *serverFlags) *cobra.Command {
	return noun("archive", "Jobs whose shards have left the database for files",
		newArchiveList(t, server), newArchiveShow(t, server), newArchiveDownload(t, server), newArchiveVerify(t), newArchiveImport(t, server))
}

func newArchiveList(t *terminal, server *serverFlags) *cobra.Command {
	cmd := newList(server, "List archives, those of the newest jobs first", func(ctx context.Context, c *connection, l *listFlags) error {
		return show(t, l, "listing archives", []string{"JOB", "STATE", "SHARDS", "SIZE", "ASKED BY", "ASKED"},
			func(a client.JobArchive) []string {
				size := "-"
				if a.Results != nil && a.Document != nil {
					size = roughBytes(a.Results.Bytes + a.Document.Bytes)
				}
				return []string{a.Job.String(), string(a.State), strconv.FormatInt(a.Shards, 10), size, a.AskedBy, shortTime(a.AskedAt)}
			},
			func(cursor *string, size *int64) (*http.Response, error) {
				return c.ListArchives(ctx, c.project, &client.ListArchivesParams{Cursor: cursor, Limit: size})
			})
	})
	cmd.Example = "  ostraka archive list -o json"
	return cmd
}

func newArchiveShow(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobOptions{terminal: t, server: server}
	cmd := newJobCommand(o, "show", "Show how far the archive of a job is, and its files", "", func(ctx context.Context, c *connection, id uuid.UUID) error {
		doc, err := getArchive(ctx, c, id)
		if err != nil {
			return err
		}
		return showArchive(t, &o.outputFlag, doc)
	})
	cmd.Example = "  ostraka archive show @last"
	return cmd
}

func getArchive(ctx context.Context, c *connection, job uuid.UUID) (answer.Document[client.JobArchive], error) {
	doc, err := answer.Read[client.JobArchive](c.GetArchive(ctx, c.project, job))
	return doc, explain("getting the archive", err)
}

func showArchive(t *terminal, o *outputFlag, doc answer.Document[client.JobArchive]) error {
	a := doc.Value
	fields := [][2]string{{"job", a.Job.String()}, {"archive", string(a.State)}}
	if a.Error != "" {
		fields = append(fields, [2]string{"error", a.Error})
	}
	if a.Results != nil && a.Document != nil {
		fields = append(fields, [2]string{"shards", count(a.Shards, "shard") + " in " + roughBytes(a.Results.Bytes)},
			[2]string{"results", a.Results.Digest}, [2]string{"document", a.Document.Digest})
	}
	if a.ImportedFrom != nil {
		fields = append(fields, [2]string{"imported", "from project " + a.ImportedFrom.String()})
	}
	return printOne(t, o, doc.Raw, append(fields, [2]string{"asked", shortTime(a.AskedAt) + " by " + a.AskedBy}))
}

func newArchiveDownload(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobOptions{terminal: t, server: server}
	var dir string
	var objects bool
	cmd := newJobCommand(o, "download", "Download the files of an archive", `Download the files of an archive into a folder: JOB.json, which says what the job was, and JOB.parquet with its
shards; and JOB.receipt, the whole receipt with what agents have signed, where one was made. The first two are held
against their digests on the way, and each is complete under its name or not there. They need no server: ostraka archive verify checks them, and anything that reads Parquet reads the shards.`,
		func(ctx context.Context, c *connection, id uuid.UUID) error {
			doc, err := getArchive(ctx, c, id)
			if err != nil {
				return err
			}
			a := doc.Value
			if a.Results == nil || a.Document == nil {
				return &exitError{code: exitRefused, err: errNoFiles(a), hint: "ostraka job archive " + id.String() + " waits for it"}
			}
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return usageError("--dir: %w", err)
			}
			name := filepath.Join(dir, a.Job.String())
			if err := getObject(ctx, t, c, a.Results.Digest, name+resultsSuffix); err != nil {
				return err
			}
			if err := getObject(ctx, t, c, a.Document.Digest, name+documentSuffix); err != nil {
				return err
			}
			if err := downloadReceipt(ctx, c, id, name); err != nil {
				return err
			}
			if objects {
				if err := downloadObjects(ctx, t, c, name); err != nil {
					return err
				}
			}
			if o.json() {
				return writeJSON(t.out, doc.Raw)
			}
			t.say("wrote %s and %s; ostraka archive verify %s checks them", name+resultsSuffix, name+documentSuffix, name+documentSuffix)
			return nil
		})
	cmd.Example = "  ostraka archive download @last --dir ./archives"
	cmd.Flags().StringVar(&dir, "dir", ".", "the folder to write them into; made when missing")
	cmd.Flags().BoolVar(&objects, "objects", false, "also the objects that results and answer refer to, into the folder JOB.objects: ostraka archive import wants them")
	return cmd
}
