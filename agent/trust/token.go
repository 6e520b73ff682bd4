package trust

import (
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/runtime/signing"
)

// Token is an enrolment token: a secret for the server and, after it, the project's key for the agent. The server never sees the
// second part, so that it cannot swap the key: the token comes from the project's owner.
type Token struct {
	Secret      string
	Project     uuid.UUID
	Fingerprint string // "": the token says nothing of a key
}

// String is the token as owners hand it out.
func (t Token) String() string {
	if t.Fingerprint == "" {
		return t.Secret
	}
	return t.Secret + "." + t.Project.String() + "." + t.Fingerprint
}

// ParseToken reads a token.
func ParseToken(text string) (t Token, err error) {
	parts := strings.Split(text, ".")
	t.Secret = parts[0]
	if len(parts) == 1 {
		return t, nil
	}
	if len(parts) == 3 && signing.IsFingerprint(parts[2]) {
		t.Fingerprint = parts[2]
		if t.Project, err = uuid.Parse(parts[1]); err == nil {
			return t, nil
		}
	}
	return Token{}, errors.New("the enrolment token is damaged: it is SECRET or SECRET.PROJECT.FINGERPRINT, in one piece")
}
