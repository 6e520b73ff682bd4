// Package trust decides whose functions an agent executes. It remembers the signing key of each project, so that a server that was
// taken over cannot feed the agent other code: not another bundle, not one of another key, and none without a signature.
//
// A project's key is learned once: from the enrolment token, which can carry its fingerprint; from the server when the agent joins
// it; or from the machine's owner (ostraka agent trust). From then on only that key counts, and the keys that it vouches for.
package trust

import (
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/runtime/signing"
)

// The codes of refusals, as the server and the machine's owner see them.
const (
	Unsigned     = "unsigned"      // there is no signature
	UntrustedKey = "untrusted_key" // the agent was not told to trust the project's key
	ReplacedKey  = "replaced_key"  // the key is another than the agent trusts, and that one does not vouch for it
	BadSignature = "bad_signature" // the signature is not the project's
)

// Refusal is why a function is not executed.
type Refusal struct {
	Code string
	Text string
}

// Error implements error.
func (r *Refusal) Error() string { return r.Text }

func refuse(code, format string, args ...any) error {
	return &Refusal{Code: code, Text: fmt.Sprintf(format, args...)}
}

// Offer is what a lease says of the origin of its function.
type Offer struct {
	Project   uuid.UUID
	Function  string
	Digest    string // of the bundle
	Signed    bool
	Signature []byte
	Keys      []signing.Link
}

// Judge decides whether to execute a function. trusted is the fingerprint of the project's key that the agent knows, or empty;
// allowUnsigned is the permission of the machine's owner. It returns the fingerprint to trust from now on.
func Judge(trusted string, allowUnsigned bool, o Offer) (trust string, err error) {
	switch {
	case !o.Signed && trusted != "":
		return "", refuse(Unsigned, "the function is not signed, and project %s signs its functions: this agent trusts its key %s. The server may not be the one that it was; ask the project's owner", o.Project, short(trusted))
	case !o.Signed && !allowUnsigned:
		return "", refuse(Unsigned, "the function is not signed by its project's owner, and this agent runs no unsigned functions (agent start --allow-unsigned, or allow_unsigned in its preferences, lets it)")
	case !o.Signed:
		return "", nil
	}
	newest, err := newestKey(trusted, o)
	if err != nil {
		return "", err
	}
	if !signing.VerifyBundle(newest.PublicKey, o.Project, o.Function, o.Digest, o.Signature) {
		return "", refuse(BadSignature, "the signature over the function is not by the project's signing key %s", short(signing.Fingerprint(newest.PublicKey)))
	}
	if trusted == "" && !allowUnsigned {
		return "", refuse(UntrustedKey, "this agent was never told to trust the key of project %s. Compare its fingerprint with the project's owner, then: ostraka agent trust %s %s", o.Project, o.Project, signing.Fingerprint(newest.PublicKey))
	}
	return signing.Fingerprint(newest.PublicKey), nil
}

// newestKey is the project's newest key: the one that the trusted key leads to, or the chain's last where none is trusted yet.
func newestKey(trusted string, o Offer) (signing.Link, error) {
	newest, err := signing.Newest(o.Keys)
	if err == nil && trusted != "" {
		newest, err = signing.Follow(o.Project, o.Keys, trusted)
	}
	switch {
	case errors.Is(err, signing.ErrUnknownKey), errors.Is(err, signing.ErrBroken):
		return newest, refuse(ReplacedKey, "project %s has another signing key than %s, which this agent trusts and which does not vouch for it. If the project's owner says that this is right: ostraka agent trust %s FINGERPRINT", o.Project, short(trusted), o.Project)
	case err != nil:
		return newest, refuse(BadSignature, "%v", err)
	}
	return newest, nil
}

// shortFingerprint is how many characters of a fingerprint a message shows: enough to recognise it.
const shortFingerprint = 16

func short(fingerprint string) string {
	if len(fingerprint) <= shortFingerprint {
		return fingerprint
	}
	return fingerprint[:shortFingerprint] + "…"
}
