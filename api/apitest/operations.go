// Package apitest tries every operation of a running server, so that none can be forgotten. It knows the operations from the
// specification that the server itself serves.
package apitest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// operation is what the specification says of one operation, as far as the tests need it.
type operation struct {
	ID          string                `json:"operationId"`
	Roles       []string              `json:"x-ostraka-roles"`
	Security    []map[string][]string `json:"security"`
	RequestBody *struct {
		Content map[string]any `json:"content"`
	} `json:"requestBody"`
	Parameters []struct {
		Name     string `json:"name"`
		In       string `json:"in"`
		Required bool   `json:"required"`
	} `json:"parameters"`

	method, path string
}

// inProject says whether the operation belongs to one project.
func (op operation) inProject() bool { return strings.Contains(op.path, "{project}") }

func (op operation) enrolment() bool {
	return slices.ContainsFunc(op.Security, func(s map[string][]string) bool { _, ok := s["enrolmentToken"]; return ok })
}

// operations reads the specification of the server at url.
func operations(t *testing.T, url string) []operation {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/openapi.json", nil)
	require.NoError(t, err)
	response, err := new(http.Client).Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	var spec struct {
		Paths map[string]map[string]operation `json:"paths"`
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&spec))
	var all []operation
	for path, methods := range spec.Paths {
		for method, op := range methods {
			op.method, op.path = strings.ToUpper(method), path
			all = append(all, op)
		}
	}
	require.NotEmpty(t, all)
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// placeholders are values for the parameters of a path. They name nothing that exists, and are of the right form.
var placeholders = map[string]string{
	"name": "no-such-name", "version": "1", "number": "0", "digest": strings.Repeat("0", 64),
}

const noSuchID = "0190a5d4-7777-7777-8777-777777777777"

// target is the operation's URL in a project.
func (op operation) target(url, project string) string {
	segments := strings.Split(op.path, "/")
	for i, segment := range segments {
		name, isParameter := strings.CutPrefix(segment, "{")
		name = strings.TrimSuffix(name, "}")
		switch value, known := placeholders[name]; {
		case !isParameter:
		case name == "project":
			segments[i] = project
		case known:
			segments[i] = value
		default:
			segments[i] = noSuchID
		}
	}
	query := ""
	for _, parameter := range op.Parameters {
		if parameter.In == "query" && parameter.Required {
			query += "&" + parameter.Name + "=" + placeholders[parameter.Name]
		}
	}
	return url + strings.Join(segments, "/") + strings.Replace(query, "&", "?", 1)
}

// problem is what all refusals look like.
type problem struct {
	Status    int    `json:"status"`
	Code      string `json:"code"`
	Detail    string `json:"detail"`
	Hint      string `json:"hint"`
	RequestID string `json:"request_id"`
}

// call sends a request of the operation. The body is of the right media type and says nothing: who may not call the operation is
// refused before anybody looks into it.
func (op operation) call(t *testing.T, target, key string) (status int, p problem) {
	t.Helper()
	var body io.Reader
	mediaType := ""
	if op.RequestBody != nil {
		body = strings.NewReader("{}")
		for mediaType = range op.RequestBody.Content {
			break
		}
	}
	if op.enrolment() {
		body = strings.NewReader(enrolment)
	}
	request, err := http.NewRequestWithContext(t.Context(), op.method, target, body)
	require.NoError(t, err)
	if mediaType != "" {
		request.Header.Set("Content-Type", mediaType)
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := new(http.Client).Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	if response.StatusCode < http.StatusBadRequest {
		return response.StatusCode, p
	}
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	if response.Header.Get("Content-Type") == "application/problem+json" {
		require.NoError(t, json.Unmarshal(text, &p), "%s", text)
		require.NotEmpty(t, p.Hint, "%s", text)
	}
	if response.StatusCode == http.StatusUnauthorized {
		require.NotEmpty(t, response.Header.Get("WWW-Authenticate"), "%s", text)
	}
	return response.StatusCode, p
}

// enrolment is a well-formed request to join, whose proof proves nothing.
var enrolment = fmt.Sprintf(`{"public_key":%q,"proof":%q,"name":"nobody","isolation":"process","platform":{"os":"","arch":"","interpreter":"","libc":"","cpus":0,"memory_bytes":0,"agent":""}}`,
	strings.Repeat("A", 43)+"=", strings.Repeat("A", 86)+"==")
