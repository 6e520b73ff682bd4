package agent

import (
	"crypto/ed25519"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/trust"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/signing"
)

// signer is a project's owner with the keys of the project.
type signer struct {
	project uuid.UUID
	keys    []ed25519.PrivateKey
	chain   []client.SigningKey
}

func newSigner(t *testing.T) *signer {
	t.Helper()
	s := &signer{project: uuid.New()}
	s.add(signing.First(s.newKey(t), s.project, 1))
	return s
}

func (s *signer) newKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	s.keys = append(s.keys, key)
	return key
}

func (s *signer) add(l signing.Link) {
	s.chain = append(s.chain, client.SigningKey{Generation: int64(l.Generation), PublicKey: l.PublicKey, Signature: l.Signature})
}

func (s *signer) rotate(t *testing.T) {
	t.Helper()
	before := s.keys[len(s.keys)-1]
	s.add(signing.Next(before, s.project, len(s.chain)+1, signing.Public(s.newKey(t))))
}

func (s *signer) fingerprint() string {
	return signing.Fingerprint(signing.Public(s.keys[len(s.keys)-1]))
}

func (s *signer) sign(digest string) *client.LeaseSigning {
	return &client.LeaseSigning{Signature: signing.SignBundle(s.keys[len(s.keys)-1], s.project, "double", digest), Keys: s.chain}
}

// signs makes the fake server lend a bundle that the owner has signed.
func (f *fakeServer) signs(s *signer) {
	f.project, f.keys, f.signing = s.project, s.chain, s.sign(f.bundle.Digest)
}

// signedServer is a fake server whose project signs its functions, with options of an agent that takes no others.
func signedServer(t *testing.T) (*fakeServer, *signer, Options) {
	t.Helper()
	f, s := newFakeServer(t, 1)
	owner := newSigner(t)
	f.signs(owner)
	o := testOptions(t, s)
	o.AllowUnsigned = false
	return f, owner, o
}

// otherBundle is other code under the same name, as whoever took the server over would like to have it executed.
func otherBundle(t *testing.T) *bundle.Bundle {
	t.Helper()
	return packed(t, "def handler(x):\n    return open('/etc/passwd').read()\n")
}

// untilRefused waits for a lease to be refused and requires that nothing was executed.
func untilRefused(t *testing.T, f *fakeServer, stop func() error, code string) {
	t.Helper()
	f.until("a lease is refused", func() bool { return len(f.refusals) > 0 })
	require.NoError(t, stop())
	require.Equal(t, code, f.refusals[0].Code, f.refusals[0].Text)
	require.True(t, f.refusals[0].Refuses)
	require.Empty(t, f.results)
}

func TestUnsignedFunctionsAreRefused(t *testing.T) {
	f, s := newFakeServer(t, 1)
	o := testOptions(t, s)
	o.AllowUnsigned = false
	untilRefused(t, f, start(t, o), trust.Unsigned)
}

func TestTheKeyIsLearnedAtJoining(t *testing.T) {
	f, owner, o := signedServer(t)
	stop := start(t, o)
	f.untilResults(1)
	require.NoError(t, stop())
	trusted, err := trust.Open(o.DataDir).Trusted(owner.project)
	require.NoError(t, err)
	require.Equal(t, owner.fingerprint(), trusted)
}

// A server that was taken over after the agent has joined can do none of these things, whatever the owner of the machine allows.
func TestATakenServerFeedsNoOtherCode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		attack func(t *testing.T, f *fakeServer, owner *signer)
		code   string
	}{
		"another bundle under its own digest": {func(t *testing.T, f *fakeServer, _ *signer) {
			t.Helper()
			f.bundle = otherBundle(t)
		}, trust.BadSignature},
		"another bundle under the digest that was signed": {func(t *testing.T, f *fakeServer, _ *signer) {
			t.Helper()
			other := otherBundle(t)
			other.Digest = f.bundle.Digest
			f.bundle = other
		}, refusedBundle},
		"no signature": {func(_ *testing.T, f *fakeServer, _ *signer) { f.signing = nil }, trust.Unsigned},
		"another key": {func(t *testing.T, f *fakeServer, owner *signer) {
			t.Helper()
			thief := newSigner(t)
			thief.project = owner.project
			thief.chain = nil
			thief.add(signing.First(thief.keys[0], owner.project, 1))
			f.bundle = otherBundle(t)
			f.signs(thief)
		}, trust.ReplacedKey},
		"another key instead of a lost one": {func(t *testing.T, f *fakeServer, owner *signer) {
			t.Helper()
			thief := &signer{project: owner.project, chain: owner.chain}
			thief.add(signing.First(thief.newKey(t), owner.project, 2))
			f.bundle = otherBundle(t)
			f.signs(thief)
		}, trust.ReplacedKey},
		"another signature": {func(_ *testing.T, f *fakeServer, _ *signer) { f.signing.Signature = make([]byte, 64) }, trust.BadSignature},
		"a function of another project": {func(t *testing.T, f *fakeServer, owner *signer) {
			t.Helper()
			thief := newSigner(t)
			f.bundle = otherBundle(t)
			f.signs(thief)
			f.project = owner.project
		}, trust.ReplacedKey},
	} {
		t.Run(name, func(t *testing.T) {
			f, s := newFakeServer(t, 1)
			owner := newSigner(t)
			f.signs(owner)
			o := testOptions(t, s)
			stop := start(t, o)
			f.untilResults(1)
			require.NoError(t, stop())
			f.set(func() {
				clear(f.results)
				f.returned, f.refusals = nil, nil
				f.shards = []client.LeasedShard{{Shard: 1, Input: "{}"}}
				c.attack(t, f, owner)
			})
			require.NoError(t, os.RemoveAll(filepath.Join(o.DataDir, "bundles")), "what is cached is the right one")
			stop = start(t, o)
			f.until("a lease is refused", func() bool { return len(f.refusals) > 0 })
			require.NoError(t, stop())
			require.Equal(t, c.code, f.refusals[0].Code, f.refusals[0].Text)
			require.Empty(t, f.results)
			trusted, err := trust.Open(o.DataDir).Trusted(owner.project)
			require.NoError(t, err)
			require.Equal(t, owner.fingerprint(), trusted, "the key that is trusted stays")
		})
	}
}

