package prefs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/volume"
)

const someProject = "0190a5d4-5b7a-7c3e-8f21-6d1e0c9b8a77"

func TestVolumes(t *testing.T) {
	p, err := Parse([]byte(`
[volumes.genome]
path = "/data/genome"
mode = "ro"
projects = ["` + someProject + `"]
[volumes.corpus]
path = "/data/corpus"
[volumes.scratch]
path = "/data/scratch"
mode = "rw"
max_bytes = "10Gi"
[volumes.vast]
path = "/data/vast"
mode = "rw"
max_bytes = 17592186044416
`))
	require.NoError(t, err)
	require.Equal(t, []volume.Mapping{
		{Name: "corpus", Path: "/data/corpus", Mode: volume.ReadOnly},
		{Name: "genome", Path: "/data/genome", Mode: volume.ReadOnly, Projects: []uuid.UUID{uuid.MustParse(someProject)}},
		{Name: "scratch", Path: "/data/scratch", Mode: volume.ReadWrite, MaxBytes: 10 << 30},
		{Name: "vast", Path: "/data/vast", Mode: volume.ReadWrite, MaxBytes: volume.MaxWrittenBytes},
	}, p.Volumes)
}

func TestVolumesThatCannotBe(t *testing.T) {
	for text, says := range map[string]string{
		"[volumes]":                                                "write 1 to 32 tables",
		"volumes = \"/data\"":                                      "write 1 to 32 tables",
		"[volumes.Genome]\npath = \"/data\"":                       "is no name of a volume",
		"[volumes]\na = \"/data\"":                                 "a is no table",
		"[volumes.a]":                                              "path: \"\" is no plain absolute path",
		"[volumes.a]\npath = \"data\"":                             "is no plain absolute path",
		"[volumes.a]\npath = \"/data/../etc\"":                     "is no plain absolute path",
		"[volumes.a]\npath = \"/d\"\nmode = \"rw\"":                "max_bytes: with mode = \"rw\" write how much functions may keep in it",
		"[volumes.a]\npath = \"/d\"\nmode = \"rw\"\nmax_bytes = 0": "max_bytes: write a whole number from 1",
		"[volumes.a]\npath = \"/d\"\nmode = \"rw\"\nmax_bytes = 17592186044417":                                              "max_bytes: write 1 to 17592186044416 bytes",
		"[volumes.a]\npath = \"/d\"\nmode = \"x\"":                                                                           "is no mode of a volume",
		"[volumes.a]\npath = \"/d\"\nmax_bytes = 1":                                                                          "they only read this one",
		"[volumes.a]\npath = \"/d\"\nprojects = [1]":                                                                         "write texts in quotes",
		"[volumes.a]\npath = \"/d\"\nprojects = []":                                                                          "write a list of 1 to 64",
		"[volumes.a]\npath = \"/d\"\nprojects = [\"x\"]":                                                                     "is no ID of a project",
		"[volumes.a]\npath = \"/d\"\nfolder = \"/e\"":                                                                        `"folder" means nothing here`,
		"[volumes.a]\npath = \"/d\"\n[volumes.b]\npath = \"/d/b\"\nmode = \"rw\"\nmax_bytes = 1":                             "volumes a and b share a folder",
		"[volumes.a]\npath = \"/d\"\nmode = \"rw\"\nmax_bytes = 1\n[volumes.b]\npath = \"/d\"\nmode = \"rw\"\nmax_bytes = 1": "volumes a and b share a folder",
		manyTables(volume.MaxOfMachine + 1):                                                                                  "write 1 to 32 tables",
		"[[volume_access]]":                                                                                                  "it narrows nothing",
		"[[volume_access]]\nallow = [\"data\"]":                                                                              "matches nothing",
		"[[volume_access]]\ndeny = [\"/data/\"]":                                                                             "matches nothing",
		"[[volume_access]]\ndeny = [\"/data\", \"/data\"]":                                                                   "stands there twice",
		"[[volume_access]]\nfunctions = [\"A B\"]\nallow = [\"/data\"]":                                                      "functions: write a function's name",
		"[[volume_access]]\nprojects = [\"all\"]\nallow = [\"/data\"]":                                                       "is no ID of a project",
		"[[volume_access]]\nallow = [\"/data\"]\nvolumes = [\"a\"]":                                                          `"volumes" means nothing here`,
		strings.Repeat("[[volume_access]]\ndeny=[\"/a\"]\n", MaxVolumeAccess+1):                                              "write 1 to 100 tables",
	} {
		_, err := Parse([]byte(text))
		require.ErrorContains(t, err, says, text)
	}
	for _, text := range []string{manyTables(volume.MaxOfMachine), strings.Repeat("[[volume_access]]\ndeny=[\"/a\"]\n", MaxVolumeAccess)} {
		_, err := Parse([]byte(text))
		require.NoError(t, err)
	}
}

