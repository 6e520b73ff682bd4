// Package ownerpage is the page on which the owner of a machine sees what its agent does, and steers it. It reads and writes the files in
// the agent's folder, as the commands do, and asks no server: the page works without one, and while the agent does not run.
//
// It is served on the machine's loopback alone, to the one tab of a browser that was given the token of a link. The agent itself opens no port:
// a process that may read its folder may show the page.
package ownerpage

import (
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"time"
)

//go:embed files
var embedded embed.FS

const (
	// maxBody bounds a request's body, in bytes: the longest preference is a list of a thousand names.
	maxBody = 64 << 10
	// scheme begins the header that has the session. It is no cookie: a browser sends those to every port of the machine, at which
	// anybody else on it may listen.
	scheme = "Bearer "
	// policy lets the page load what it came with, and nothing else.
	policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// Page answers one tab of a browser.
type Page struct {
	dir   string
	host  string // the only one that it answers to, with the port
	say   func(what string)
	now   func() time.Time
	files http.Handler

	mu      sync.Mutex
	token   string // of the link; "" when it was used
	session string // "" before that
	asked   time.Time
}

// Options are what a page is made of.
type Options struct {
	// Dir is the agent's folder.
	Dir string
	// Host is the address and port at which the page is served. Requests for another are refused, so that no page of the web whose name
	// is pointed at this machine gets an answer.
	Host string
	// Say is told what was changed on the page.
	Say func(what string)
	// Now is the clock; nil: this machine's.
	Now func() time.Time
}

// New makes the page of an agent.
func New(o Options) (*Page, error) {
	files, err := fs.Sub(embedded, "files")
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Page{dir: o.Dir, host: o.Host, say: o.Say, now: o.Now, files: http.FileServerFS(files), token: rand.Text(), asked: o.Now()}, nil
}

// Link is the address that signs one tab in, once. The token is in the fragment, which no browser sends to anybody or keeps in a log.
func (p *Page) Link() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return "http://" + p.host + "/#" + p.token
}

// Quiet is the time of the last request.
func (p *Page) Quiet() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now().Sub(p.asked)
}

// Handler serves the page.
func (p *Page) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", p.files)
	mux.HandleFunc("POST /session", p.signIn)
	mux.HandleFunc("GET /state", p.signedIn(p.state))
	mux.HandleFunc("POST /pause", p.signedIn(p.pause))
	mux.HandleFunc("POST /resume", p.signedIn(p.resume))
	mux.HandleFunc("POST /preference", p.signedIn(p.preference))
	return p.guard(http.NewCrossOriginProtection().Handler(mux))
}

// guard refuses what was sent to another name, and bounds the rest.
func (p *Page) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if r.Host != p.host {
			refuse(w, http.StatusMisdirectedRequest, "this page is at http://"+p.host+" only")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// signIn takes the token of the link, once, and gives a session for it.
func (p *Page) signIn(w http.ResponseWriter, r *http.Request) {
	var sent struct {
		Token string `json:"token"`
	}
	if !read(w, r, &sent) {
		return
	}
	session, ok := p.use(sent.Token)
	if !ok {
		refuse(w, http.StatusForbidden, "this link was used already, or is another one's: ostraka agent open makes a new one")
		return
	}
	answer(w, http.StatusOK, map[string]string{"session": session})
}

func (p *Page) use(token string) (session string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.token == "" || subtle.ConstantTimeCompare([]byte(token), []byte(p.token)) != 1 {
		return "", false
	}
	p.token, p.session = "", rand.Text()
	return p.session, true
}

// signedIn lets those pass who were given the session.
func (p *Page) signedIn(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		session, found := strings.CutPrefix(r.Header.Get("Authorization"), scheme)
		if !found || !p.knows(session) {
			refuse(w, http.StatusUnauthorized, "open the page by the link that ostraka agent open prints: it works once, in one tab of a browser")
			return
		}
		next(w, r)
	}
}

func (p *Page) knows(session string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session == "" || subtle.ConstantTimeCompare([]byte(session), []byte(p.session)) != 1 {
		return false
	}
	p.asked = p.now()
	return true
}

// read reads a body strictly: an unknown member is a mistake of the sender.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(into)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		refuse(w, http.StatusRequestEntityTooLarge, "that is too long")
	case err != nil:
		refuse(w, http.StatusBadRequest, "this is not what the page sends: load it again")
	}
	return err == nil
}

func refuse(w http.ResponseWriter, status int, why string) {
	answer(w, status, map[string]string{"error": why})
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // a client that has gone needs no answer
}
