package main

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

func TestTheLastOwnersKeyIsKnown(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	mine := client.Key{ID: uuid.New(), Role: "owner"}
	for name, c := range map[string]struct {
		others []client.Key
		last   bool
	}{
		"alone":                       {nil, true},
		"beside another":              {[]client.Key{{ID: uuid.New(), Role: "owner"}}, false},
		"beside one that expires":     {[]client.Key{{ID: uuid.New(), Role: "owner", ExpiresAt: new(now.Add(time.Hour))}}, false},
		"beside one that has expired": {[]client.Key{{ID: uuid.New(), Role: "owner", ExpiresAt: new(now)}}, true},
		"beside one that was revoked": {[]client.Key{{ID: uuid.New(), Role: "owner", RevokedAt: new(now)}}, true},
		"beside a submitter's":        {[]client.Key{{ID: uuid.New(), Role: "submitter"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.last, lastOwner(append(c.others, mine), mine.ID, now))
			require.False(t, lastOwner(append(c.others, mine), uuid.New(), now), "it is about another key")
		})
	}
	mine.RevokedAt = new(now)
	require.False(t, lastOwner([]client.Key{mine}, mine.ID, now), "it works no more")
}
