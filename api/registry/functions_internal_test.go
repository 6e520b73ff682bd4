package registry

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/semaphore"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// tarred is a function's folder as another program packs it.
func tarred(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	w := tar.NewWriter(packed)
	for _, f := range [][2]string{{"main.py", "def handler(x):\n    return x\n"}, {bundle.ManifestName, "name = \"echo\"\nentrypoint = \"main:handler\"\n"}} {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: f[0], Mode: 0o644, Size: int64(len(f[1]))}))
		_, err := io.WriteString(w, f[1])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, packed.Close())
	return out.Bytes()
}

// TestOneFunctionIsPackedAnewAtATime: who finds the place taken is told to come again, after the body was read; a bundle needs no place.
func TestOneFunctionIsPackedAnewAtATime(t *testing.T) {
	t.Parallel()
	s := &server{repacks: semaphore.NewWeighted(repacksAtOnce)}
	anew := &PushFunctionInput{Repack: true}
	require.True(t, s.repacks.TryAcquire(repacksAtOnce))
	body := bytes.NewReader(tarred(t))
	_, err := s.packed(anew, body)
	var busy *rest.Problem
	require.ErrorAs(t, err, &busy)
	require.Equal(t, http.StatusServiceUnavailable, busy.Status)
	require.Equal(t, rest.CodeBusy, busy.Code)
	require.NotEmpty(t, busy.GetHeaders().Get("Retry-After"))
	require.Zero(t, body.Len(), "the place is not held while a body comes")
	as, err := s.packed(&PushFunctionInput{}, strings.NewReader("as it is"))
	require.NoError(t, err)
	content, err := io.ReadAll(as)
	require.NoError(t, err)
	require.Equal(t, "as it is", string(content))
	s.repacks.Release(repacksAtOnce)

	for range 2 { // and the place is given back, by who was served and by who was refused
		packed, err := s.packed(anew, bytes.NewReader(tarred(t)))
		require.NoError(t, err)
		_, err = bundle.Verify(packed, -1)
		require.NoError(t, err)
		_, err = s.packed(anew, strings.NewReader("no archive"))
		var refused *functions.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, "bad_bundle", refused.Code)
	}
}
