package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/ostraka/ostraka/bench/rig"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// objectsWithoutLease has an agent store objects under a lease that it has given back.
func objectsWithoutLease(ctx context.Context, s *scene) ([]figure, error) {
	a, err := s.hostile.Agent(ctx, "hoarder")
	if err != nil {
		return nil, err
	}
	if _, err := s.hostile.Submit(ctx, rig.Range("trivial", 1, client.PolicyRequest{None: true})); err != nil {
		return nil, err
	}
	lease, err := a.Lease(ctx, 1, "30s")
	if err != nil || lease == nil {
		return nil, err
	}
	returned, err := a.API.ReturnLeaseWithResponse(ctx, lease.ID, nil, client.Refusal{Code: "ordered", Text: "it only wanted to store"})
	if err != nil {
		return nil, err
	}
	if returned.StatusCode() != http.StatusNoContent {
		return nil, harm("a lease cannot be returned: %s", returned.Body)
	}
	stored := 0
	for i := range 10 {
		text := `"` + strings.Repeat("x", 100_000+i) + `"`
		put, err := a.API.PutOutputWithBodyWithResponse(ctx, lease.ID, canonical.Digest([]byte(text)), "application/octet-stream", strings.NewReader(text))
		if err != nil {
			return nil, err
		}
		if put.StatusCode() < http.StatusMultipleChoices {
			stored++
		}
	}
	if stored > 0 {
		return nil, harm("an agent has stored %d objects under a lease that it had given back", stored)
	}
	return nil, nil
}
