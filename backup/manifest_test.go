package backup

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func goodManifest() Manifest {
	digest := strings.Repeat("a", 64)
	return Manifest{
		Format: Format, Projects: []uuid.UUID{uuid.New()}, Database: Piece{Name: databaseName, SHA256: digest},
		Objects: Objects{List: Piece{Name: listName, SHA256: digest}},
	}
}

func TestManifestsThatAreRefused(t *testing.T) {
	t.Parallel()
	for says, change := range map[string]func(m *Manifest){
		"":                        func(*Manifest) {},
		"format 2":                func(m *Manifest) { m.Format = 2 },
		`"../database.dump"`:      func(m *Manifest) { m.Database.Name = "../database.dump" },
		`"/etc/passwd"`:           func(m *Manifest) { m.Objects.List.Name = "/etc/passwd" },
		"not a SHA-256 digest":    func(m *Manifest) { m.Database.SHA256 = "short" },
		"a project without an ID": func(m *Manifest) { m.Projects = append(m.Projects, uuid.Nil) },
	} {
		m := goodManifest()
		change(&m)
		text, err := json.Marshal(m)
		require.NoError(t, err)
		_, err = parseManifest(text)
		if says == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, says)
	}
}

// FuzzParseManifest has what others wrote be refused or be a manifest, whose names lead nowhere else.
func FuzzParseManifest(f *testing.F) {
	text, err := json.Marshal(goodManifest())
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(`{"format":1}{}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parseManifest(text)
		if err == nil {
			require.Equal(t, databaseName, m.Database.Name)
			require.Equal(t, listName, m.Objects.List.Name)
		}
	})
}

func TestLinesOfTheListOfObjects(t *testing.T) {
	t.Parallel()
	id, digest := "0190a5d4-5b7a-7c3e-8f21-6d1e0c9b8a77", strings.Repeat("a", 64)
	for line, good := range map[string]bool{
		id + " " + digest: true, strings.ToUpper(id) + " " + digest: false, id + " " + digest[1:]: false, id: false, "": false,
		"../../etc " + digest: false, uuid.Nil.String() + " " + digest: false, id + "  " + digest: false,
	} {
		_, _, err := parseObject(line)
		require.Equal(t, good, err == nil, line)
	}
}

func TestNoPasswordIsInACommandLine(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]target{
		"postgres://u:p%20w@h:1/d?sslmode=disable&pool_max_conns=4": {"postgres://u@h:1/d?sslmode=disable", "p w"},
		"postgres://u@h/d?password=hunter2&sslmode=disable":         {"postgres://u@h/d?sslmode=disable", "hunter2"},
		"postgres://u@/d?host=%2Ftmp%2Fa%20b&sslmode=disable":       {"postgres://u@/d?host=%2Ftmp%2Fa%20b&sslmode=disable", ""},
	} {
		got, err := targetOf(url)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, url := range []string{"host=h password=hunter2", "postgres://u:hunter2@h:port/d", "mysql://u:hunter2@h/d", "postgres://u@h/d?sslmode=disable&sslpassword=hunter2"} {
		_, err := targetOf(url)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

func TestFoldersThatAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := openFolder(dir)
	require.NoError(t, err, "an empty one is fine")
	_, err = openFolder(dir)
	require.ErrorContains(t, err, "another process")
	require.NoError(t, os.WriteFile(f.path(databaseName), []byte("half"), 0o600))
	f.close()
	f, err = openFolder(dir)
	require.NoError(t, err)
	require.True(t, f.resumed)
	require.NoFileExists(t, f.path(databaseName), "half of another moment is of no use")
	f.close()
	other := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "letters"), nil, 0o600))
	_, err = openFolder(other)
	require.ErrorContains(t, err, "letters")
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	t.Parallel()
	_, err := findProgram(t.Context(), "pg_dump", 999)
	var missing *MissingError
	require.ErrorAs(t, err, &missing)
	require.Contains(t, missing.Error(), "needs one of 999 or later")
	require.Contains(t, missing.Advice(), "postgresql-client-999")
	_, err = findProgram(t.Context(), "pg_dump_of_nobody", 15)
	require.ErrorContains(t, err, "is not on this machine")
}
