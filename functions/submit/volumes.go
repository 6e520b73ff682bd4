package submit

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/volume"
)

// Codes of warnings about the volumes that a function wants.
const (
	WarnNoVolume        = "no_volume"        // no agent has one of them
	WarnVolumeUnchecked = "volume_unchecked" // no server has them, so that agents alone check one another
	WarnVolumeWritten   = "volume_written"   // the function writes to one, so that no two machines show it the same
)

// VolumeWords names a volume with what is wanted of it.
func VolumeWords(v bundle.Volume) string {
	words := "volume " + v.Name
	if v.Fingerprint != "" {
		words += " with the fingerprint that the function pins"
	}
	if v.Mode == volume.ReadWrite {
		words += " to write to"
	}
	return words
}

// stocked says whether an agent says that it has the volumes.
func stocked(a fleet.ProjectAgent, wanted []bundle.Volume) bool {
	return !slices.ContainsFunc(wanted, func(w bundle.Volume) bool {
		return !slices.ContainsFunc(a.Volumes, func(v fleet.AgentVolume) bool { return v.Suits(w) })
	})
}

// means are what servers can do for a job whose function wants these volumes.
func (s *Service) means(ctx context.Context, project uuid.UUID, volumes []bundle.Volume) (verify.Means, error) {
	servers, err := fleet.ReadRecheckTrouble(ctx, s.env.Store.Pool)
	if err != nil || servers.Servers == 0 || len(volumes) == 0 {
		return verify.Means{Recheck: servers.Servers > 0}, base.Translate(err, uuid.Nil)
	}
	at, err := s.volumesAtHand(ctx, project, volumes)
	return verify.Means{Recheck: at.Rechecks}, err
}

func (s *Service) volumesAtHand(ctx context.Context, project uuid.UUID, volumes []bundle.Volume) (at fleet.VolumesAtHand, err error) {
	wanted, err := jobs.EncodeVolumes(volumes)
	if err != nil {
		return at, err
	}
	at, err = fleet.ReadVolumesAtHand(ctx, s.env.Store.Pool, project, wanted)
	return at, base.Translate(err, uuid.Nil)
}

// volumeWarnings name volumes that no agent has, and how results are checked if no server has them.
func (s *Service) volumeWarnings(ctx context.Context, project uuid.UUID, p verify.Policy, volumes []bundle.Volume) (list []functions.Reason, err error) {
	if len(volumes) == 0 {
		return nil, nil
	}
	at, err := s.volumesAtHand(ctx, project, volumes)
	if err != nil {
		return nil, err
	}
	list = writtenWarnings(volumes)
	const hint = "have the owners of agents name a folder for it: ostraka agent volume add NAME FOLDER"
	for _, v := range at.Lacking {
		list = append(list, functions.Reason{Code: WarnNoVolume, Text: "No agent has " + VolumeWords(v) + ": the job waits for one that does.", Hint: hint})
	}
	if len(at.Lacking) == 0 && at.Stocked == 0 {
		list = append(list, functions.Reason{Code: WarnNoVolume, Text: "No agent has all of the volumes that the function wants: the job waits for one that does.", Hint: hint})
	}
	if at.Rechecks || p.None {
		return list, nil
	}
	unchecked := functions.Reason{
		Code: WarnVolumeUnchecked, Text: "No server that executes shards has the volumes that the function wants: results are verified by further agents alone, and none is executed again by the server.",
		Hint: "give a server the folders: ostraka server --recheck-sandbox linux --recheck-volume NAME=FOLDER",
	}
	if p.Recheck != "" {
		unchecked.Text = "No server that executes shards has the volumes that the function wants, and the policy has the server execute every shard: the job waits for a server that has them."
	}
	return append(list, unchecked), nil
}

// writtenWarnings name the volumes that the function writes to.
func writtenWarnings(volumes []bundle.Volume) (list []functions.Reason) {
	for _, v := range volumes {
		if v.Mode != volume.ReadWrite {
			continue
		}
		list = append(list, functions.Reason{
			Code: WarnVolumeWritten,
			Text: "The function writes to volume " + v.Name + ": each machine shows it there what it has kept on that machine, a server that executes shards shows it nothing, and honest replicas disagree where its answer depends on that.",
			Hint: "use the volume as a cache: the same answer must come out when it is empty; ostraka function check tries the function on the same inputs more than once",
		})
	}
	return list
}
