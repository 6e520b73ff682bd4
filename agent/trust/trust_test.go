package trust_test

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/trust"
	"github.com/ostraka/ostraka/runtime/signing"
)

var (
	project = uuid.MustParse("01890a5d-ac96-774b-bcce-b302099a8057")
	digest  = strings.Repeat("ab", 32)
)

func newKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	return key
}

func fingerprint(key ed25519.PrivateKey) string { return signing.Fingerprint(signing.Public(key)) }

func offer(key ed25519.PrivateKey, chain ...signing.Link) trust.Offer {
	return trust.Offer{
		Project: project, Function: "f", Digest: digest, Signed: true,
		Signature: signing.SignBundle(key, project, "f", digest), Keys: chain,
	}
}

func TestJudge(t *testing.T) {
	mine, next, theirs := newKey(t), newKey(t), newKey(t)
	first := signing.First(mine, project, 1)
	rotated := []signing.Link{first, signing.Next(mine, project, 2, signing.Public(next))}
	stolen := []signing.Link{first, signing.First(theirs, project, 2)}
	signed := offer(mine, first)
	change := func(do func(o *trust.Offer)) trust.Offer {
		o := signed
		do(&o)
		return o
	}
	for name, c := range map[string]struct {
		trusted string
		allow   bool
		offer   trust.Offer
		code    string // "": it is executed
		trust   string
	}{
		"signed by the trusted key":          {fingerprint(mine), false, signed, "", fingerprint(mine)},
		"unsigned and allowed":               {"", true, trust.Offer{Project: project}, "", ""},
		"unsigned":                           {"", false, trust.Offer{Project: project}, trust.Unsigned, ""},
		"unsigned, though a key is trusted":  {fingerprint(mine), true, trust.Offer{Project: project}, trust.Unsigned, ""},
		"a key that nobody trusts":           {"", false, signed, trust.UntrustedKey, ""},
		"the first key of an unsigned one":   {"", true, signed, "", fingerprint(mine)},
		"a rotated key":                      {fingerprint(mine), false, offer(next, rotated...), "", fingerprint(next)},
		"a signature by the key before":      {fingerprint(mine), false, offer(mine, rotated...), trust.BadSignature, ""},
		"a chain back to before the key":     {fingerprint(next), false, signed, trust.ReplacedKey, ""},
		"another key":                        {fingerprint(mine), true, offer(theirs, signing.First(theirs, project, 1)), trust.ReplacedKey, ""},
		"another key in place of a lost one": {fingerprint(mine), true, offer(theirs, stolen...), trust.ReplacedKey, ""},
		"another bundle":                     {fingerprint(mine), true, change(func(o *trust.Offer) { o.Digest = strings.Repeat("ac", 32) }), trust.BadSignature, ""},
		"another function":                   {fingerprint(mine), true, change(func(o *trust.Offer) { o.Function = "g" }), trust.BadSignature, ""},
		"another signature":                  {fingerprint(mine), true, change(func(o *trust.Offer) { o.Signature = make([]byte, 64) }), trust.BadSignature, ""},
		"no signature":                       {fingerprint(mine), true, change(func(o *trust.Offer) { o.Signature = nil }), trust.BadSignature, ""},
		"no keys":                            {fingerprint(mine), true, change(func(o *trust.Offer) { o.Keys = nil }), trust.BadSignature, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := trust.Judge(c.trusted, c.allow, c.offer)
			if c.code == "" {
				require.NoError(t, err)
				require.Equal(t, c.trust, got)
				return
			}
			var refusal *trust.Refusal
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, c.code, refusal.Code, refusal.Text)
			require.LessOrEqual(t, len([]rune(refusal.Text)), 300, "the server keeps no more: %s", refusal.Text)
		})
	}
}

func TestToken(t *testing.T) {
	with := trust.Token{Secret: "ostraka_enrol_x", Project: project, Fingerprint: fingerprint(newKey(t))}
	for _, token := range []trust.Token{with, {Secret: "ostraka_enrol_x"}, {}} {
		parsed, err := trust.ParseToken(token.String())
		require.NoError(t, err)
		require.Equal(t, token, parsed)
	}
	text := with.String()
	for _, bad := range []string{text[:len(text)-1], text + ".x", "a.b", "a.b." + with.Fingerprint, "a." + project.String() + "."} {
		_, err := trust.ParseToken(bad)
		require.Error(t, err, bad)
	}
}

func TestStore(t *testing.T) {
	dir := t.TempDir()
	s := trust.Open(dir)
	none, err := s.Trusted(project)
	require.NoError(t, err)
	require.Empty(t, none)

	a, b := fingerprint(newKey(t)), fingerprint(newKey(t))
	learned, err := s.Learn("https://one", map[uuid.UUID]string{project: a})
	require.NoError(t, err)
	require.Equal(t, map[uuid.UUID]string{project: a}, learned)
	learned, err = s.Learn("https://one", map[uuid.UUID]string{uuid.New(): b})
	require.NoError(t, err)
	require.Empty(t, learned, "that happens once")
	learned, err = s.Learn("https://two", map[uuid.UUID]string{project: b})
	require.NoError(t, err)
	require.Empty(t, learned, "a key that is known stays")

	changed, err := s.Replace(project, b, b, trust.ByOldKey)
	require.NoError(t, err)
	require.False(t, changed)
	changed, err = s.Replace(project, a, b, trust.ByOldKey)
	require.NoError(t, err)
	require.True(t, changed)
	got, err := trust.Open(dir).Trusted(project)
	require.NoError(t, err)
	require.Equal(t, b, got)
	known, err := s.Forget(project)
	require.NoError(t, err)
	require.True(t, known)
	known, err = s.Forget(project)
	require.NoError(t, err)
	require.False(t, known)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "trust.json"), []byte(`{"keys":{"`+project.String()+`":{"fingerprint":""}}}`), 0o600))
	_, err = s.Trusted(project)
	require.Error(t, err, "an empty fingerprint would trust every key")
}

func TestStoreIsBounded(t *testing.T) {
	s := trust.Open(t.TempDir())
	all := map[uuid.UUID]string{}
	for range trust.MaxProjects {
		all[uuid.New()] = strings.Repeat("0", 64)
	}
	_, err := s.Learn("https://one", all)
	require.NoError(t, err)
	require.Error(t, s.Set(uuid.New(), strings.Repeat("1", 64), trust.ByOwner))
	for project := range all {
		require.NoError(t, s.Set(project, strings.Repeat("1", 64), trust.ByOwner), "one that is known may change")
		break
	}
}

// Two processes that write at once lose nothing of each other's.
func TestStoreTogether(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { _ = trust.Open(dir).Set(uuid.New(), strings.Repeat("0", 64), trust.ByOwner) })
	}
	all.Wait()
	keys, err := trust.Open(dir).Keys()
	require.NoError(t, err)
	require.Len(t, keys, 20)
}
