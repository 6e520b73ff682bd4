package rest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

// headerPortal names the build of the portal that this server serves. Every answer has it, so that an open page notices a new one.
const headerPortal = "Ostraka-Portal"

// portalPolicy lets the pages load what this server serves, and nothing else.
const portalPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// workerPolicy is that of the script which tries modules in the browser: it compiles WASM, and has no network.
const workerPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'"

// workerPrefix is how the name of that script begins.
const workerPrefix = "wasm-worker"

// portalIndex is the page that every address of the portal is answered with.
const portalIndex = "index.html"

// notOfPortal are the paths that belong to programs: no page of the portal is below them, so that a wrong address of the API stays an error.
var notOfPortal = []string{"/v1", "/docs", "/ops", "/metrics", "/livez", "/readyz", "/openapi", "/assets", "/client"}

// Portal serves the pages, which it holds in memory, compressed where that makes them smaller.
type Portal struct {
	files map[string]portalFile // by path, without the first slash
	Build string                // names what it is made of
}

type portalFile struct {
	mediaType, policy, cache, tag string
	plain, packed                 []byte // packed: gzip; nil where it saves nothing
}

// NewPortal reads the files of the portal: index.html, and assets whose names change with their content.
func NewPortal(files fs.FS) (*Portal, error) {
	p := &Portal{files: map[string]portalFile{}}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		p.files[name], err = newPortalFile(name, body)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the portal: %w", err)
	}
	index, found := p.files[portalIndex]
	if !found {
		return nil, errors.New("reading the portal: it has no " + portalIndex)
	}
	p.Build = strings.Trim(index.tag, `"`)
	return p, nil
}

func newPortalFile(name string, body []byte) (portalFile, error) {
	sum := sha256.Sum256(body)
	f := portalFile{plain: body, policy: portalPolicy, cache: "no-cache", tag: `"` + hex.EncodeToString(sum[:8]) + `"`, mediaType: mime.TypeByExtension(path.Ext(name))}
	if f.mediaType == "" {
		f.mediaType = "application/octet-stream"
	}
	if strings.HasPrefix(name, "assets/") {
		f.cache = "public, max-age=31536000, immutable"
	}
	if strings.HasPrefix(path.Base(name), workerPrefix) {
		f.policy = workerPolicy
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return f, err
	}
	if _, err := w.Write(body); err != nil {
		return f, err
	}
	if err := w.Close(); err != nil {
		return f, err
	}
	if packed.Len() < len(body) {
		f.packed = packed.Bytes()
	}
	return f, nil
}

// page says whether somebody who looks for a page asks, at an address that may be one of the portal. A nil portal has none.
func (p *Portal) page(r *http.Request) bool {
	if p == nil || r.Method != http.MethodGet && r.Method != http.MethodHead || !acceptsHTML(r.Header.Get("Accept")) {
		return false
	}
	return !slices.ContainsFunc(notOfPortal, func(prefix string) bool {
		rest, found := strings.CutPrefix(r.URL.Path, prefix)
		return found && (rest == "" || rest[0] == '/' || rest[0] == '.' || rest[0] == '-')
	})
}

// acceptsHTML says whether an Accept header names HTML: programs that take anything do not.
func acceptsHTML(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		if mediaType, _, err := mime.ParseMediaType(part); err == nil && mediaType == "text/html" {
			return true
		}
	}
	return false
}

// Root answers at the server's address: people get the page, programs what they have always got.
func (p *Portal) Root(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept")
	if p.page(r) {
		p.serve(w, r, portalIndex)
		return
	}
	http.Redirect(w, r, "/docs", http.StatusFound)
}

// Asset answers with a file that has a digest in its name.
func (s *Server) Asset(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if _, found := s.Portal.files[name]; !found {
		s.Refuse(w, r, NewProblem(http.StatusNotFound, CodeNoSuchRoute, "there is nothing at "+Quoted(r.URL.Path), "load the page again: the server was updated"))
		return
	}
	s.Portal.serve(w, r, name)
}

func (p *Portal) serve(w http.ResponseWriter, r *http.Request, name string) {
	CallOf(r.Context()).Operation = "portal"
	f, h := p.files[name], w.Header()
	h.Set("Content-Type", f.mediaType)
	h.Set("Content-Security-Policy", f.policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", f.cache)
	h.Set("ETag", f.tag)
	h.Add("Vary", "Accept-Encoding")
	if TagMatches(r.Header.Get("If-None-Match"), f.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.plain
	if f.packed != nil && AcceptsGzip(r.Header.Get("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		body = f.packed
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the client is gone when this fails; the server drops the body of an answer to HEAD
}

// AcceptsGzip says whether an Accept-Encoding header allows gzip.
func AcceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return strings.ReplaceAll(quality, " ", "") != "q=0"
		}
	}
	return false
}
