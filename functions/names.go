package functions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/wasm"
)

// MaxOwner is the longest name of an agent's owner, in characters.
const MaxOwner = 200

// CheckOwner refuses a name of an owner that is too long or cannot be shown.
func CheckOwner(owner string) error {
	if n := len([]rune(owner)); n > MaxOwner {
		return Invalid("bad_owner", fmt.Sprintf("the owner's name has %d characters, at most %d are kept", n, MaxOwner), "use a shorter name")
	}
	return nil
}

// CheckParams refuses parameters of a module that are no JSON object, or too large.
func CheckParams(params json.RawMessage) error {
	if len(params) == 0 {
		return nil
	}
	hint := fmt.Sprintf("give a JSON object of at most %d bytes", MaxModuleParams)
	if err := canonical.Valid(params, MaxModuleParams); err != nil {
		return Invalid("bad_params", "the parameters are not acceptable: "+err.Error(), hint)
	}
	if bytes.TrimSpace(params)[0] != '{' {
		return Invalid("bad_params", "the parameters are not a JSON object", hint)
	}
	return nil
}

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)

// CheckName refuses a name that cannot stand in a URL.
func CheckName(what, name string) error {
	if !namePattern.MatchString(name) {
		return Invalid("bad_name", fmt.Sprintf("%q is not a name for a %s", name, what),
			"use 1 to 63 lower-case letters, digits and hyphens, starting with a letter")
	}
	return nil
}

// MaxLabel is the longest name of a key, token or agent, in characters.
const MaxLabel = 200

// CheckLabel refuses a label that is empty or too long.
func CheckLabel(what, label string) error {
	if n := len([]rune(label)); n < 1 || n > MaxLabel {
		return Invalid("bad_name", fmt.Sprintf("the name of a %s has 1 to %d characters, this one has %d", what, MaxLabel, n), "choose another name")
	}
	return nil
}

// MaxResolutionReason is the longest reason of a resolution, in bytes.
const MaxResolutionReason = 2000

// CheckResolutionReason refuses a decision of a person without a reason.
func CheckResolutionReason(reason string) error {
	if len(reason) == 0 || len(reason) > MaxResolutionReason {
		return Invalid("bad_reason", fmt.Sprintf("a reason of 1 to %d bytes is required", MaxResolutionReason), "say why: it is kept in the audit log")
	}
	return nil
}

// MaxModuleParams bounds the parameters of a module, in bytes of JSON.
const MaxModuleParams = wasm.MaxParams

// MaxTokenUses is how many agents may join with one enrolment token at most.
const MaxTokenUses = 1_000_000
