package volume

import (
	"fmt"
	"regexp"

	"github.com/ostraka/ostraka/runtime/canonical"
)

// Mode says what a function may do with a volume.
type Mode string

// The modes.
const (
	ReadOnly  Mode = "ro"
	ReadWrite Mode = "rw"
)

const (
	// MaxOfFunction is how many volumes one function may want: each is a mount of every sandbox that is opened for it.
	MaxOfFunction = 8
	// MaxOfMachine is how many volumes one machine may have: their names and fingerprints are part of every heartbeat.
	MaxOfMachine = 32
	// MaxNameBytes is the length of a volume's name.
	MaxNameBytes = 63
)

// Root is the folder in which functions find their volumes at the levels of isolation that have a root of their own. Everywhere the
// environment variable Variable names the folder.
const (
	Root     = "/volumes"
	Variable = "OSTRAKA_VOLUMES"
)

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)

// CheckName refuses what is no name of a volume.
func CheckName(name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("%.80q is no name of a volume: write a lower-case letter followed by at most %d of a-z, 0-9 and -", name, MaxNameBytes-1)
	}
	return nil
}

// CheckMode refuses what is no mode.
func CheckMode(mode Mode) error {
	if mode != ReadOnly && mode != ReadWrite {
		return fmt.Errorf("%.80q is no mode of a volume: write %q or %q", string(mode), ReadOnly, ReadWrite)
	}
	return nil
}

// CheckFingerprint refuses what is no fingerprint.
func CheckFingerprint(s string) error {
	if !canonical.IsDigest(s) {
		return fmt.Errorf("%.80q is no fingerprint of a volume: ostraka agent volume fingerprint FOLDER prints one, 64 lower-case hexadecimal digits", s)
	}
	return nil
}
