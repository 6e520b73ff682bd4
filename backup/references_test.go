package backup

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
)

var (
	literals  = regexp.MustCompile(`'[^']*'`)
	comments  = regexp.MustCompile(`--[^\n]*`)
	words     = regexp.MustCompile(`[a-z_]+`)
	fromTable = regexp.MustCompile(`\bfrom ([a-z_]+)\b`)
)

// referring are the columns that the parts of a query look into: of each table, as TABLE.COLUMN.
func referring(t *testing.T, columns map[string][]string, parts []string) (all []string) {
	t.Helper()
	for _, part := range parts {
		part = literals.ReplaceAllString(part, "")
		table := fromTable.FindStringSubmatch(part)
		require.NotNil(t, table, part)
		require.Contains(t, columns, table[1])
		for _, word := range words.FindAllString(part, -1) {
			if slices.Contains(columns[table[1]], word) {
				all = append(all, table[1]+"."+word)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestABackupKnowsAllThatRefersToObjects: what keeps an object from being collected must have it in a backup. Digests in the middle of texts
// are the exceptions that referred_objects.sql explains.
func TestABackupKnowsAllThatRefersToObjects(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	type column struct{ Table, Name string }
	list, err := store.Many[column](t.Context(), i.db, store.Query{
		Name: "columns", SQL: "select table_name as table, column_name as name from information_schema.columns where table_schema = $1",
	}, migrations.ProjectSchema(i.project))
	require.NoError(t, err)
	columns := map[string][]string{}
	for _, c := range list {
		columns[c.Table] = append(columns[c.Table], c.Name)
	}

	text, err := os.ReadFile("../functions/registry/sql/object_is_used.sql")
	require.NoError(t, err)
	var collected, within []string
	for _, part := range strings.Split(comments.ReplaceAllString(string(text), ""), "exists (")[1:] {
		if strings.Contains(part, "position(") {
			within = append(within, part)
			continue
		}
		collected = append(collected, part)
	}
	require.Equal(t, []string{
		"rules.spec", "schedules.spec", "workflow_runs.parameters", "workflow_versions.definition", "workflow_versions.files", "workflow_versions.modules",
	}, referring(t, columns, within))

	_, inner, _ := strings.Cut(comments.ReplaceAllString(referredObjects.SQL, ""), "from (\n")
	inner, _, _ = strings.Cut(inner, "union all select digest, false from ostraka.objects")
	require.Equal(t, referring(t, columns, collected), referring(t, columns, strings.Split(inner, "union all")))
}
