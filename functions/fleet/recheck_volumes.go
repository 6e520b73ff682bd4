package fleet

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/volume"
)

// withVolumes is a rechecker that can show functions folders of its machine.
type withVolumes interface {
	Volumes() []volume.Offer
}

// RecheckVolumes are the volumes that a rechecker has.
func RecheckVolumes(r functions.Rechecker) []volume.Offer {
	if shows, can := r.(withVolumes); can {
		if list := shows.Volumes(); list != nil {
			return list
		}
	}
	return []volume.Offer{}
}

// ReadOnlyVolumes are those of a function's volumes that a server must have to execute it: for those that the function writes to it makes an empty folder.
func ReadOnlyVolumes(wanted []bundle.Volume) (list []bundle.Volume) {
	for _, w := range wanted {
		if w.Mode != volume.ReadWrite {
			list = append(list, w)
		}
	}
	return list
}

// HasVolumes says whether a rechecker has the volumes that a function of a project wants, and names one that it lacks.
func HasVolumes(r functions.Rechecker, project uuid.UUID, wanted []bundle.Volume) (lacks string, has bool) {
	if len(wanted) == 0 {
		return "", true
	}
	offers := RecheckVolumes(r)
	for _, w := range ReadOnlyVolumes(wanted) {
		found := false
		for _, o := range offers {
			found = found || o.Suits(project, w.Name, w.Mode, w.Fingerprint)
		}
		if !found {
			return w.Name, false
		}
	}
	return "", true
}

// VolumesAtHand is who has the volumes that a function of a project wants.
type VolumesAtHand struct {
	Lacking  []bundle.Volume // that none of the project's agents has
	Stocked  int64           // agents that have all of them
	Rechecks bool            // some server that executes shards has all of them
}

// ReadVolumesAtHand reads it as the server's role. wanted is as jobs.EncodeVolumes gives it.
func ReadVolumesAtHand(ctx context.Context, db store.DB, project uuid.UUID, wanted []byte) (at VolumesAtHand, err error) {
	at, _, err = store.One[VolumesAtHand](ctx, db, sql.VolumesAtHand, project, wanted, functions.RecheckerGone)
	return at, err
}