func manyTables(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "[volumes.v%d]\npath = \"/data/%d\"\n", i, i)
	}
	return text.String()
}

func TestVolumeFor(t *testing.T) {
	mine, other := uuid.MustParse(someProject), uuid.New()
	p, err := Parse([]byte(`
[volumes.mine]
path = "/data/mine"
projects = ["` + someProject + `"]
[volumes.public]
path = "/data/public/x"
[volumes.private]
path = "/data/private/x"
[[volume_access]]
deny = ["/data/private"]
functions = ["survey"]
[[volume_access]]
allow = ["/data/pub*"]
projects = ["` + other.String() + `"]
`))
	require.NoError(t, err)
	for _, c := range []struct {
		name, function string
		project        uuid.UUID
		want           error
	}{
		{"mine", "f", mine, nil},
		{"mine", "f", other, ErrVolumeDenied},
		{"none", "f", mine, ErrNoVolume},
		{"public", "survey", other, nil},
		{"private", "f", mine, nil},
		{"private", "survey", mine, ErrVolumeDenied},
		{"private", "f", other, ErrVolumeDenied},
	} {
		v, err := p.VolumeFor(c.name, c.project, c.function, "digest")
		require.ErrorIs(t, err, c.want, "%+v", c)
		require.Equal(t, c.want == nil, v.Name == c.name, "%+v", c)
	}
}

// Volumes come and go, and everything else stays as it is.
func TestAddAndRemoveVolumes(t *testing.T) {
	file := []byte("# mine\nsandboxes = 2 # two\n\n[volumes.first] # the first\npath = \"/data/first\"\n\n[[volume_access]]\ndeny = [\"/x\"]\n")
	v := volume.Mapping{Name: "second", Path: `/data/a "b"`, Mode: volume.ReadOnly, Projects: []uuid.UUID{uuid.MustParse(someProject)}}
	added, err := AddVolume(file, v)
	require.NoError(t, err)
	require.Equal(t, string(file)+"\n[volumes.second]\npath = \"/data/a \\\"b\\\"\"\nmode = \"ro\"\nprojects = [\""+someProject+"\"]\n", string(added))
	p, err := Parse(added)
	require.NoError(t, err)
	require.Equal(t, v, p.Volumes[1])
	_, err = AddVolume(added, v)
	require.ErrorContains(t, err, "there is a volume second already")

	removed, found, err := RemoveVolume(added, "second")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, string(file)+"\n", string(removed))
	removed, found, err = RemoveVolume(removed, "first")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, "# mine\nsandboxes = 2 # two\n\n\n[[volume_access]]\ndeny = [\"/x\"]\n\n", string(removed))
	_, found, err = RemoveVolume(removed, "first")
	require.NoError(t, err)
	require.False(t, found)

	first, err := AddVolume(nil, volume.Mapping{Name: "a", Path: "/data", Mode: volume.ReadOnly})
	require.NoError(t, err)
	require.Equal(t, "[volumes.a]\npath = \"/data\"\nmode = \"ro\"\n", string(first))
	_, found, err = RemoveVolume([]byte("volumes = {a = {path = \"/data\"}}\n"), "a")
	require.True(t, found)
	require.ErrorContains(t, err, "cannot be changed by machine")
}
