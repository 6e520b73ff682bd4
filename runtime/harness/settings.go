package harness

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/volume"
)

// DefaultTimeZone is that of every session which is not told another one.
const DefaultTimeZone = "UTC"

// MaxTimeZoneBytes is the length of a time zone: it stands in every process's
// environment.
const MaxTimeZoneBytes = 64

// Settings are what the caller of a session decides, beside what the bundle
// says. The zero value is how agents run: the fields exist to find functions
// whose results depend on what differs between machines.
type Settings struct {
	// Job is the ID of the job; it is part of the seeds. Empty: there is none.
	Job string
	// HashSeed is Python's PYTHONHASHSEED: the order of sets of strings
	// depends on it.
	HashSeed uint32
	// TimeZone is the variable TZ; empty: DefaultTimeZone. A form such as
	// "EST5EDT,M3.2.0,M11.1.0" needs no files, as a name does.
	TimeZone string
	// Volumes are the open folders of those that the function's manifest names. The caller closes them when the sandbox is closed.
	Volumes []*volume.Folder `json:"-"`
}

// volumesEnvironment says where a function with volumes finds them.
func volumesEnvironment(cfg *Config) []string {
	if cfg.VolumesDir == "" {
		return nil
	}
	return []string{volume.Variable + "=" + cfg.VolumesDir}
}

// CheckVolumes refuses folders that are not the ones a function wants: the opener of a sandbox chooses them.
func (s *Settings) CheckVolumes(wanted []bundle.Volume) error {
	if len(wanted) != len(s.Volumes) {
		return fmt.Errorf("the function wants %d volumes, %d folders are open", len(wanted), len(s.Volumes))
	}
	for i, w := range wanted {
		switch {
		case s.Volumes[i].Name != w.Name:
			return fmt.Errorf("the function wants volume %s, and the folder of %s is open", w.Name, s.Volumes[i].Name)
		case s.Volumes[i].Mode != w.Mode:
			return fmt.Errorf("the function wants volume %s with mode %q, and its folder is open with mode %q", w.Name, w.Mode, s.Volumes[i].Mode)
		}
	}
	return nil
}

func (s *Settings) check() error {
	if len(s.TimeZone) > MaxTimeZoneBytes || strings.ContainsFunc(s.TimeZone, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("the time zone %.80q is longer than %d bytes or no plain text", s.TimeZone, MaxTimeZoneBytes)
	}
	return nil
}

func (s *Settings) timeZone() string {
	if s.TimeZone == "" {
		return DefaultTimeZone
	}
	return s.TimeZone
}

// Seed is the seed of a shard: the first eight bytes, the most significant one
// first, of the SHA-256 of four lines,
//
//	ostraka-seed/1
//	<digest of the bundle, 64 lower-case hexadecimal digits>
//	<ID of the job, or nothing>
//	<number of the shard, decimal>
//
// each of which ends with a line feed. It is the same on every machine, and
// another one for the same shard of another job.
func Seed(bundleDigest, job string, shard int64) uint64 {
	sum := sha256.Sum256([]byte("ostraka-seed/1\n" + bundleDigest + "\n" + job + "\n" + strconv.FormatInt(shard, 10) + "\n"))
	return binary.BigEndian.Uint64(sum[:])
}
