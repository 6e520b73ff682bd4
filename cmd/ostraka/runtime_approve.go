package main

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// nativeCodeRule is the built-in rule that asks before native code of a new publisher is published.
const nativeCodeRule = "ask-native-code"

// errApprovalNeeded is the server's word for an operation that waits for a person's yes.
var errApprovalNeeded = answer.Code("approval_needed")

// approveRuntime says yes to what the built-in rule asks about the runtime with this digest: to nothing else that waits.
func approveRuntime(ctx context.Context, t *terminal, c *connection, digest, why string) error {
	state := client.ListApprovalsParamsState("waiting")
	doc, err := answer.Read[client.GuardianApprovalList](c.ListApprovals(ctx, c.project, &client.ListApprovalsParams{State: &state, Limit: new(int64(pageSize))}))
	if err != nil {
		return err
	}
	for _, a := range doc.Value.Items {
		if a.Rule != nativeCodeRule || a.Layer != client.GuardianApprovalLayerBuiltin || !isAbout(a.Facts, digest) {
			continue
		}
		key := uuid.NewString()
		_, err := answer.Read[client.GuardianApproval](c.DecideApproval(ctx, c.project, a.ID, &client.DecideApprovalParams{IdempotencyKey: &key}, client.ApprovalDecision{Approve: true, Reason: why}))
		if err != nil {
			return err
		}
		t.say("approved, as the guardian asks about native code of a new publisher: %s", why)
	}
	return nil
}

// isAbout says whether the facts of an operation are about a runtime with this digest.
func isAbout(facts json.RawMessage, digest string) bool {
	var about struct {
		Runtime struct {
			Digest string `json:"digest"`
		} `json:"runtime"`
	}
	return json.Unmarshal(facts, &about) == nil && about.Runtime.Digest == digest
}
