package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// errNoProject refuses the nil GUID, which is an identifier that somebody has
// forgotten to set.
var errNoProject = errors.New("the project is not set")

// CheckDigest returns ErrBadDigest unless s is a digest in the one form that
// Ostraka uses. Only then does it come near a path.
func CheckDigest(s string) error {
	if len(s) != hex.EncodedLen(sha256.Size) {
		return fmt.Errorf("%w: %d characters", ErrBadDigest, len(s))
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return fmt.Errorf("%w: character %d is %q", ErrBadDigest, i, c)
		}
	}
	return nil
}

func checkProject(project uuid.UUID) error {
	if project == uuid.Nil {
		return errNoProject
	}
	return nil
}

func checkedKey(project uuid.UUID, digest string) (string, error) {
	if err := errors.Join(checkProject(project), CheckDigest(digest)); err != nil {
		return "", err
	}
	return objectKey(project, digest), nil
}

// projectPrefix ends in a slash, so that no other prefix begins with it.
func projectPrefix(project uuid.UUID) string { return "projects/" + project.String() + "/" }

// objectKey spreads the objects over 256 directories, which file systems and
// people prefer to one.
func objectKey(project uuid.UUID, digest string) string {
	return projectPrefix(project) + "objects/sha256/" + digest[:2] + "/" + digest
}
