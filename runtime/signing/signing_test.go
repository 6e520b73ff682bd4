package signing_test

import (
	"crypto/ed25519"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ostraka/ostraka/runtime/signing"
)

var (
	project = uuid.MustParse("01890a5d-ac96-774b-bcce-b302099a8057")
	other   = uuid.MustParse("01890a5d-ac96-774b-bcce-b302099a8058")
)

func key(t require.TestingT) ed25519.PrivateKey {
	_, k, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	return k
}

// chainOf makes a chain in which each key is signed by the one before.
func chainOf(keys ...ed25519.PrivateKey) []signing.Link {
	chain := []signing.Link{signing.First(keys[0], project, 1)}
	for i, k := range keys[1:] {
		chain = append(chain, signing.Next(keys[i], project, i+2, signing.Public(k)))
	}
	return chain
}

func TestBundleSignature(t *testing.T) {
	k := key(t)
	digest := strings.Repeat("ab", 32)
	signature := signing.SignBundle(k, project, "bpsw", digest)
	public := signing.Public(k)
	require.True(t, signing.VerifyBundle(public, project, "bpsw", digest, signature))
	require.False(t, signing.VerifyBundle(public, other, "bpsw", digest, signature), "another project")
	require.False(t, signing.VerifyBundle(public, project, "bpsv", digest, signature), "another function")
	require.False(t, signing.VerifyBundle(public, project, "bpsw", strings.Repeat("ac", 32), signature), "another bundle")
	require.False(t, signing.VerifyBundle(signing.Public(key(t)), project, "bpsw", digest, signature), "another key")
	require.False(t, signing.VerifyBundle(public[:31], project, "bpsw", digest, signature), "a short key does not panic")
	require.False(t, signing.VerifyBundle(public, project, "bpsw", digest, signature[:63]))
}

// From every key of a chain the newest is found, however long the chain; and from none once a link is another's.
func TestFollow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "keys")
		keys := make([]ed25519.PrivateKey, n)
		for i := range keys {
			keys[i] = key(t)
		}
		chain := chainOf(keys...)
		from := rapid.IntRange(0, n-1).Draw(t, "from")
		trusted := signing.Fingerprint(chain[from].PublicKey)
		newest, err := signing.Follow(project, chain, trusted)
		require.NoError(t, err)
		require.Equal(t, chain[n-1], newest)

		if from == n-1 {
			return
		}
		forged := append([]signing.Link{}, chain...)
		at := rapid.IntRange(from+1, n-1).Draw(t, "forged")
		forged[at] = signing.First(key(t), project, at+1)
		_, err = signing.Follow(project, forged, trusted)
		require.ErrorIs(t, err, signing.ErrBroken)
	})
}

func TestFollowRefuses(t *testing.T) {
	a, b := key(t), key(t)
	chain := chainOf(a, b)
	trusted := signing.Fingerprint(signing.Public(a))
	for name, c := range map[string]struct {
		chain []signing.Link
		want  error
	}{
		"nothing":                  {nil, signing.ErrMalformed},
		"an unknown key":           {chainOf(b), signing.ErrUnknownKey},
		"a lost key":               {[]signing.Link{chain[0], signing.First(b, project, 2)}, signing.ErrBroken},
		"a link for other project": {[]signing.Link{chain[0], signing.Next(a, other, 2, signing.Public(b))}, signing.ErrBroken},
		"a wrong number":           {[]signing.Link{chain[0], signing.Next(a, project, 3, signing.Public(b))}, signing.ErrMalformed},
		"a short key":              {[]signing.Link{{Generation: 1, PublicKey: []byte{1}, Signature: chain[0].Signature}}, signing.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := signing.Follow(project, c.chain, trusted)
			require.ErrorIs(t, err, c.want)
		})
	}
	_, err := signing.Follow(project, chain[:1], signing.Fingerprint(signing.Public(b)))
	require.ErrorIs(t, err, signing.ErrUnknownKey, "a chain that was cut back to before the key that is trusted")
}

func TestChainLength(t *testing.T) {
	keys := make([]ed25519.PrivateKey, signing.MaxKeys+1)
	for i := range keys {
		keys[i] = key(t)
	}
	_, err := signing.Newest(chainOf(keys[:signing.MaxKeys]...))
	require.NoError(t, err)
	_, err = signing.Newest(chainOf(keys...))
	require.ErrorIs(t, err, signing.ErrMalformed)
}

func TestFingerprint(t *testing.T) {
	f := signing.Fingerprint(signing.Public(key(t)))
	require.True(t, signing.IsFingerprint(f))
	require.False(t, signing.IsFingerprint(strings.ToUpper(f[:63])+"A"))
	require.False(t, signing.IsFingerprint(f[:62]))
	require.False(t, signing.IsFingerprint(""))
}
