package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/migrations"
)

// relation is a table or an index, and how many bytes it takes; TOAST counts towards its table.
type relation struct {
	Name  string
	Index bool
	Bytes int64
}

// listRelations are the tables of a schema and their indexes. A heap's size includes its maps and its TOAST.
const listRelations = `
select c.relname as name, false as index, pg_table_size(c.oid) as bytes
from pg_class c where c.relnamespace = $1::regnamespace and c.relkind = 'r'
union all
select i.relname, true, pg_relation_size(i.oid)
from pg_class c join pg_index x on x.indrelid = c.oid join pg_class i on i.oid = x.indexrelid
where c.relnamespace = $1::regnamespace and c.relkind = 'r'`

// relations are the tables and indexes of a project, without what is free in them.
func (b *bench) relations(ctx context.Context, project uuid.UUID) (all []relation, err error) {
	conn, err := pgx.Connect(ctx, b.databaseURL)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	schema := migrations.ProjectSchema(project)
	rows, err := conn.Query(ctx, "select format('%I.%I', schemaname, tablename) from pg_tables where schemaname = $1", schema)
	if err != nil {
		return nil, err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		if _, err := conn.Exec(ctx, "vacuum full "+t); err != nil {
			return nil, err
		}
	}
	if rows, err = conn.Query(ctx, listRelations, schema); err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[relation])
}

func bytesOf(all []relation) (sum int64) {
	for _, r := range all {
		sum += r.Bytes
	}
	return sum
}

// printRelations prints how many bytes of which table and index each of so many shards costs, the largest first, and what is below a tenth of
// a byte in one line.
func printRelations(w io.Writer, before, after []relation, shards int64) error {
	had := map[string]int64{}
	for _, r := range before {
		had[r.Name] = r.Bytes
	}
	each := func(bytes int64) float64 { return float64(bytes) / float64(shards) }
	rest := 0.0
	slices.SortFunc(after, func(a, b relation) int { return cmp.Compare(b.Bytes-had[b.Name], a.Bytes-had[a.Name]) })
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range after {
		kind := "table"
		if r.Index {
			kind = "index"
		}
		if per := each(r.Bytes - had[r.Name]); per < 0.1 {
			rest += per
		} else if _, err := fmt.Fprintf(table, "%s\t%s\t%.1f\n", kind, r.Name, per); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(table, "\tall others\t%.1f\n", rest); err != nil {
		return err
	}
	return table.Flush()
}

// waitPacked waits until the attempts of a job are packed.
func (b *bench) waitPacked(ctx context.Context, project, job uuid.UUID) (err error) {
	conn, err := pgx.Connect(ctx, b.databaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	for packed := false; !packed; {
		query := "select pack_next is null from " + migrations.ProjectSchema(project) + ".jobs where id = $1"
		if err := conn.QueryRow(ctx, query, job).Scan(&packed); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(archivePoll):
		}
	}
	return nil
}
