package testenv

import (
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// oldestGVisor is the first release of gVisor that the tests use. Those before run all system calls by ptrace, or stumble over what
// the sandbox does inside: Debian 12 has one of 2022.
var oldestGVisor = time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC)

// FindGVisor returns the path of gVisor's program where a release is on PATH that the tests can use; else why not.
func FindGVisor() (path string, err error) {
	path, err = exec.LookPath("runsc")
	if err != nil {
		return "", fmt.Errorf("looking for gVisor: %w", err)
	}
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("asking %s for its version: %w", path, err)
	}
	released, known := gvisorRelease(string(out))
	if known && released.Before(oldestGVisor) {
		return "", fmt.Errorf("%s was released on %s, and the tests need one of %s or later", path, released.Format(time.DateOnly), oldestGVisor.Format(time.DateOnly))
	}
	return path, nil
}

// gvisorRelease reads the day of a release from what `runsc --version` prints, such as "runsc version release-20240401.0". One that
// somebody has built names no release, and is taken for new.
func gvisorRelease(version string) (day time.Time, known bool) {
	first, _, _ := strings.Cut(version, "\n")
	for _, prefix := range []string{"release-", "0.0~"} { // its makers', Debian's
		if _, rest, found := strings.Cut(first, prefix); found && len(rest) >= len("20060102") {
			if day, err := time.Parse("20060102", rest[:len("20060102")]); err == nil {
				return day, true
			}
		}
	}
	return time.Time{}, false
}
