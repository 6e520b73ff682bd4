package main

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/runtime/signing"
)

// checkOwner verifies that the key of the receipt has signed the function, and that it is the one that was named.
func (o *receiptVerifyOptions) checkOwner(said audit.Statement) error {
	f := said.Function
	if f.Key == "" {
		if o.owner != "" {
			return refused(errors.New("the receipt has no key by which the function's owner has signed, and --owner asks for one"))
		}
		return nil
	}
	project, err := uuid.Parse(said.Project)
	if err != nil {
		return refused(fmt.Errorf("the project of the receipt is none: %w", err))
	}
	key, err := hex.DecodeString(f.Key)
	if err != nil {
		return refused(fmt.Errorf("the key of the function's owner: %w", err))
	}
	signature, err := hex.DecodeString(f.Signature)
	if err != nil || !signing.VerifyBundle(key, project, f.Name, f.Digest, signature) {
		return refused(fmt.Errorf("the function %s was not signed by the key that the receipt gives as its owner's, %s", f.Name, signing.Fingerprint(key)))
	}
	if o.owner != "" && o.owner != signing.Fingerprint(key) {
		return refused(fmt.Errorf("the function was signed by the key %s, and --owner names %s", signing.Fingerprint(key), o.owner))
	}
	return nil
}

// ownerText says by whom a function is signed whose signature was verified; "": by nobody, as far as the receipt knows.
func ownerText(f audit.FunctionStated) string {
	key, err := hex.DecodeString(f.Key)
	if err != nil || len(key) == 0 {
		return ""
	}
	return fmt.Sprintf("by key %s of the project, fingerprint %s", f.SignedBy, signing.Fingerprint(key))
}

// ownerNotProved says what is open about who made the function.
func ownerNotProved(f audit.FunctionStated, named bool) string {
	switch {
	case f.Key != "" && named:
		return ""
	case f.Key != "":
		return "whose key has signed the function: the server's word (give --owner)"
	case f.Signature != "":
		return "that the function's owner has signed it: the receipt does not have the key"
	default:
		return ""
	}
}
