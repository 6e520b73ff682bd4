package webhook

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/webhook"
)

func TestWhatFollowsFromATry(t *testing.T) {
	require.Len(t, pauses(), MaxTries-1)
	answered := func(status int, retry time.Duration) try {
		return try{answer: webhook.Answer{Status: status, RetryAfter: retry}, number: 1}
	}
	for _, status := range []int{200, 202, 204, 299} {
		require.Equal(t, Delivered, answered(status, 0).outcome().state)
	}
	for _, status := range []int{100, 101, 301, 400, 404, 500} {
		o := answered(status, time.Hour).outcome()
		require.Equal(t, Waiting, o.state, status)
		require.Equal(t, 5*time.Second, o.again, "only 429 and 503 say when")
		require.NotEmpty(t, o.text)
		require.Empty(t, o.pause)
	}
	require.Contains(t, answered(302, 0).outcome().text, "redirects are not followed")
	for _, status := range []int{429, 503} {
		require.Equal(t, time.Hour, answered(status, time.Hour).outcome().again)
		require.Equal(t, MaxRetryAfter, answered(status, MaxRetryAfter+time.Second).outcome().again)
		require.Equal(t, 5*time.Second, answered(status, time.Second).outcome().again, "never sooner than usual")
	}
	gone := answered(410, 0).outcome()
	require.Equal(t, Failed, gone.state)
	require.Contains(t, gone.pause, "410")
	for n := 1; n < MaxTries; n++ {
		o := try{err: errors.New("away"), number: n, jitter: 1}.outcome()
		require.Equal(t, Waiting, o.state)
		require.Nil(t, o.status)
		require.Equal(t, time.Duration(float64(pauses()[n-1])*1.1), o.again)
	}
	require.Equal(t, Failed, try{err: errors.New("away"), number: MaxTries}.outcome().state)
	require.Empty(t, try{err: errors.New("away"), number: 1, failing: FailingFor - 1}.outcome().pause)
	require.Contains(t, try{err: errors.New("away"), number: 1, failing: FailingFor}.outcome().pause, "away")
}

// TestAReasonIsPlain whatever is in an error: a text with a NUL could not be stored, and the try would never count.
func TestAReasonIsPlain(t *testing.T) {
	for text, want := range map[string]string{
		"its name is \x00\x1b[2Jx\r\n\u202e\u00e9": "its name is [2Jx\u00e9",
		"cut \xff\xc3":                              "cut ",
		strings.Repeat("x", maxReason):              strings.Repeat("x", maxReason),
		strings.Repeat("x", maxReason+1):            strings.Repeat("x", maxReason),
		strings.Repeat("x", maxReason-1) + "\u00e9": strings.Repeat("x", maxReason-1),
	} {
		o := try{err: errors.New(text), number: 1, failing: FailingFor}.outcome()
		require.Equal(t, want, o.text)
		require.Contains(t, o.pause, want)
		require.NotContains(t, o.pause, "\x00")
	}
}
