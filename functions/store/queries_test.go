package store_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
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

// declared reads queries.go: the queries by name, and the variables they are in.
func declared(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "queries.go", nil, 0)
	require.NoError(t, err)
	names := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		call, ok := spec.Values[0].(*ast.CallExpr)
		require.True(t, ok)
		name, err := strconv.Unquote(call.Args[0].(*ast.BasicLit).Value)
		require.NoError(t, err)
		names[name] = spec.Names[0].Name
		return false
	})
	return names
}

func TestEveryQueryHasAFileAndAUser(t *testing.T) {
	var source strings.Builder
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || d.Name() == "queries.go" {
			return err
		}
		text, err := os.ReadFile(path)
		source.Write(text)
		return err
	}))
	files, err := filepath.Glob("sql/*.sql")
	require.NoError(t, err)
	names := declared(t)
	require.Len(t, files, len(names), "each file is one query")
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".sql")
		require.Contains(t, names, name, "no query is made of %s", f)
		require.Equal(t, strings.ReplaceAll(name, "_", ""), strings.ToLower(names[name]), "the variable has the name of its file")
		require.Contains(t, source.String(), "store."+names[name], "nothing uses the query %s", name)
	}
}

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
	for name := range declared(t) {
		sql, err := os.ReadFile("sql/" + name + ".sql")
		require.NoError(t, err)
		control := s.Control(ctx, func(tx pgx.Tx) error { return prepare(ctx, tx, string(sql)) })
		ours := s.Project(ctx, project, func(tx *store.Tx) error { return prepare(ctx, tx, string(sql)) })
		// What names its schema works anywhere, and of a lock Postgres parses nothing beforehand.
		if !strings.Contains(string(sql), "ostraka.") && !strings.Contains(string(sql), "river.") && !strings.Contains(string(sql), "lock table") {
			require.False(t, control == nil && ours == nil, "%s works in both schemas", name)
		}
		require.False(t, control != nil && ours != nil, "%s\ncontrol: %v\nproject: %v", name, control, ours)
	}
}

func prepare(ctx context.Context, tx pgx.Tx, sql string) error {
	_, err := tx.Conn().Prepare(ctx, "", sql)
	return err
}
