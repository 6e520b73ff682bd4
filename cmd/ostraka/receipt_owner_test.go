package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/runtime/signing"
)

// TestTheOwnersSignatureIsVerified over exactly the function of the receipt, by the key that is named.
func TestTheOwnersSignatureIsVerified(t *testing.T) {
	t.Parallel()
	project := uuid.MustParse("01a20052-0f0b-7723-86c4-b07d6b8e85ba")
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	digest := audit.DigestOf(nil)
	said := func() audit.Statement {
		return audit.Statement{Project: project.String(), Function: audit.FunctionStated{
			Name: "sums", Version: 1, Digest: digest, SignedBy: "1",
			Key: hex.EncodeToString(signing.Public(key)), Signature: hex.EncodeToString(signing.SignBundle(key, project, "sums", digest)),
		}}
	}
	known := &receiptVerifyOptions{owner: signing.Fingerprint(signing.Public(key))}
	require.NoError(t, known.checkOwner(said()))
	require.NoError(t, (&receiptVerifyOptions{}).checkOwner(said()))
	require.Contains(t, ownerText(said().Function), known.owner)
	for name, change := range map[string]func(*audit.Statement){
		"another project":  func(s *audit.Statement) { s.Project = uuid.NewString() },
		"another function": func(s *audit.Statement) { s.Function.Name = "products" },
		"another bundle":   func(s *audit.Statement) { s.Function.Digest = audit.DigestOf([]byte("x")) },
		"no signature":     func(s *audit.Statement) { s.Function.Signature = "zz" },
		"another key": func(s *audit.Statement) {
			s.Function.Key = hex.EncodeToString(signing.Public(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, ed25519.SeedSize))))
		},
	} {
		other := said()
		change(&other)
		var no *refusal
		require.ErrorAs(t, (&receiptVerifyOptions{}).checkOwner(other), &no, name)
	}
	require.ErrorContains(t, (&receiptVerifyOptions{owner: digest}).checkOwner(said()), "--owner names")
	without := said()
	without.Function.Key = ""
	require.ErrorContains(t, known.checkOwner(without), "--owner asks for one")
	require.NoError(t, (&receiptVerifyOptions{}).checkOwner(without))
	require.NotEmpty(t, ownerNotProved(without.Function, false))
	require.NotEmpty(t, ownerNotProved(said().Function, false))
	require.Empty(t, ownerNotProved(said().Function, true))
}
