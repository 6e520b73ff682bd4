package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
)

func TestCapsRefuse(t *testing.T) {
	limits := bundle.Limits{MemoryBytes: 100, DiskBytes: 100, WallSeconds: 100, CPUSeconds: 100, Pids: 100}
	for name, test := range map[string]struct {
		caps  Caps
		least bundle.Isolation
		says  string
	}{
		"no caps":          {Caps{}, bundle.Process, ""},
		"exactly":          {Caps{100, 100, 100, 100, 100}, bundle.Process, ""},
		"memory":           {Caps{MemoryBytes: 99}, bundle.Process, "memory_bytes is 100 and this agent allows 99"},
		"disk":             {Caps{DiskBytes: 99}, bundle.Process, "disk_bytes"},
		"wall":             {Caps{WallSeconds: 99}, bundle.Process, "wall_seconds"},
		"cpu":              {Caps{CPUSeconds: 99}, bundle.Process, "cpu_seconds"},
		"pids":             {Caps{Pids: 99}, bundle.Process, "pids"},
		"isolation":        {Caps{}, bundle.Landlock, `asks for isolation "landlock" and this agent achieves "process"`},
		"unknown isolator": {Caps{}, "heaven", "heaven"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.caps.refuse(bundle.Process, &bundle.Manifest{MinIsolation: test.least, Limits: limits})
			if test.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.says)
		})
	}
}
