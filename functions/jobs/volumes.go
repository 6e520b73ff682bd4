package jobs

import (
	"encoding/json"
	"fmt"

	"github.com/ostraka/ostraka/runtime/bundle"
)

// EncodeVolumes gives the volumes that a function wants as the database keeps them.
func EncodeVolumes(list []bundle.Volume) ([]byte, error) {
	if list == nil {
		list = []bundle.Volume{} // not null: it wants none
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("encoding the volumes of a function: %w", err)
	}
	return text, nil
}
