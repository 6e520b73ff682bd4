package functions_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
)

func TestExpiry(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	most := int64(functions.MaxLifetime.Seconds())
	later := now.Add(time.Hour)
	for name, c := range map[string]struct {
		asked    *functions.Expiry
		ends     *time.Time // nil: never
		lifetime int64
	}{
		"never":         {nil, nil, 0},
		"in an hour":    {&functions.Expiry{Seconds: 3600}, &later, 3600},
		"at a time":     {&functions.Expiry{At: later.In(time.FixedZone("x", 3600))}, &later, 3600},
		"at once":       {&functions.Expiry{At: now.Add(1)}, new(now.Add(1)), 1},
		"in a second":   {&functions.Expiry{Seconds: 1}, new(now.Add(time.Second)), 1},
		"in a century":  {&functions.Expiry{Seconds: most}, new(now.Add(functions.MaxLifetime)), most},
		"in long years": {&functions.Expiry{At: now.AddDate(200, 0, 0)}, new(now.AddDate(200, 0, 0)), int64(now.AddDate(200, 0, 0).Sub(now).Seconds())},
	} {
		require.NoError(t, c.asked.Check(now), name)
		require.Equal(t, c.ends, c.asked.From(now), name)
		require.Equal(t, c.lifetime, c.asked.Lifetime(now), name)
	}
	for name, bad := range map[string]functions.Expiry{
		"no seconds":     {},
		"too few":        {Seconds: -1},
		"one too many":   {Seconds: most + 1},
		"now":            {At: now},
		"past":           {At: now.Add(-1)},
		"both":           {At: later, Seconds: 1},
		"both, and past": {At: now.Add(-1), Seconds: 1},
	} {
		require.Error(t, bad.Check(now), name)
	}
}
