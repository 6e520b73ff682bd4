package engine_test

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/signing"
)

// registration is a request for a link of the chain.
func registration(l signing.Link, bundles ...functions.BundleSignature) functions.NewSigningKey {
	return functions.NewSigningKey{Generation: l.Generation, PublicKey: l.PublicKey, Signature: l.Signature, Bundles: bundles}
}

func signingKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	return key
}

func (w *world) register(k functions.NewSigningKey) error {
	_, _, err := w.RegisterSigningKey(w.t.Context(), w.by, w.project, k)
	return err
}

// pushSigned pushes a function with a signature by the key, or with none.
func (w *world) pushSigned(name, manifest string, key ed25519.PrivateKey) (functions.FunctionVersion, error) {
	w.t.Helper()
	archive := w.pack(name, manifest)
	var signature []byte
	if key != nil {
		b, err := bundle.Verify(bytes.NewReader(archive), -1)
		require.NoError(w.t, err)
		signature = signing.SignBundle(key, w.project, name, b.Digest)
	}
	v, _, err := w.PushFunction(w.t.Context(), w.by, w.project, bytes.NewReader(archive), signature)
	return v, err
}

func TestAProjectWithAKeyTakesOnlySignedFunctions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key, other := signingKey(t), signingKey(t)
	_, err := w.pushSigned("numbers", "", key)
	requireCode(t, err, "no_signing_key")
	require.NoError(t, w.register(registration(signing.First(key, w.project, 1))))

	_, err = w.pushSigned("numbers", "", nil)
	requireCode(t, err, "unsigned_bundle")
	_, err = w.pushSigned("numbers", "", other)
	requireCode(t, err, "bad_bundle_signature")
	_, _, err = w.SubmitJob(t.Context(), w.by, w.project, functions.NewJob{Function: "numbers", Partition: rangeOf(1)}, functions.Idempotency{})
	requireCode(t, err, "unsigned_bundle")

	v, err := w.pushSigned("numbers", "", key)
	require.NoError(t, err)
	require.Equal(t, 1, v.Version, "the version that was there before has a signature now")
	require.Equal(t, 1, *v.SignedBy)
	w.submit(2)
	w.settleAll()
	a := w.agent(honest)
	lease := a.lease(1)
	require.NotNil(t, lease.Signing)
	require.True(t, signing.VerifyBundle(lease.Signing.Keys[0].PublicKey, w.project, "numbers", lease.BundleDigest, lease.Signing.Signature))
	projects, err := w.ListAgentProjects(t.Context(), a.id, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Len(t, projects, 1)
	require.Equal(t, w.project, projects[0].Project)
	require.Equal(t, lease.Signing.Keys, projects[0].SigningKeys)

	// A key of which the version has no signature does not count, and agents are not told of the old one.
	next := signingKey(t)
	require.NoError(t, w.register(registration(signing.Next(key, w.project, 2, signing.Public(next)))))
	require.NoError(t, w.ReturnLease(t.Context(), a.id, lease.ID))
	lease = a.lease(1)
	require.Nil(t, lease.Signing)
	// The same registration again, with the signatures.
	again := registration(signing.Next(key, w.project, 2, signing.Public(next)), functions.BundleSignature{
		Function: "numbers", Digest: v.Digest, Signature: signing.SignBundle(next, w.project, "numbers", v.Digest),
	})
	_, created, err := w.RegisterSigningKey(t.Context(), w.by, w.project, again)
	require.NoError(t, err)
	require.False(t, created)
	require.NoError(t, w.ReturnLease(t.Context(), a.id, lease.ID))
	lease = a.lease(1)
	require.Len(t, lease.Signing.Keys, 2)
	require.True(t, signing.VerifyBundle(signing.Public(next), w.project, "numbers", v.Digest, lease.Signing.Signature))
}

func TestRegisteringSigningKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, c := signingKey(t), signingKey(t), signingKey(t)
	first := signing.First(a, w.project, 1)
	requireCode(t, w.register(registration(signing.Next(b, w.project, 1, first.PublicKey))), "bad_signing_key")
	require.NoError(t, w.register(registration(first)))
	require.NoError(t, w.register(registration(first)), "again is the same")

	requireCode(t, w.register(registration(signing.First(b, w.project, 2))), "bad_signing_key")
	requireCode(t, w.register(registration(signing.Next(a, w.project, 3, signing.Public(b)))), "signing_key_generation")
	requireCode(t, w.register(registration(signing.First(b, w.project, 1))), "signing_key_generation")
	requireCode(t, w.register(functions.NewSigningKey{Generation: 2, PublicKey: []byte("short"), Signature: first.Signature}), "bad_signing_key")

	v, err := w.GetFunction(t.Context(), w.project, "numbers", 0)
	require.NoError(t, err)
	second := signing.Next(a, w.project, 2, signing.Public(b))
	forged := functions.BundleSignature{Function: "numbers", Digest: v.Digest, Signature: signing.SignBundle(a, w.project, "numbers", v.Digest)}
	requireCode(t, w.register(registration(second, forged)), "bad_bundle_signature")
	unknown := strings.Repeat("0", 64)
	requireCode(t, w.register(registration(second, functions.BundleSignature{
		Function: "numbers", Digest: unknown, Signature: signing.SignBundle(b, w.project, "numbers", unknown),
	})), "not_found")
	requireCode(t, w.register(registration(second, make([]functions.BundleSignature, registry.MaxBundleSignatures+1)...)), "bad_signing_key")
	keys, err := w.ListSigningKeys(t.Context(), w.project)
	require.NoError(t, err)
	require.Len(t, keys, 1, "nothing of a registration that was refused is kept")
	require.NoError(t, w.register(registration(second)))
	requireCode(t, w.register(registration(signing.Next(b, w.project, 3, first.PublicKey))), "bad_signing_key")

	lost := registration(signing.First(c, w.project, 3))
	requireCode(t, w.register(lost), "bad_signing_key")
	lost.ReplacesLost = true
	require.NoError(t, w.register(lost))
	require.EqualValues(t, 1, w.count("select count(*) from audit where action = 'signing-key.register' and (detail ->> 'replaces_lost')::boolean"))

	last := c
	for n := 4; n <= signing.MaxKeys; n++ {
		next := signingKey(t)
		require.NoError(t, w.register(registration(signing.Next(last, w.project, n, signing.Public(next)))), fmt.Sprint(n))
		last = next
	}
	requireCode(t, w.register(registration(signing.Next(last, w.project, signing.MaxKeys+1, signing.Public(a)))), "bad_signing_key")
	other, _ := w.newProject("other")
	keys, err = w.ListSigningKeys(t.Context(), other)
	require.NoError(t, err)
	require.Empty(t, keys)
}
