package engine_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/fleet"
)

// TestACapturedEnrolmentGetsNobodyAnything sends again what an agent has sent.
func TestACapturedEnrolmentGetsNobodyAnything(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	e, proof := w.anew(key, w.token, "victim")
	a, secret, err := w.Enrol(ctx, w.token, e, proof, "192.0.2.1:1")
	require.NoError(t, err)
	_, _, err = w.Enrol(ctx, w.token, e, proof, "203.0.113.9:1")
	require.ErrorIs(t, err, fleet.ErrEnrolmentReplayed)
	_, err = w.Authenticate(ctx, secret)
	require.NoError(t, err, "the victim's key works")
	_, _, err = w.Enrol(ctx, w.token, enrolment(key, "victim"), prove(key, w.token), "203.0.113.9:1")
	requireCode(t, err, "agent_outdated")

	// One that the victim made earlier and never sent is no good after it has enrolled again.
	early, earlyProof := w.anew(key, w.token, "victim")
	_, _, err = w.join(key, w.token, "victim", "192.0.2.1:1")
	require.NoError(t, err)
	_, _, err = w.Enrol(ctx, w.token, early, earlyProof, "203.0.113.9:1")
	require.ErrorIs(t, err, fleet.ErrEnrolmentReplayed)
	require.EqualValues(t, 1, w.controlCount("select count(*) from api_keys where agent_id = $1", a.ID))

	// What is signed holds: the server's name, the nonce, the token.
	for name, change := range map[string]func(e *fleet.Enrolment){
		"bad_nonce":     func(e *fleet.Enrolment) { e.Nonce = base64.RawURLEncoding.EncodeToString(make([]byte, 56)) },
		"bad_signature": func(e *fleet.Enrolment) { e.Server = "https://other.example" },
		"other_server":  func(e *fleet.Enrolment) { e.Server = "https://other.example/" },
	} {
		e, proof := w.anew(key, w.token, "victim")
		change(&e)
		_, _, err = w.Enrol(ctx, w.token, e, proof, "")
		requireCode(t, err, name)
	}
}

func TestAnEnrolmentIsForOneServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Names = []string{"https://Ostraka.Example:443/", "http://10.0.0.1:8470"}
	w.Service = engine.New(w.options)
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	_, _, err = w.join(key, w.token, "a", "")
	require.NoError(t, err)
	w.options.Names = []string{"https://another.example"}
	w.Service = engine.New(w.options)
	_, _, err = w.join(key, w.token, "a", "")
	requireCode(t, err, "other_server")
}

func TestAKeyThatIsReplacedFromElsewhereIsAFlag(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	a := w.agent(honest)
	replace := func(address string) *fleet.Duplicate {
		_, _, err := w.join(a.key, w.token, "a", address)
		require.NoError(t, err)
		got, err := w.GetAgent(ctx, a.id)
		require.NoError(t, err)
		return got.Duplicate
	}
	require.NoError(t, w.SpeakFor(ctx, a.id, uuid.New(), "192.0.2.1:1"))
	_, err := w.Heartbeat(ctx, a.id, fleet.Heartbeat{})
	require.NoError(t, err)
	require.Nil(t, replace("192.0.2.1:7"), "from where it works")
	w.sql("update ostraka.agents set last_seen_at = now() - interval '61 minutes' where id = $1", a.id)
	require.Nil(t, replace("203.0.113.9:1"), "it was not at work")
	_, err = w.Heartbeat(ctx, a.id, fleet.Heartbeat{})
	require.NoError(t, err)
	require.Equal(t, "203.0.113.9:1", replace("203.0.113.9:1").Address)
	require.EqualValues(t, 1, w.controlCount("select count(*) from server_audit where action = 'agent.key_replaced'"))
}
