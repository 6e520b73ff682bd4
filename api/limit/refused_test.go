package limit_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api/limit"
)

func TestRefusalsAreRememberedForAWhile(t *testing.T) {
	now, why := time.Unix(0, 0), errors.New("not valid")
	r := limit.NewRefused(time.Minute, func() time.Time { return now })
	require.NoError(t, r.Why("a"))
	r.Add("a", why)
	require.Equal(t, why, r.Why("a"))
	require.NoError(t, r.Why("b"))
	now = now.Add(time.Minute)
	require.NoError(t, r.Why("a"))
	for i := range 20_001 {
		r.Add(strconv.Itoa(i), why)
	}
	require.NoError(t, r.Why("0"), "there is an end to what is remembered")
	require.NoError(t, r.Why("10000"))
	require.Equal(t, why, r.Why("10001"), "ten thousand are remembered, the newest")
	require.Equal(t, why, r.Why("20000"))
	r.Forget("20000")
	require.NoError(t, r.Why("20000"))
}
