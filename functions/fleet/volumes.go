package fleet

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/volume"
)

// MaxVolumeProjects is how many projects an agent names as the only ones that a volume is for.
const MaxVolumeProjects = 64

// AgentVolume is a folder that the owner of a machine lets functions read: a claim, like all that agents say.
type AgentVolume struct {
	Name        string      `json:"name" maxLength:"63" doc:"What functions call it."`
	Mode        string      `json:"mode" enum:"ro,rw" doc:"Whether functions may write to it."`
	Fingerprint string      `json:"fingerprint,omitempty" maxLength:"64" doc:"SHA-256 of the names, sizes and bytes in it, in hexadecimal. Left out: it has none, or it is not known yet."`
	Projects    []uuid.UUID `json:"projects,omitempty" maxItems:"64" doc:"The only projects that it is for. Left out: all."`
}

// volumesOf checks volumes and gives them as the database keeps them.
func volumesOf(list []AgentVolume) ([]byte, error) {
	bad := func(what, hint string) error { return functions.Invalid("bad_volumes", what, hint) }
	if n := len(list); n > volume.MaxOfMachine {
		return nil, bad(fmt.Sprintf("the agent names %d volumes, at most %d are kept", n, volume.MaxOfMachine), "name fewer")
	}
	for i, v := range list {
		err := volume.CheckName(v.Name)
		if err == nil {
			err = volume.CheckMode(volume.Mode(v.Mode))
		}
		if err == nil && v.Fingerprint != "" {
			err = volume.CheckFingerprint(v.Fingerprint)
		}
		switch {
		case err != nil:
			return nil, bad(err.Error(), "mend it")
		case len(v.Projects) > MaxVolumeProjects:
			return nil, bad(fmt.Sprintf("volume %s is for %d projects, at most %d are kept", v.Name, len(v.Projects), MaxVolumeProjects), "name fewer, or none for all")
		case slices.ContainsFunc(list[:i], func(o AgentVolume) bool { return o.Name == v.Name }):
			return nil, bad(fmt.Sprintf("volume %s is named twice", v.Name), "name each once")
		}
	}
	if list == nil {
		list = []AgentVolume{} // not null: there are none
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("encoding volumes: %w", err)
	}
	return text, nil
}

// volumesFor are the volumes that a project may know of, without the projects that they are for.
func volumesFor(list []AgentVolume, project uuid.UUID) (shown []AgentVolume) {
	for _, v := range list {
		if len(v.Projects) > 0 && !slices.Contains(v.Projects, project) {
			continue
		}
		v.Projects = nil
		shown = append(shown, v)
	}
	return shown
}

// Suits says whether the volume, as a project is told of it, is one that a function wants.
func (v AgentVolume) Suits(wanted bundle.Volume) bool {
	return volume.Offer{Name: v.Name, Mode: volume.Mode(v.Mode), Fingerprint: v.Fingerprint}.Suits(uuid.Nil, wanted.Name, wanted.Mode, wanted.Fingerprint)
}
