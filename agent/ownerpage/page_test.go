package ownerpage_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent"
	"github.com/ostraka/ostraka/agent/ownerpage"
)

// browser is somebody who opens the page.
type browser struct {
	t      *testing.T
	url    string
	client *http.Client
	header http.Header
}

// setup serves the page of a folder in which an agent has been.
func setup(t *testing.T) (dir string, page *ownerpage.Page, b *browser, now *time.Time) {
	t.Helper()
	dir = t.TempDir()
	now = new(time.Date(2026, 11, 25, 12, 0, 0, 0, time.Local))
	listener := httptest.NewUnstartedServer(nil)
	page, err := ownerpage.New(ownerpage.Options{
		Dir: dir, Host: listener.Listener.Addr().String(), Say: func(what string) { t.Log(what) }, Now: func() time.Time { return *now },
	})
	require.NoError(t, err)
	listener.Config.Handler = page.Handler()
	listener.Start()
	t.Cleanup(listener.Close)
	return dir, page, open(t, listener.URL), now
}

func open(t *testing.T, url string) *browser {
	t.Helper()
	return &browser{t: t, url: url, client: new(http.Client), header: http.Header{}}
}

// ask returns the status and what the answer says.
func (b *browser) ask(method, path string, body any) (int, string, http.Header) {
	b.t.Helper()
	text, isText := body.(string)
	if !isText && body != nil {
		encoded, err := json.Marshal(body)
		require.NoError(b.t, err)
		text = string(encoded)
	}
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, strings.NewReader(text))
	require.NoError(b.t, err)
	for name := range b.header {
		r.Header.Set(name, b.header.Get(name))
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	answer, err := b.client.Do(r)
	require.NoError(b.t, err)
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	require.NoError(b.t, err)
	return answer.StatusCode, string(said), answer.Header
}

func (b *browser) must(status int, method, path string, body any) string {
	b.t.Helper()
	got, said, _ := b.ask(method, path, body)
	require.Equal(b.t, status, got, said)
	return said
}

func token(page *ownerpage.Page) map[string]string {
	_, fragment, _ := strings.Cut(page.Link(), "#")
	return map[string]string{"token": fragment}
}

func (b *browser) signIn(page *ownerpage.Page) {
	b.t.Helper()
	status, said, header := b.ask("POST", "/session", token(page))
	require.Equal(b.t, 200, status, said)
	require.Empty(b.t, header.Values("Set-Cookie"), "a browser sends cookies to every port of the machine")
	var given struct{ Session string }
	require.NoError(b.t, json.Unmarshal([]byte(said), &given))
	require.NotEmpty(b.t, given.Session)
	b.header.Set("Authorization", "Bearer "+given.Session)
}

func TestALinkSignsOneTabIn(t *testing.T) {
	_, page, b, _ := setup(t)
	require.True(t, strings.HasPrefix(page.Link(), b.url+"/#"), page.Link())
	sent := token(page)
	require.Contains(t, b.must(401, "GET", "/state", nil), "ostraka agent open")
	b.must(403, "POST", "/session", map[string]string{"token": "guessed"})
	b.must(403, "POST", "/session", map[string]string{"token": ""})
	b.signIn(page)
	b.must(200, "GET", "/state", nil)
	other := open(t, b.url)
	require.Contains(t, other.must(403, "POST", "/session", sent), "used already")
	other.must(403, "POST", "/session", map[string]string{"token": ""})
	other.must(401, "GET", "/state", nil)
	for _, path := range []string{"/pause", "/resume", "/preference"} {
		other.must(401, "POST", path, map[string]string{})
	}
}

func TestThePageAnswersToItsOwnAddressAndOrigin(t *testing.T) {
	_, page, b, _ := setup(t)
	b.signIn(page)
	for _, site := range []string{"cross-site", "same-site"} { // the latter are the other ports of the machine
		b.header.Set("Sec-Fetch-Site", site)
		b.must(403, "POST", "/pause", map[string]any{})
		b.must(403, "POST", "/session", token(page))
	}
	b.header.Del("Sec-Fetch-Site")
	b.header.Set("Origin", "http://127.0.0.1:1") // as older browsers say it
	b.must(403, "POST", "/resume", nil)
	b.header.Set("Origin", b.url)
	b.header.Set("Sec-Fetch-Site", "same-origin")
	b.must(204, "POST", "/pause", map[string]any{})
	b.header.Set("Host", "evil.example")
	require.Contains(t, b.must(421, "GET", "/", nil), b.url)
	b.must(421, "GET", "/state", nil)
	b.header.Set("Host", strings.Replace(strings.TrimPrefix(b.url, "http://"), "127.0.0.1", "localhost", 1))
	b.must(421, "GET", "/state", nil)
}

