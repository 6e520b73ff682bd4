package audit

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// epochForm is what an epoch after the first is called: the second in which it began, UTC. A name that were counted would come again when a
// backup is restored that is older than the restart before; the time does not.
const epochForm = "20060102T150405Z"

// Epoch takes the origin of a checkpoint apart: what the log was called first, and the epoch behind it; "" for the first one. A log that
// began anew has another origin since, as C2SP witnesses ask: under one origin no two heads may exist that no proof joins.
func Epoch(origin string) (log, epoch string) {
	i := strings.LastIndexByte(origin, '/')
	if i < 0 {
		return origin, ""
	}
	if at, err := time.Parse(epochForm, origin[i+1:]); err != nil || at.Format(epochForm) != origin[i+1:] {
		return origin, ""
	}
	return origin[:i], origin[i+1:]
}

// NextEpoch is the origin of a log that begins anew at a time; it comes after all that are known of, though the clock be behind.
func NextEpoch(at time.Time, known ...string) string {
	at = at.UTC().Truncate(time.Second)
	log := ""
	for _, origin := range known {
		first, epoch := Epoch(origin)
		log = first
		if begun, err := time.Parse(epochForm, epoch); err == nil && !at.After(begun) {
			at = begun.Add(time.Second)
		}
	}
	return log + "/" + at.Format(epochForm)
}

// VerifierOf is the verifier of another epoch of the same log, with the same public key.
func VerifierOf(verifier, origin string) (string, error) {
	if err := CheckVerifier(verifier); err != nil {
		return "", err
	}
	name, rest, _ := strings.Cut(strings.TrimSpace(verifier), "+")
	own, _ := Epoch(name)
	if log, _ := Epoch(origin); log != own {
		return "", fmt.Errorf("the checkpoint is of the log %q, and the key is that of %s", origin, name)
	}
	_, encoded, _ := strings.Cut(rest, "+")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) != 1+ed25519.PublicKeySize || key[0] != algEd25519 {
		return "", errors.New("the key of the log is no Ed25519 key")
	}
	return note.NewEd25519VerifierKey(origin, key[1:])
}

// SameLog says whether two verifiers have the same public key and are of the same log, of whichever epochs. The other one must be written as
// one is, since it may stand in a file of which no byte may be changed.
func SameLog(one, other string) bool {
	name, _, _ := strings.Cut(other, "+")
	same, err := VerifierOf(one, name)
	return err == nil && same == other
}

// OpenEpoch verifies a signed checkpoint of any epoch of the log whose verifier this is.
func OpenEpoch(text []byte, verifier string) (Checkpoint, error) {
	own, err := VerifierOf(verifier, Origin(text))
	if err != nil {
		return Checkpoint{}, err
	}
	return Open(text, own)
}

// Bare is a signed checkpoint without what others have signed of it.
func Bare(text []byte, verifier string) ([]byte, error) {
	own, err := VerifierOf(verifier, Origin(text))
	if err != nil {
		return nil, err
	}
	if _, err := Open(text, own); err != nil {
		return nil, err
	}
	v, err := note.NewVerifier(own)
	if err != nil {
		return nil, fmt.Errorf("reading the key of the log: %w", err)
	}
	n, err := note.Open(text, note.VerifierList(v))
	if err != nil {
		return nil, fmt.Errorf("reading the checkpoint: %w", err)
	}
	n.UnverifiedSigs = nil
	return note.Sign(n)
}
