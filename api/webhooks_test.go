package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestThePathOfAWebhookIsForOwners: it is a secret where others' services know a caller by it.
func TestThePathOfAWebhookIsForOwners(t *testing.T) {
	r := newRig(t)
	for key, want := range map[string]string{ownerKey: hooked().URL, viewerKey: "https://hooks.example", submitterKey: "https://hooks.example"} {
		a := r.ask("GET", in("/webhooks/"+thingID.String()), key, "")
		require.Equal(t, 200, a.StatusCode, "%s", a.body)
		var shown struct{ URL, Secret string }
		require.NoError(t, json.Unmarshal(a.body, &shown))
		require.Equal(t, want, shown.URL)
		require.Empty(t, shown.Secret)
		list := r.ask("GET", in("/webhooks"), key, "")
		require.Equal(t, 200, list.StatusCode, "%s", list.body)
		require.Equal(t, key == ownerKey, strings.Contains(string(list.body), "secret-path"))
	}
	require.Equal(t, 403, r.ask("POST", in("/webhooks"), viewerKey, `{"name":"x","url":"https://hooks.example/","kinds":["job.failed"]}`).StatusCode)
	require.Equal(t, 422, r.ask("POST", in("/webhooks"), ownerKey, `{"name":"x","url":"https://hooks.example/","kinds":["job.rocks"]}`).StatusCode)
}
