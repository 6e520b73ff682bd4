package webhook

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/runtime/webhook"
)

// bodyOf is what is sent of some data, and the data in it.
func bodyOf(t *testing.T, data map[string]any) (body []byte, sent map[string]any) {
	t.Helper()
	text, err := json.Marshal(data)
	require.NoError(t, err)
	r := deliveryRow{Delivery: Delivery{Kind: functions.WebhookJobFailed, At: time.Unix(0, 0)}, Data: text}
	body, err = r.body()
	require.NoError(t, err)
	again, err := r.body()
	require.NoError(t, err)
	require.Equal(t, body, again, "each try sends the same")
	var m struct {
		Type string
		Data map[string]any
	}
	require.NoError(t, json.Unmarshal(body, &m))
	require.Equal(t, "job.failed", m.Type)
	return body, m.Data
}

func TestALongEventIsCut(t *testing.T) {
	short, _ := bodyOf(t, map[string]any{"error": "", "job": "1", "url": "/v1/1"})
	room := webhook.MaxBody - len(short)
	for name, test := range map[string]struct {
		text string
		cut  bool
	}{
		"at the limit":  {strings.Repeat("x", room), false},
		"one past it":   {strings.Repeat("x", room+1), true},
		"very long":     {strings.Repeat("x", 1<<20), true},
		"escaped":       {strings.Repeat("<", room/6), false},
		"escaped, past": {strings.Repeat("<", room/6+1), true},
		"in a rune":     {strings.Repeat("\u00e9", room), true},
	} {
		t.Run(name, func(t *testing.T) {
			body, sent := bodyOf(t, map[string]any{"error": test.text, "job": "1", "url": "/v1/1"})
			require.LessOrEqual(t, len(body), webhook.MaxBody)
			require.Equal(t, "1", sent["job"])
			require.Equal(t, "/v1/1", sent["url"])
			if !test.cut {
				require.Equal(t, test.text, sent["error"])
				return
			}
			kept, marked := strings.CutSuffix(sent["error"].(string), "…")
			require.True(t, marked)
			require.NotEmpty(t, kept)
			require.True(t, strings.HasPrefix(test.text, kept))
		})
	}
}

// TestALongEventIsSentInAnyCase, whatever it is that makes it long.
func TestALongEventIsSentInAnyCase(t *testing.T) {
	body, sent := bodyOf(t, map[string]any{"job": "1", "shards": make([]int, webhook.MaxBody), "reason": strings.Repeat("r", 30_000), "error": strings.Repeat("e", 30_000)})
	require.LessOrEqual(t, len(body), webhook.MaxBody)
	require.Equal(t, "1", sent["job"])
	require.NotContains(t, sent, "shards")
	require.Contains(t, sent["error"], "ee")
	require.Contains(t, sent["reason"], "rr")
}