func TestALinkIsUsedOnceByWhoeverIsFirst(t *testing.T) {
	_, page, b, _ := setup(t)
	sent, used := token(page), make(chan int)
	const rivals = 20
	for range rivals {
		go func() {
			status, _, _ := b.ask("POST", "/session", sent)
			used <- status
		}()
	}
	counts := map[int]int{}
	for range rivals {
		counts[<-used]++
	}
	require.Equal(t, map[int]int{200: 1, 403: rivals - 1}, counts)
	require.True(t, strings.HasSuffix(page.Link(), "#"), "the token is forgotten")
}

func TestOnlyTheSessionPasses(t *testing.T) {
	_, page, b, _ := setup(t)
	for _, value := range []string{"", "Bearer", "Bearer ", "Bearer guessed", "Bearer " + token(page)["token"]} {
		b.header.Set("Authorization", value)
		b.must(401, "GET", "/state", nil)
	}
	b.signIn(page)
	session := b.header.Get("Authorization")
	b.header.Set("Authorization", strings.TrimPrefix(session, "Bearer "))
	b.header.Set("Cookie", "session="+session)
	b.must(401, "GET", "/state", nil)
}

func TestFilesAreServedUnderAStrictPolicy(t *testing.T) {
	_, _, b, _ := setup(t)
	for path, kind := range map[string]string{"/": "text/html", "/page.js": "text/javascript", "/page.css": "text/css", "/icon.svg": "image/svg+xml"} {
		status, said, header := b.ask("GET", path, nil)
		require.Equal(t, 200, status, path)
		require.NotEmpty(t, said)
		require.True(t, strings.HasPrefix(header.Get("Content-Type"), kind), header.Get("Content-Type"))
		require.Contains(t, header.Get("Content-Security-Policy"), "default-src 'none'")
		require.NotContains(t, header.Get("Content-Security-Policy"), "unsafe")
		require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
		require.Equal(t, "no-store", header.Get("Cache-Control"))
		require.Equal(t, "no-referrer", header.Get("Referrer-Policy"))
	}
	b.must(404, "GET", "/page.go", nil)
}

// TestThePageIsSmall holds the budget of the page: it is opened on small machines, and nobody should have to read more than this.
func TestThePageIsSmall(t *testing.T) {
	const most = 40_000 // bytes, uncompressed
	var sum int64
	files, err := os.ReadDir("files")
	require.NoError(t, err)
	for _, f := range files {
		info, err := f.Info()
		require.NoError(t, err)
		sum += info.Size()
	}
	require.Positive(t, sum)
	require.LessOrEqual(t, sum, int64(most))
}

// shown is what the page is given.
type shown struct {
	Status      agent.Status
	Preferences []struct {
		Name, Example, Value string
		IsSet                bool `json:"is_set"`
		ByHand               bool `json:"by_hand"`
	}
	History    []json.RawMessage
	HistoryCut bool `json:"history_cut"`
	Mistake    string
	Today      struct{ Shards int64 }
	Month      struct{ Shards int64 }
}

func (b *browser) state() (s shown) {
	b.t.Helper()
	require.NoError(b.t, json.Unmarshal([]byte(b.must(200, "GET", "/state", nil)), &s))
	return s
}

func (s shown) preference(name string) (value string, isSet bool) {
	for _, p := range s.Preferences {
		if p.Name == name {
			return p.Value, p.IsSet
		}
	}
	return "there is none", false
}

func TestPreferencesAreSetAndUnset(t *testing.T) {
	dir, page, b, _ := setup(t)
	b.signIn(page)
	for name, value := range map[string]string{"memory": "4Gi", "days": "sat,sun", "hours": "22:00-06:00", "on_battery": "true", "sandboxes": "2", "min_isolation": "linux"} {
		b.must(204, "POST", "/preference", map[string]any{"name": name, "value": value})
		got, isSet := b.state().preference(name)
		require.True(t, isSet, name)
		require.Equal(t, value, got, name)
		b.must(204, "POST", "/preference", map[string]any{"name": name, "value": got}) // what is shown is what is taken
	}
	b.must(204, "POST", "/preference", map[string]any{"name": "memory", "value": nil})
	_, isSet := b.state().preference("memory")
	require.False(t, isSet)
	before, err := os.ReadFile(filepath.Join(dir, "prefs.toml"))
	require.NoError(t, err)
	require.Contains(t, b.must(422, "POST", "/preference", map[string]any{"name": "memory", "value": "much"}), "write a size")
	require.Contains(t, b.must(422, "POST", "/preference", map[string]any{"name": "memroy", "value": "1Gi"}), "there is no preference")
	require.Contains(t, b.must(422, "POST", "/preference", map[string]any{"name": "sandboxes", "value": "1\ncores = 1"}), "whole number")
	after, err := os.ReadFile(filepath.Join(dir, "prefs.toml"))
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}

