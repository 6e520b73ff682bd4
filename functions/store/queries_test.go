package store_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
	"github.com/ostraka/ostraka/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// queries are those of one queries.go.
type queries struct {
	folder string // of the .sql files
	room   string // the folder of those who use them; empty: any
	prefix string // under which Go code knows them
	names  map[string]string
}

// declared reads all queries.go: the queries by name, and the variables they are in.
func declared(t *testing.T) []queries {
	t.Helper()
	all := []queries{{folder: "sql", prefix: "store.", names: variables(t, "queries.go")}}
	rooms, err := filepath.Glob("../*/sql/queries.go")
	require.NoError(t, err)
	require.Greater(t, len(rooms), 10)
	for _, file := range rooms {
		folder := filepath.Dir(file)
		all = append(all, queries{folder: folder, room: filepath.Dir(folder), prefix: "sql.", names: variables(t, file)})
	}
	return all
}

func variables(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	names := map[string]string{}
	for _, d := range file.Decls {
		group, is := d.(*ast.GenDecl)
		if !is || group.Tok != token.VAR {
			continue
		}
		for _, s := range group.Specs {
			spec := s.(*ast.ValueSpec)
			if len(spec.Values) == 0 {
				continue // the files
			}
			call, is := spec.Values[0].(*ast.CallExpr)
			require.True(t, is)
			name, err := strconv.Unquote(call.Args[len(call.Args)-1].(*ast.BasicLit).Value)
			require.NoError(t, err)
			names[name] = spec.Names[0].Name
		}
	}
	return names
}

// source is the code of a folder and those below it, without tests and lists of queries.
func source(t *testing.T, folder string) string {
	t.Helper()
	var text strings.Builder
	require.NoError(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || d.Name() == "queries.go" {
			return err
		}
		code, err := os.ReadFile(path)
		text.Write(code)
		return err
	}))
	return text.String()
}

func TestEveryQueryHasAFileAndAUser(t *testing.T) {
	everywhere, inOneRoom := source(t, ".."), map[string]int{}
	for _, q := range declared(t) {
		code := everywhere
		if q.room != "" {
			code = source(t, q.room)
		}
		files, err := filepath.Glob(q.folder + "/*.sql")
		require.NoError(t, err)
		require.Len(t, files, len(q.names), "each file of %s is one query", q.folder)
		for _, f := range files {
			name := strings.TrimSuffix(filepath.Base(f), ".sql")
			require.Contains(t, q.names, name, "no query is made of %s", f)
			require.Equal(t, strings.ReplaceAll(name, "_", ""), strings.ToLower(q.names[name]), "the variable has the name of its file")
			require.Contains(t, code, q.prefix+q.names[name], "nothing uses the query %s", f)
			inOneRoom[name]++
		}
	}
	for name, rooms := range inOneRoom {
		require.Equal(t, 1, rooms, "%s is the name of more than one query: faults and errors name them by it", name)
	}
}

// written finds the tables that a query writes.
var written = regexp.MustCompile(`(?i)\b(?:insert into|delete from|(for (?:no key )?)?update)\s+(?:ostraka\.)?([a-z_]+)`)

// TestWhoWritesWhichTable compares the rooms that write each table with testdata/writers.golden: one more writer is a decision, and not an
// accident. Queries that several rooms make stand under store.
func TestWhoWritesWhichTable(t *testing.T) {
	writers := map[string][]string{}
	for _, q := range declared(t) {
		room := "store"
		if q.room != "" {
			room = filepath.Base(q.room)
		}
		for name := range q.names {
			sql, err := os.ReadFile(filepath.Join(q.folder, name+".sql"))
			require.NoError(t, err)
			for _, m := range written.FindAllStringSubmatch(comments.ReplaceAllString(string(sql), ""), -1) {
				table := m[2]
				if m[1] == "" && table != "set" && !slices.Contains(writers[table], room) {
					writers[table] = append(writers[table], room)
				}
			}
		}
	}
	var list strings.Builder
	for _, table := range slices.Sorted(maps.Keys(writers)) {
		slices.Sort(writers[table])
		list.WriteString(table + ": " + strings.Join(writers[table], " ") + "\n")
	}
	golden, err := os.ReadFile("testdata/writers.golden")
	require.NoError(t, err)
	require.Equal(t, string(golden), list.String())
}

var comments = regexp.MustCompile(`--.*`)

// advisory finds queries that take locks and read nothing.
var advisory = regexp.MustCompile(`(?s)^(?:--[^\n]*\n)*select pg_advisory_xact_lock(?:_shared)?\([^;]*\) is not null\s*$`)

// TestEveryQueryIsOfOneSchema has Postgres parse each query where it belongs: in the control schema or, as the project's role, in that
// of a project. One that works in neither names what does not exist; one that works in both would not notice the wrong schema.
func TestEveryQueryIsOfOneSchema(t *testing.T) {
	ctx := context.Background()
	s, err := store.Connect(ctx, testenv.Database(t))
	require.NoError(t, err)
	t.Cleanup(s.Close)
	require.NoError(t, migrations.Up(ctx, s.Pool, slog.New(slog.DiscardHandler)))
	project := uuid.New()
	require.NoError(t, migrations.CreateProject(ctx, s.Pool, project))
	for _, q := range declared(t) {
		for name := range q.names {
			text, err := os.ReadFile(filepath.Join(q.folder, name+".sql"))
			require.NoError(t, err)
			sql := string(text)
			control := s.Control(ctx, func(tx pgx.Tx) error { return prepare(ctx, tx, sql) })
			ours := s.Project(ctx, project, func(tx *store.Tx) error { return prepare(ctx, tx, sql) })
			// What names its schema works anywhere, of a lock Postgres parses nothing beforehand, a setting is of no schema, and the guardian and the logs have the same tables in both.
			if !strings.Contains(sql, " guardian_") && !logs.MatchString(sql) && !strings.HasPrefix(sql, "set ") && !strings.Contains(sql, "set_config(") && !strings.Contains(sql, "ostraka.") && !strings.Contains(sql, "river.") && !strings.Contains(sql, "lock table") && !advisory.MatchString(sql) {
				require.False(t, control == nil && ours == nil, "%s works in both schemas", name)
			}
			require.False(t, control != nil && ours != nil, "%s\ncontrol: %v\nproject: %v", name, control, ours)
		}
	}
}

// logs finds what belongs to the log that is sealed, of the server or of a project.
var logs = regexp.MustCompile(`(from|into|update) audit(_nodes|_checkpoints|_restarts)?\b`)

func prepare(ctx context.Context, tx pgx.Tx, sql string) error {
	_, err := tx.Conn().Prepare(ctx, "", sql)
	return err
}
