package insight

import (
	"strings"

	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// ReasonNoVolume is the code of a reason: no agent has a volume that the job's function wants.
const ReasonNoVolume = "no_volume"

const volumeHint = "have the owners of agents name a folder for it: ostraka agent volume add NAME FOLDER"

// noAgentHas names what no agent has, in a part of a sentence.
func noAgentHas(lacking []bundle.Volume) string {
	names := make([]string, len(lacking))
	for i, v := range lacking {
		names[i] = submit.VolumeWords(v)
	}
	return "no agent has " + strings.Join(names, ", and none ")
}
