package bundle

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ostraka/ostraka/runtime/volume"
)

// Volume is a folder that a function wants to find as $OSTRAKA_VOLUMES/NAME. Which folder it is, the owner of each machine says.
type Volume struct {
	Name string      `json:"name"`
	Mode volume.Mode `json:"mode"`
	// Fingerprint is that of the only copies that will do; empty: any.
	Fingerprint string `json:"fingerprint,omitempty"`
}

// volumeFile is a table [[volumes]] as written.
type volumeFile struct {
	Name        string  `toml:"name"`
	Mode        *string `toml:"mode"`
	Fingerprint *string `toml:"fingerprint"`
}

// volumes checks the tables and puts them in the order of their names.
func volumes(tables []volumeFile) (list []Volume, err error) {
	if len(tables) > volume.MaxOfFunction {
		return nil, fmt.Errorf("there are %d volumes, a function has at most %d: put several folders into one", len(tables), volume.MaxOfFunction)
	}
	for i, t := range tables {
		v := Volume{Name: t.Name, Mode: volume.Mode(or(t.Mode, string(volume.ReadOnly))), Fingerprint: or(t.Fingerprint, "")}
		if err := volume.CheckName(v.Name); err != nil {
			return nil, fmt.Errorf("volumes, number %d: name: %w", i+1, err)
		}
		if err := volume.CheckMode(v.Mode); err != nil {
			return nil, fmt.Errorf("volumes, %s: mode: %w", v.Name, err)
		}
		if t.Fingerprint != nil {
			if err := volume.CheckFingerprint(v.Fingerprint); err != nil {
				return nil, fmt.Errorf("volumes, %s: fingerprint: %w", v.Name, err)
			}
		}
		if v.Mode == volume.ReadWrite && v.Fingerprint != "" {
			return nil, fmt.Errorf("volumes, %s: a volume that the function writes to has no fingerprint: leave fingerprint out, or write mode = %q", v.Name, volume.ReadOnly)
		}
		if slices.ContainsFunc(list, func(o Volume) bool { return o.Name == v.Name }) {
			return nil, fmt.Errorf("volumes, %s: it stands there twice", v.Name)
		}
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b Volume) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}
