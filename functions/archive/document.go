package archive

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/archive/sql"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	file "github.com/ostraka/ostraka/runtime/archive"
)

// document says what a job was.
func (s *Service) document(ctx context.Context, args stepargs.ArchiveArgs, job functions.Job, by string, results file.Results) ([]byte, error) {
	job.Archive = nil // the document does not know its own name
	record, err := json.Marshal(job)
	if err != nil {
		return nil, fmt.Errorf("encoding the job: %w", err)
	}
	d := file.Document{
		Project: args.Project.String(), Job: args.Job.String(), State: string(job.State), ArchivedBy: by, ArchivedAt: time.Now().UTC().Truncate(time.Second),
		Shards:  file.Counts{Total: job.Shards.Total, Accepted: job.Shards.Accepted, Failed: job.Shards.Failed, Cancelled: job.Shards.Cancelled, Attempts: job.Attempts},
		Results: results, Record: record,
	}
	err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error { return readDocument(ctx, tx, job, &d) })
	if err != nil {
		return nil, err
	}
	if d.Receipt, err = s.receipts.ReceiptText(ctx, args.Project, args.Job); err != nil {
		return nil, fmt.Errorf("reading the receipt: %w", err)
	}
	return d.Encode()
}

// readDocument reads what other tables know of a job.
func readDocument(ctx context.Context, tx *store.Tx, job functions.Job, d *file.Document) error {
	f, err := registry.GetFunction(ctx, tx, job.Function, job.Version)
	if err != nil {
		return err
	}
	d.Function = file.Function{Name: f.Name, Version: f.Version, Digest: f.Digest}
	for _, part := range []struct {
		into *json.RawMessage
		from store.Query
		what string
	}{
		{&d.Aggregations, sql.ArchivedAggregations, "aggregations"}, {&d.Incidents, sql.ArchivedIncidents, "incidents"}, {&d.Flags, sql.ArchivedFlags, "flags"},
	} {
		list, err := store.Values[json.RawMessage](ctx, tx, part.from, job.ID, maxListed+1)
		if err != nil {
			return err
		}
		if len(list) > maxListed {
			return fmt.Errorf("%w: it has more than %d %s", file.ErrTooLarge, maxListed, part.what)
		}
		if len(list) == 0 {
			continue
		}
		if *part.into, err = json.Marshal(list); err != nil {
			return fmt.Errorf("encoding %s: %w", part.what, err)
		}
	}
	d.Metrics, _, err = store.Value[json.RawMessage](ctx, tx, sql.ArchivedMetrics, job.ID)
	return err
}
