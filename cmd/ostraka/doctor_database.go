//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ostraka/ostraka/devdb"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
)

const (
	// slowDatabase is how long an answer of the database may take on the way: each request waits for several, one after another.
	slowDatabase = 10 * time.Millisecond
	// databasePings is how often it is measured; the quickest counts, since the others have met something else.
	databasePings = 5
	// clockTolerance is how far the clocks of server and database may be apart. All that has a consequence goes by the database's; logs,
	// certificates and sign-ins go by the server's.
	clockTolerance = 2 * time.Second
)

// examineDatabase looks at the database, and at nothing more of it when it cannot be reached.
func examineDatabase(ctx context.Context, url string) []diagnosis {
	ctx, cancel := context.WithTimeout(ctx, doctorWait)
	defer cancel()
	db, err := store.Connect(ctx, url)
	if err == nil {
		defer db.Close()
		err = db.Pool.Ping(ctx)
	}
	if err != nil {
		return []diagnosis{failed("database", "check OSTRAKA_DATABASE_URL (or --database-url), and that the database runs", "%v", err)}
	}
	at := db.Pool.Config().ConnConfig
	found := []diagnosis{fine("database", "answers at %s:%d, database %s", at.Host, at.Port, at.Database)}
	for _, look := range []struct {
		check string
		at    func(context.Context, *pgxpool.Pool) (diagnosis, error)
	}{
		{"database version", examineVersion},
		{"database rights", examineRights},
		{"database latency", examineLatency},
		{"database schemas", examineSchemas},
		{"database clock", examineClock},
		{"backup age", examineBackup},
	} {
		d, err := look.at(ctx, db.Pool)
		if err != nil {
			d = failed("", "look into the database's log", "%v", err)
		}
		d.Check = look.check
		found = append(found, d)
	}
	return found
}

func examineVersion(ctx context.Context, pool *pgxpool.Pool) (d diagnosis, err error) {
	err = pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		d = judgeVersion(c.Conn().PgConn().ParameterStatus("server_version"))
		return nil
	})
	return d, err
}

// judgeVersion is about what Postgres calls its version, such as 16.4 (Debian 16.4-1).
func judgeVersion(text string) diagnosis {
	number, _, _ := strings.Cut(text, " ")
	major := number[:len(number)-len(strings.TrimLeft(number, "0123456789"))] // of 18beta1, too
	is, err := strconv.Atoi(major)
	if err != nil || is < devdb.MinVersion {
		return failed("", fmt.Sprintf("upgrade to PostgreSQL %d or later", devdb.MinVersion), "it is PostgreSQL %s", firstOf(number, "of a version that it does not say"))
	}
	return fine("", "PostgreSQL %s", number)
}

func examineRights(ctx context.Context, pool *pgxpool.Pool) (diagnosis, error) {
	r, err := migrations.ReadRights(ctx, pool)
	if err != nil {
		return diagnosis{}, err
	}
	return judgeRights(r, pool.Config().ConnConfig.Database), nil
}

func judgeRights(r migrations.Rights, database string) diagnosis {
	role := pgx.Identifier{r.Role}.Sanitize()
	switch {
	case !r.CreateRoles:
		return failed("", fmt.Sprintf("as a superuser: alter role %s createrole", role), "the role %s may not create roles, and each project gets one", role)
	case !r.CreateSchemas:
		return failed("", fmt.Sprintf("as its owner: grant create on database %s to %s", pgx.Identifier{database}.Sanitize(), role), "the role %s may not create schemas in the database, and each project gets one", role)
	}
	return fine("", "the role %s may create roles and schemas", role)
}

func examineLatency(ctx context.Context, pool *pgxpool.Pool) (diagnosis, error) {
	least := doctorWait
	for range databasePings {
		began := time.Now()
		if err := pool.Ping(ctx); err != nil {
			return diagnosis{}, err
		}
		least = min(least, time.Since(began))
	}
	return judgeLatency(least), nil
}

func judgeLatency(took time.Duration) diagnosis {
	if took > slowDatabase {
		return warned("", "run servers near their database", "an answer takes %v; more than %v makes every request slow", took.Round(time.Microsecond), slowDatabase)
	}
	return fine("", "an answer takes %v", took.Round(time.Microsecond))
}

func examineSchemas(ctx context.Context, pool *pgxpool.Pool) (diagnosis, error) {
	schemas, err := migrations.Status(ctx, pool)
	if err != nil {
		return diagnosis{}, err
	}
	if err := migrations.Fits(ctx, pool); err != nil {
		if _, tooNew := errors.AsType[*migrations.TooNewError](err); tooNew {
			return failed("", "start the newer program here too", "%v", err), nil
		}
		return diagnosis{}, err
	}
	return judgeSchemas(schemas), nil
}

func judgeSchemas(schemas []migrations.Schema) diagnosis {
	versions := make([]string, min(2, len(schemas))) // the shared ones come first; those of projects are all alike
	for i := range versions {
		versions[i] = fmt.Sprintf("%s %d of %d", schemas[i].Name, schemas[i].Version, schemas[i].Latest)
	}
	state := strings.Join(versions, ", ")
	switch {
	case migrations.Pending(schemas):
		return warned("", "none is needed: a server that starts migrates; or run ostraka migrate up", "some schemas are behind: %s", state)
	case slices.ContainsFunc(schemas, migrations.Schema.Newer):
		return warned("", "upgrade this program when the others run", "a newer ostraka has migrated some schemas: %s", state)
	}
	return fine("", "%s", state)
}

func examineClock(ctx context.Context, pool *pgxpool.Pool) (diagnosis, error) {
	var theirs time.Time
	before := time.Now()
	if err := pool.QueryRow(ctx, "select clock_timestamp()").Scan(&theirs); err != nil {
		return diagnosis{}, fmt.Errorf("asking for the database's time: %w", err)
	}
	after := time.Now()
	return judgeClock(theirs.Sub(before.Add(after.Sub(before) / 2))), nil
}

// judgeClock is about how much the database's clock is ahead.
func judgeClock(ahead time.Duration) diagnosis {
	if ahead.Abs() > clockTolerance {
		return warned("", "let both machines keep their time by NTP", "the database's clock is %v ahead of this machine's; more than %v is too much", ahead.Round(time.Millisecond), clockTolerance)
	}
	return fine("", "%v apart from this machine's", ahead.Abs().Round(time.Millisecond))
}