// A project that the agent did not meet when it joined has a key that nobody vouches for.
func TestANewProjectIsNotTrustedByItself(t *testing.T) {
	f, _, o := signedServer(t)
	stop := start(t, o)
	f.untilResults(1)
	require.NoError(t, stop())
	thief := newSigner(t)
	f.set(func() {
		clear(f.results)
		f.shards = []client.LeasedShard{{Shard: 1, Input: "{}"}}
		f.signs(thief)
	})
	stop = start(t, o)
	untilRefused(t, f, stop, trust.UntrustedKey)

	require.NoError(t, trust.Open(o.DataDir).Set(thief.project, thief.fingerprint(), trust.ByOwner))
	f.set(func() { f.shards = []client.LeasedShard{{Shard: 1, Input: "{}"}} })
	stop = start(t, o)
	f.untilResults(1)
	require.NoError(t, stop())
}

// The token carries the key that the owner knows: a server that names another when the agent joins gets nowhere.
func TestTheTokenNamesTheKey(t *testing.T) {
	f, owner, o := signedServer(t)
	o.Token = trust.Token{Secret: fakeToken, Project: owner.project, Fingerprint: owner.fingerprint()}.String()
	thief := newSigner(t)
	thief.project, thief.chain = owner.project, nil
	thief.add(signing.First(thief.keys[0], owner.project, 1))
	f.set(func() { f.signs(thief) })
	untilRefused(t, f, start(t, o), trust.ReplacedKey)

	f.set(func() {
		f.signs(owner)
		f.shards = []client.LeasedShard{{Shard: 0, Input: "{}"}}
	})
	stop := start(t, o)
	f.untilResults(1)
	require.NoError(t, stop())

	o.Token += "x"
	require.Error(t, Run(t.Context(), o), "a damaged token is no token without a key")
}

// The owner replaces the key while the agent knows the old one; later the old one does not count any more.
func TestTheAgentFollowsARotation(t *testing.T) {
	f, owner, o := signedServer(t)
	stop := start(t, o)
	f.untilResults(1)
	old := *owner
	old.chain, old.keys = append([]client.SigningKey{}, owner.chain...), append([]ed25519.PrivateKey{}, owner.keys...)
	owner.rotate(t)
	owner.rotate(t)
	f.set(func() {
		f.signs(owner)
		f.shards = []client.LeasedShard{{Shard: 1, Input: "{}"}}
	})
	f.untilResults(2)
	require.NoError(t, stop())
	keys, err := trust.Open(o.DataDir).Keys()
	require.NoError(t, err)
	require.Equal(t, owner.fingerprint(), keys[owner.project].Fingerprint)
	require.Equal(t, trust.ByOldKey, keys[owner.project].How)

	f.set(func() {
		clear(f.results)
		f.signs(&old)
		f.shards = []client.LeasedShard{{Shard: 2, Input: "{}"}}
	})
	untilRefused(t, f, start(t, o), trust.ReplacedKey)
}

// Where unsigned functions are allowed, a project that begins to sign is bound to its key from then on.
func TestFirstUseBinds(t *testing.T) {
	f, s := newFakeServer(t, 1)
	owner := newSigner(t)
	f.project = owner.project
	o := testOptions(t, s)
	stop := start(t, o)
	f.untilResults(1)
	f.set(func() {
		f.signs(owner)
		f.shards = []client.LeasedShard{{Shard: 1, Input: "{}"}}
	})
	f.untilResults(2)
	f.set(func() {
		f.signing = nil
		f.shards = []client.LeasedShard{{Shard: 2, Input: "{}"}}
	})
	f.until("a lease is refused", func() bool { return len(f.refusals) > 0 })
	require.NoError(t, stop())
	require.Equal(t, trust.Unsigned, f.refusals[0].Code)
	require.Len(t, f.results, 2)
}

// The bundle may be the project's, and still be another function than the signature is over.
func TestTheNameIsSigned(t *testing.T) {
	b := testBundle(t)
	signed := &client.Lease{Function: "treble", Signing: &client.LeaseSigning{}}
	require.Error(t, checkName(signed, b))
	signed.Function = "double"
	require.NoError(t, checkName(signed, b))
	require.NoError(t, checkName(&client.Lease{Function: "treble"}, b))
}

func TestDamagedTrustStopsTheAgent(t *testing.T) {
	_, s := newFakeServer(t, 1)
	o := testOptions(t, s)
	text, err := json.Marshal(map[string]any{"keys": map[string]any{uuid.NewString(): map[string]string{"fingerprint": "short"}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(o.DataDir, "trust.json"), text, 0o600))
	require.ErrorContains(t, Run(t.Context(), o), "trust.json")
}
