package bundle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/volume"
)

const print64 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestVolumesOfAManifest(t *testing.T) {
	m, err := ParseManifest([]byte(minimal + `
[[volumes]]
name = "scratch"
mode = "rw"
[[volumes]]
name = "genome"
fingerprint = "` + print64 + `"
`))
	require.NoError(t, err)
	require.Equal(t, []Volume{{Name: "genome", Mode: volume.ReadOnly, Fingerprint: print64}, {Name: "scratch", Mode: volume.ReadWrite}}, m.Volumes, "in the order of their names")
}

func TestVolumesThatAManifestMustNotHave(t *testing.T) {
	for text, says := range map[string]string{
		`[[volumes]]`:                                                                 "volumes, number 1: name: \"\" is no name of a volume",
		"[[volumes]]\nname = \"../etc\"":                                              "is no name of a volume",
		"[[volumes]]\nname = \"a/b\"":                                                 "is no name of a volume",
		"[[volumes]]\nname = \"A\"":                                                   "is no name of a volume",
		"[[volumes]]\nname = \"" + strings.Repeat("a", 64) + "\"":                     "is no name of a volume",
		"[[volumes]]\nname = \"a\"\nmode = \"w\"":                                     `volumes, a: mode: "w" is no mode of a volume: write "ro" or "rw"`,
		"[[volumes]]\nname = \"a\"\nmode = \"\"":                                      "is no mode of a volume",
		"[[volumes]]\nname = \"a\"\nfingerprint = \"\"":                               "is no fingerprint of a volume",
		"[[volumes]]\nname = \"a\"\nfingerprint = \"" + print64[1:] + "\"":            "is no fingerprint of a volume",
		"[[volumes]]\nname = \"a\"\nmode = \"rw\"\nfingerprint = \"" + print64 + "\"": "leave fingerprint out",
		"[[volumes]]\nname = \"a\"\n[[volumes]]\nname = \"a\"":                        "volumes, a: it stands there twice",
		"[[volumes]]\nname = \"a\"\npath = \"/data\"":                                 "unknown field volumes.path",
		"runtime = \"wasm\"\n[[volumes]]\nname = \"a\"":                               "has no files",
		manyVolumes(volume.MaxOfFunction + 1):                                         "there are 9 volumes, a function has at most 8",
	} {
		_, err := ParseManifest([]byte(minimal + text))
		require.ErrorContains(t, err, says, text)
	}
	m, err := ParseManifest([]byte(minimal + manyVolumes(volume.MaxOfFunction)))
	require.NoError(t, err)
	require.Len(t, m.Volumes, volume.MaxOfFunction)
}

func manyVolumes(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "[[volumes]]\nname = \"v%d\"\n", i)
	}
	return text.String()
}

// Whatever stands in the tables, what is taken is in order, within its limits and names no place.
func FuzzVolumes(f *testing.F) {
	f.Add("name = \"a\"\nmode = \"ro\"")
	f.Add("name = \"a\"\n[[volumes]]\nname = \"b\"\nfingerprint = \"" + print64 + "\"")
	f.Add("name = \"../..\"\nmode = \"rw\"")
	f.Add(manyVolumes(9))
	f.Fuzz(func(t *testing.T, tables string) {
		m, err := ParseManifest([]byte(minimal + "\n[[volumes]]\n" + tables))
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(m.Volumes), volume.MaxOfFunction)
		require.True(t, slices.IsSortedFunc(m.Volumes, func(a, b Volume) int { return strings.Compare(a.Name, b.Name) }))
		for i, v := range m.Volumes {
			require.NoError(t, volume.CheckName(v.Name))
			require.NoError(t, volume.CheckMode(v.Mode))
			require.True(t, v.Fingerprint == "" || volume.CheckFingerprint(v.Fingerprint) == nil && v.Mode == volume.ReadOnly)
			require.True(t, i == 0 || m.Volumes[i-1].Name != v.Name)
		}
		doc, err := json.Marshal(m)
		require.NoError(t, err)
		var back Manifest
		require.NoError(t, json.Unmarshal(doc, &back))
		require.Equal(t, m.Volumes, back.Volumes)
	})
}
