package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/registry"
)

// A file's name is one segment of a path, whatever slashes it has.
func TestFilesAreNamedInPaths(t *testing.T) {
	r := newRig(t)
	digest := strings.Repeat("ab", 32)
	a := r.ask("PUT", in("/files/texts%2F2024%2Fa%20b.txt"), ownerKey, "hello", "Content-Type", "application/octet-stream", "If-Match", `"`+digest+`"`)
	require.Equal(t, http.StatusOK, a.StatusCode, string(a.body))
	require.Equal(t, "texts/2024/a b.txt", r.fake.name)
	require.Equal(t, "hello", string(r.fake.stored))
	require.Equal(t, registry.FileCondition{Digest: digest}, r.fake.when)
	require.Equal(t, `"`+digest+`"`, a.Header.Get("ETag"))
	require.Equal(t, in("/files/texts%2F2024%2Fa%20b.txt"), a.Header.Get("Location"))

	a = r.ask("GET", in("/files/texts%2Fa.txt"), viewerKey, "")
	require.Equal(t, http.StatusOK, a.StatusCode, string(a.body))
	require.Equal(t, "texts/a.txt", r.fake.name)

	a = r.ask("GET", in("/files/..%2F..%2Fkeys"), viewerKey, "")
	require.Equal(t, "../../keys", r.fake.name, "the domain refuses it: %s", string(a.body))

	a = r.ask("POST", in("/files"), ownerKey, `{"name":"a","digest":"`+digest+`"}`, "If-None-Match", "*")
	require.Equal(t, http.StatusOK, a.StatusCode, string(a.body))
	require.Equal(t, registry.FileCondition{New: true}, r.fake.when)

	a = r.ask("DELETE", in("/files/a"), ownerKey, "", "If-Match", `"x"`)
	require.Equal(t, http.StatusUnprocessableEntity, a.StatusCode)
	require.Equal(t, "bad_if_match", a.problem(t).Code)
	require.Equal(t, http.StatusNoContent, r.ask("DELETE", in("/files/a"), ownerKey, "").StatusCode)
	require.Equal(t, http.StatusForbidden, r.ask("DELETE", in("/files/a"), viewerKey, "").StatusCode)
}