// TestOfChangesAtOnceNoneIsLost sends what two tabs, or one in a hurry, may send.
func TestOfChangesAtOnceNoneIsLost(t *testing.T) {
	_, page, b, _ := setup(t)
	b.signIn(page)
	values := map[string]string{"memory": "4Gi", "hours": "22:00-06:00", "days": "sat", "sandboxes": "2", "on_battery": "true", "min_isolation": "linux"}
	for range 10 {
		var all sync.WaitGroup
		for name, value := range values {
			all.Go(func() { b.ask("POST", "/preference", map[string]any{"name": name, "value": value}) })
		}
		all.Wait()
		for name, value := range values {
			got, _ := b.state().preference(name)
			require.Equal(t, value, got, name)
			b.must(204, "POST", "/preference", map[string]any{"name": name, "value": nil})
		}
	}
}

// TestEachExampleCanBeTyped holds the examples that stand in empty fields against what the fields take.
func TestEachExampleCanBeTyped(t *testing.T) {
	_, page, b, _ := setup(t)
	b.signIn(page)
	for _, p := range b.state().Preferences {
		if p.ByHand || strings.Contains(p.Example, "…") || p.Name == "battery_above" || p.Name == "busy_below" { // which go with others
			continue
		}
		b.must(204, "POST", "/preference", map[string]any{"name": p.Name, "value": p.Example})
		b.must(204, "POST", "/preference", map[string]any{"name": p.Name, "value": nil})
	}
}

func TestAMistakeInTheFileIsShown(t *testing.T) {
	dir, page, b, _ := setup(t)
	b.signIn(page)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prefs.toml"), []byte("memory = \n"), 0o600))
	s := b.state()
	require.Contains(t, s.Mistake, "line 1")
	require.Empty(t, s.Preferences)
}

func TestTheOwnerPausesAndResumes(t *testing.T) {
	dir, page, b, _ := setup(t)
	b.signIn(page)
	year := 366 * 24 * 60
	b.must(204, "POST", "/pause", map[string]any{"reason": "guests", "finish": true, "minutes": year})
	note, err := os.ReadFile(filepath.Join(dir, "paused.json"))
	require.NoError(t, err)
	require.Contains(t, string(note), `"finish":true`)
	require.Contains(t, string(note), `"until"`)
	b.must(422, "POST", "/pause", map[string]any{"minutes": year + 1})
	b.must(422, "POST", "/pause", map[string]any{"minutes": -1})
	b.must(422, "POST", "/pause", map[string]any{"reason": strings.Repeat("x", 201)})
	b.must(400, "POST", "/pause", `{"reasons": "a name that there is not"}`)
	b.must(400, "POST", "/pause", `{`)
	around := len(`{"reason": ""}`)
	b.must(422, "POST", "/pause", `{"reason": "`+strings.Repeat("x", 64<<10-around)+`"}`)
	b.must(413, "POST", "/pause", `{"reason": "`+strings.Repeat("x", 64<<10-around+1)+`"}`)
	b.must(204, "POST", "/resume", nil)
	require.NoFileExists(t, filepath.Join(dir, "paused.json"))
	b.must(204, "POST", "/resume", nil)
}

func TestWhatWasDoneIsShown(t *testing.T) {
	dir, page, b, now := setup(t)
	b.signIn(page)
	line := `{"day":"2026-11-25","project":"0190a5d4-0000-7000-8000-000000000001","function":"<b>f</b>","version":%,"shards":2}`
	var lines []string
	for i := range 201 {
		lines = append(lines, strings.Replace(line, "%", string(bytes.Repeat([]byte("1"), i%9+1)), 1))
	}
	lines[200] = strings.Replace(lines[200], "2026-11-25", "2026-11-01", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "history.json"), []byte("["+strings.Join(lines, ",")+"]"), 0o600))
	s := b.state()
	require.Len(t, s.History, 200)
	require.True(t, s.HistoryCut)
	require.Equal(t, int64(400), s.Today.Shards)
	require.Equal(t, int64(402), s.Month.Shards)
	*now = now.AddDate(0, 1, 0)
	s = b.state()
	require.Zero(t, s.Today.Shards)
	require.Zero(t, s.Month.Shards)
}

func TestAPageThatNobodyLooksAtIsQuiet(t *testing.T) {
	_, page, b, now := setup(t)
	*now = now.Add(time.Hour)
	b.must(401, "GET", "/state", nil)
	require.Equal(t, time.Hour, page.Quiet(), "a stranger who asks is nobody")
	b.signIn(page)
	b.must(200, "GET", "/state", nil)
	require.Zero(t, page.Quiet())
}
