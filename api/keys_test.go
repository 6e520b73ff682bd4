package api_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api/tenant"
	"github.com/ostraka/ostraka/functions"
)

// TestAKeyIsAskedForByItsLifetime holds what the domain is asked for: a time, or so many seconds within the limits.
func TestAKeyIsAskedForByItsLifetime(t *testing.T) {
	r := newRig(t)
	most := int64(functions.MaxLifetime.Seconds())
	for ending, ends := range map[string]*time.Time{
		``:                                     nil,
		`,"expires_at":"2030-01-02T03:04:05Z"`: new(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)),
		`,"expires_in_seconds":60`:             new(when.Add(time.Minute)),
		fmt.Sprintf(`,"expires_in_seconds":%d`, most):   new(when.Add(functions.MaxLifetime)),
		fmt.Sprintf(`,"expires_in_seconds":%d`, most+1): {},
		`,"expires_in_seconds":0`:                       {},
	} {
		a := r.ask("POST", in("/keys"), ownerKey, `{"name":"x","role":"reviewer"`+ending+`}`)
		if ends != nil && ends.IsZero() {
			require.Equal(t, "invalid_request", a.problem(t).Code, ending)
			continue
		}
		require.Equal(t, 201, a.StatusCode, "%s: %s", ending, a.body)
		var made tenant.CreatedKey
		require.NoError(t, json.Unmarshal(a.body, &made))
		require.Equal(t, ends, made.Key.ExpiresAt, ending)
	}
}
