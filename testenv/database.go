package testenv

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/devdb"
)

// DatabaseURLEnv names a server to test against instead of an embedded one. Its
// user must be allowed to create databases and roles.
const DatabaseURLEnv = "OSTRAKA_TEST_DATABASE_URL"

// namePrefix begins the name of every database that tests make; the run's mark
// follows, by which leftovers of dead runs are told from those in use.
const namePrefix = "ostraka_test_"

// maxConnections is the embedded server's: parallel tests each hold a few pools.
const maxConnections = "300"

// postgresServer is the shared server, once a test has asked for it.
type postgresServer struct {
	once sync.Once
	err  error
	url  string
	// parsed is url, for the URLs of the tests' databases.
	parsed *url.URL
	// mark begins the names of this run's databases, and is the name of the
	// session that shows that this run is alive.
	mark string

	mu        sync.Mutex
	admin     *pgx.Conn
	templates map[string]*template
	count     int
}

// template is a database that others are copied from.
type template struct {
	once sync.Once
	name string
	err  error
}

// Database makes an empty database for this test and returns its URL. It is
// dropped when the test ends, together with the sessions that are still in it.
//
// Roles belong to the server and not to the database: roles that the test makes
// stay until the server ends, so on a server of one's own (DatabaseURLEnv) they
// stay for good. Name them after GUIDs, as projects do, and they never collide.
func Database(t testing.TB) string {
	t.Helper()
	return newDatabase(t, "template0")
}

// DatabaseFrom is Database with content: fill is called once per test binary and
// name, on a database of its own, and every test gets a copy, which is far
// cheaper than filling again. Sessions that fill leaves open are ended.
func DatabaseFrom(t testing.TB, name string, fill func(url string) error) string {
	t.Helper()
	pg := server(t)
	tmpl := pg.template(name)
	tmpl.once.Do(func() { tmpl.err = pg.fill(tmpl.name, fill) })
	if tmpl.err != nil {
		t.Fatalf("filling the template database %q: %v", name, tmpl.err)
	}
	return newDatabase(t, tmpl.name)
}

// CopyDatabase is Database with the content of another one, as a backup is. Nobody may be connected to that one.
func CopyDatabase(t testing.TB, url string) string {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatalf("reading the URL of the database to copy: %v", err)
	}
	return newDatabase(t, config.Database)
}

func newDatabase(t testing.TB, from string) string {
	t.Helper()
	pg := server(t)
	name := pg.nextName()
	if err := pg.create(name, from); err != nil {
		t.Fatalf("making a database for the test: %v", err)
	}
	t.Cleanup(func() {
		if err := pg.drop(name); err != nil {
			t.Errorf("dropping the test's database: %v", err)
		}
	})
	return pg.urlOf(name)
}

// server starts or finds the server, once.
func server(t testing.TB) *postgresServer {
	t.Helper()
	pg := &shared.postgres
	pg.once.Do(func() { pg.err = pg.open() })
	if pg.err != nil {
		t.Fatalf("preparing Postgres for the tests: %v", pg.err)
	}
	return pg
}

func (pg *postgresServer) open() error {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	pg.mark = namePrefix + strings.ToLower(rand.Text()[:10])
	pg.templates = map[string]*template{}
	pg.url = os.Getenv(DatabaseURLEnv)
	if pg.url == "" {
		if err := pg.startEmbedded(); err != nil {
			return err
		}
	}
	var err error
	if pg.parsed, err = url.Parse(pg.url); err != nil || pg.parsed.Scheme == "" {
		return fmt.Errorf("reading %s: it must have the form postgres://user@host/database", DatabaseURLEnv)
	}
	if err := pg.connect(); err != nil {
		return err
	}
	shared.stops = append(shared.stops, pg.close)
	return pg.sweep()
}

func (pg *postgresServer) startEmbedded() error {
	dir, err := shared.quickDirectory()
	if err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	srv, err := devdb.Start(context.Background(), devdb.Options{
		Dir:        filepath.Join(dir, "postgres"),
		Log:        slog.New(slog.DiscardHandler), // a server that dies shows in the tests
		Disposable: true,
		Settings:   map[string]string{"max_connections": maxConnections, "autovacuum_naptime": "10s", "max_wal_size": "256MB"},
	})
	if err != nil {
		return err
	}
	pg.url = srv.URL()
	shared.stops = append(shared.stops, func() { _ = srv.Stop(context.Background()) })
	return nil
}

// connect opens the one session by which this run makes and drops databases.
func (pg *postgresServer) connect() error {
	cfg, err := pgx.ParseConfig(pg.url)
	if err != nil {
		return fmt.Errorf("reading %s: %w", DatabaseURLEnv, err)
	}
	cfg.RuntimeParams["application_name"] = pg.mark
	if pg.admin, err = pgx.ConnectConfig(context.Background(), cfg); err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	return nil
}

// urlOf is the server's URL with another database.
func (pg *postgresServer) urlOf(database string) string {
	u := *pg.parsed
	u.Path = "/" + database
	return u.String()
}

func (pg *postgresServer) nextName() string {
	pg.mu.Lock()
	defer pg.mu.Unlock()
	pg.count++
	return fmt.Sprintf("%s_%d", pg.mark, pg.count)
}

func (pg *postgresServer) template(name string) *template {
	next := pg.nextName()
	pg.mu.Lock()
	defer pg.mu.Unlock()
	if pg.templates[name] == nil {
		pg.templates[name] = &template{name: next}
	}
	return pg.templates[name]
}

func (pg *postgresServer) fill(name string, fill func(url string) error) error {
	if err := pg.create(name, "template0"); err != nil {
		return err
	}
	if err := fill(pg.urlOf(name)); err != nil {
		return err
	}
	// A database that somebody is in cannot be copied.
	if err := pg.exec(`alter database ` + quote(name) + ` with allow_connections false`); err != nil {
		return err
	}
	return pg.exec(terminateSessions, name)
}
