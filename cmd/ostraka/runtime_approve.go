package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// nativeCodeRule is the built-in rule that asks before native code of a new publisher is published.
const nativeCodeRule = "ask-native-code"

// errApprovalNeeded is the server's word for an operation that waits for a person's yes.
var errApprovalNeeded = answer.Code("approval_needed")

// waitingApproval finds the approvals that a refusal names.
var waitingApproval = regexp.MustCompile(`approval ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) waits for it`)

// approveRuntime says yes to what the built-in rule asks in answer to the request that was refused: to nothing else that waits, not even
// for the same files, which somebody else may have asked for.
func approveRuntime(ctx context.Context, t *terminal, c *connection, name, digest, why string, refused error) error {
	var problem *answer.Error
	if !errors.As(refused, &problem) {
		return refused
	}
	for _, named := range waitingApproval.FindAllStringSubmatch(problem.Detail, -1) {
		id, err := uuid.Parse(named[1])
		if err != nil {
			return fmt.Errorf("reading the ID of an approval: %w", err)
		}
		doc, err := answer.Read[client.GuardianApproval](c.GetApproval(ctx, c.project, id))
		if err != nil {
			return err
		}
		if !asksAbout(doc.Value, name, digest) { // a rule of an operator or of the project, too, may ask
			continue
		}
		key := uuid.NewString()
		_, err = answer.Read[client.GuardianApproval](c.DecideApproval(ctx, c.project, id, &client.DecideApprovalParams{IdempotencyKey: &key}, client.ApprovalDecision{Approve: true, Reason: why}))
		if err != nil {
			return err
		}
		t.say("approved, as the guardian asks about native code of a new publisher: %s", why)
	}
	return nil
}

// asksAbout says whether the built-in rule asks about this runtime.
func asksAbout(a client.GuardianApproval, name, digest string) bool {
	var about struct {
		Runtime struct {
			Digest string `json:"digest"`
		} `json:"runtime"`
	}
	return a.Rule == nativeCodeRule && a.Layer == client.GuardianApprovalLayerBuiltin && a.Subject == name &&
		json.Unmarshal(a.Facts, &about) == nil && about.Runtime.Digest == digest
}
