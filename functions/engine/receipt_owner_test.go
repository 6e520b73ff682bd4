package engine_test

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/runtime/signing"
)

// TestAReceiptHasTheOwnersKey, so that the signature over the function can be verified by it.
func TestAReceiptHasTheOwnersKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v, err := w.GetFunction(t.Context(), w.project, "numbers", 1)
	require.NoError(t, err)
	key := signingKey(t)
	require.NoError(t, w.register(registration(signing.First(key, w.project, 1), functions.BundleSignature{
		Function: "numbers", Digest: v.Digest, Signature: signing.SignBundle(key, w.project, "numbers", v.Digest),
	})))
	job := w.agreed(3)
	w.makeReceipt(job.ID)
	r, _ := w.receipt(job.ID)
	said := r.Statement.Function
	require.Equal(t, hex.EncodeToString(signing.Public(key)), said.Key)
	signature, err := hex.DecodeString(said.Signature)
	require.NoError(t, err)
	require.True(t, signing.VerifyBundle(signing.Public(key), w.project, said.Name, said.Digest, signature))
}
