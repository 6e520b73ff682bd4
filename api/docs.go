package api

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/client/python"
)

//go:embed docs
var docsFiles embed.FS

// docsPolicy allows the pages their style sheet and nothing else: they have no scripts and need no network.
const docsPolicy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// document is one file of the documentation.
type document struct {
	path, mediaType string
	body            func() ([]byte, error)
}

// written is a document that is there already.
func written(path, mediaType string, body []byte) document {
	return document{path, mediaType, func() ([]byte, error) { return body, nil }}
}

// newDocs writes the reference, the list of problems and the specification in all its forms.
func newDocs(spec *huma.OpenAPI) ([]document, error) {
	pages, err := template.New("docs").Funcs(template.FuncMap{"markdown": markdown, "schema": describeSchema}).ParseFS(docsFiles, "docs/*.html")
	if err != nil {
		return nil, fmt.Errorf("reading the templates of the documentation: %w", err)
	}
	style, err := docsFiles.ReadFile("docs/style.css")
	if err != nil {
		return nil, fmt.Errorf("reading the style sheet of the documentation: %w", err)
	}
	all := []document{written("/docs/style.css", "text/css; charset=utf-8", style)}
	for _, page := range []struct {
		path, name string
		data       any
	}{
		{"/docs", "reference.html", newReference(spec)},
		{rest.ProblemsPath, "problems.html", rest.Explained()},
	} {
		var text bytes.Buffer
		if err := pages.ExecuteTemplate(&text, page.name, page.data); err != nil {
			return nil, fmt.Errorf("writing %s: %w", page.path, err)
		}
		all = append(all, written(page.path, "text/html; charset=utf-8", text.Bytes()))
	}
	return append(append(all, pythonClient()...), specDocuments(spec)...), nil
}

// pythonClient is the client that fits this server, and its SHA-256 as sha256sum prints it.
func pythonClient() []document {
	const path = "/client/ostraka.py"
	sum := sha256.Sum256(python.Client)
	return []document{
		written(path, "text/x-python; charset=utf-8", python.Client),
		written(path+".sha256", "text/plain; charset=utf-8", fmt.Appendf(nil, "%x  ostraka.py\n", sum)),
	}
}

// specDocuments are the specification in OpenAPI 3.1 and, for tools that are not so far, 3.0. Each is written when it is first asked for:
// together they take longer than everything else that a server does to start.
func specDocuments(spec *huma.OpenAPI) []document {
	return []document{
		{"/openapi.yaml", "application/openapi+yaml", sync.OnceValues(spec.YAML)},
		{"/openapi.json", "application/openapi+json", sync.OnceValues(func() ([]byte, error) { return json.MarshalIndent(spec, "", "  ") })},
		{"/openapi-3.0.yaml", "application/openapi+yaml", sync.OnceValues(func() ([]byte, error) { return downgradeYAML(spec) })},
		{"/openapi-3.0.json", "application/openapi+json", sync.OnceValues(func() ([]byte, error) { return downgrade(spec) })},
	}
}

func (d document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rest.CallOf(r.Context()).Operation = "docs"
	body, err := d.body()
	if err != nil {
		http.Error(w, "this document could not be written", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", d.mediaType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Content-Security-Policy", docsPolicy)
	h.Set("Cache-Control", "max-age=300") // the same for everybody, until the next version is installed
	_, _ = w.Write(body)                  // the client is gone when this fails; the server drops the body of an answer to HEAD
}
