package inputfile

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a name. They leave room below what every file system takes: 255 bytes for each part, 4,096 for a whole path.
const (
	MaxNameBytes  = 512 // of the whole name
	MaxPartBytes  = 200 // of each part between slashes
	MaxNameDepth  = 32  // parts
	forbiddenRune = `\:*?"<>|`
)

// CheckName says why a name cannot be that of a file. A name is a path with slashes that every system reads alike: agents lay
// files down under their names, whatever they run on.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case len(name) > MaxNameBytes:
		return fmt.Errorf("the name has %d bytes, at most %d are allowed", len(name), MaxNameBytes)
	case !utf8.ValidString(name):
		return errors.New("the name is not UTF-8")
	case strings.HasPrefix(name, "/"):
		return errors.New("the name begins with a slash")
	}
	parts := strings.Split(name, "/")
	if len(parts) > MaxNameDepth {
		return fmt.Errorf("the name has %d parts, at most %d are allowed", len(parts), MaxNameDepth)
	}
	for _, part := range parts {
		if err := checkPart(part); err != nil {
			return err
		}
	}
	return nil
}

func checkPart(part string) error {
	switch {
	case part == "":
		return errors.New("the name has an empty part: two slashes in a row, or one at its end")
	case part == "." || part == "..":
		return fmt.Errorf("the name has the part %q", part)
	case len(part) > MaxPartBytes:
		return fmt.Errorf("the part %.40q… has %d bytes, at most %d are allowed", part, len(part), MaxPartBytes)
	case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || strings.HasPrefix(part, " "):
		return fmt.Errorf("the part %q begins with a blank, or ends with a blank or a dot, which some systems leave out", part)
	case isDevice(part):
		return fmt.Errorf("the part %q is a device on some systems", part)
	}
	for _, r := range part {
		if !unicode.IsPrint(r) || strings.ContainsRune(forbiddenRune, r) {
			return fmt.Errorf("the part %q holds %q, which not every system allows in a name", part, r)
		}
	}
	return nil
}

// isDevice says whether Windows takes a part for a device, whatever its extension.
func isDevice(part string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(part), ".")
	stem = strings.TrimRight(stem, " ")
	switch stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	number, found := strings.CutPrefix(stem, "com")
	if !found {
		number, found = strings.CutPrefix(stem, "lpt")
	}
	return found && (len(number) == 1 && number[0] >= '0' && number[0] <= '9' || number == "¹" || number == "²" || number == "³")
}
