package ownerpage_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/filelock"
	"github.com/ostraka/ostraka/agent/ownerpage"
)

// hostile is what a project calls its function, as JSON has it.
const hostile = `<img src=x onerror=\"document.title='broken'\">\u202e`

// standIn is the status of an agent that works for a hostile project.
const standIn = `{"pid":1,"agent":"0190a5d4-0000-7000-8000-000000000002","name":"NAME","server":"https://NAME","isolation":"linux","version":"NAME",
"code":"CODE","why":"WHY","since":"2026-11-25T12:00:00Z","written_at":"2026-11-25T12:00:00Z","places":1,
"now":[{"project":"0190a5d4-0000-7000-8000-000000000001","function":"NAME","version":1,"since":"2026-11-25T12:00:00Z","shards":9,"executed":3}],
"refused":[{"at":"2026-11-25T12:00:00Z","project":"0190a5d4-0000-7000-8000-000000000001","function":"NAME","version":1,"code":"caps","text":"NAME"}]}`

// TestInABrowser opens the page in a real browser, while a stand-in of an agent takes what is done there. What it wants is in web/test; it
// leaves pictures, in OSTRAKA_PICTURES where that is set.
func TestInABrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	require.NoError(t, err, "there is no browser: scripts/setup.sh test installs one")
	dir, pictures := t.TempDir(), os.Getenv("OSTRAKA_PICTURES")
	if pictures == "" {
		pictures = t.ArtifactDir()
	}
	pictures, err = filepath.Abs(pictures)
	require.NoError(t, err)
	held, err := filelock.Try(filepath.Join(dir, "agent.lock"))
	require.NoError(t, err)
	defer held.Close()
	line := `[{"day":"2026-11-25","project":"0190a5d4-0000-7000-8000-000000000001","function":"` + hostile + `","version":1,"shards":2}]`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "history.json"), []byte(line), 0o600))
	tell := func(code, why string) {
		text := strings.NewReplacer("CODE", code, "WHY", why, "NAME", hostile).Replace(standIn)
		assert.NoError(t, os.WriteFile(filepath.Join(dir, "status.json"), []byte(text), 0o600))
	}
	tell("working", "it works "+hostile)

	server := httptest.NewUnstartedServer(nil)
	page, err := ownerpage.New(ownerpage.Options{Dir: dir, Host: server.Listener.Addr().String(), Say: func(what string) {
		switch what {
		case "paused on the page":
			note, err := os.ReadFile(filepath.Join(dir, "paused.json"))
			assert.NoError(t, err)
			assert.Contains(t, string(note), `"finish":true`)
			tell("paused", "paused by the owner (guests <b>are</b> here)")
		case "resumed on the page":
			assert.NoFileExists(t, filepath.Join(dir, "paused.json"))
			tell("working", "it works")
		}
	}})
	require.NoError(t, err)
	server.Config.Handler = page.Handler()
	server.Start()
	defer server.Close()

	cmd := exec.CommandContext(t.Context(), "node", "--test", "--test-concurrency=1", "test/ownerpage.test.mjs")
	cmd.Env, cmd.Dir = append(os.Environ(), "OSTRAKA_URL="+server.URL, "OSTRAKA_LINK="+page.Link(), "OSTRAKA_PROJECT=", "OSTRAKA_KEY=",
		"OSTRAKA_CHROMIUM="+chromium, "OSTRAKA_PICTURES="+pictures), "../../web"
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	require.NoError(t, err, "the tests in web/test; scripts/setup.sh web installs what they need")
}
