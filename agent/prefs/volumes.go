package prefs

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/runtime/volume"
)

const (
	// MaxVolumeProjects is how many projects one volume may be for: the server is told them.
	MaxVolumeProjects = 64
	// MaxVolumeAccess is how many tables may narrow who gets which folders: all are looked at before each function.
	MaxVolumeAccess = 100
)

// VolumeAccess narrows which folders some functions get, by their paths.
type VolumeAccess struct {
	Projects  []uuid.UUID // that it is about; none: all
	Functions []string    // names, or digests of bundles; none: all
	Allow     []string    // patterns, one must match; none: any folder
	Deny      []string    // patterns, none may match
}

// applies says whether the table is about a function.
func (a VolumeAccess) applies(project uuid.UUID, function, digest string) bool {
	return (len(a.Projects) == 0 || slices.Contains(a.Projects, project)) &&
		(len(a.Functions) == 0 || slices.Contains(a.Functions, function) || slices.Contains(a.Functions, digest))
}

// permits says whether the table leaves a folder to those that it is about.
func (a VolumeAccess) permits(path string) bool {
	matches := func(pattern string) bool { return volume.Matches(pattern, path) }
	return !slices.ContainsFunc(a.Deny, matches) && (len(a.Allow) == 0 || slices.ContainsFunc(a.Allow, matches))
}

// ErrNoVolume and ErrVolumeDenied are why a function does not get a volume. They name no path, and may be told.
var (
	ErrNoVolume     = errors.New("the owner of this machine has named no folder for it")
	ErrVolumeDenied = errors.New("the owner of this machine does not show it to the function")
)

// VolumeFor is the volume of a name, for a function of a project.
func (p *Preferences) VolumeFor(name string, project uuid.UUID, function, digest string) (volume.Mapping, error) {
	i := slices.IndexFunc(p.Volumes, func(v volume.Mapping) bool { return v.Name == name })
	if i < 0 {
		return volume.Mapping{}, ErrNoVolume
	}
	v := p.Volumes[i]
	if !v.IsFor(project) {
		return volume.Mapping{}, ErrVolumeDenied
	}
	for _, a := range p.VolumeAccess {
		if a.applies(project, function, digest) && !a.permits(v.Path) {
			return volume.Mapping{}, ErrVolumeDenied
		}
	}
	return v, nil
}

// keysOfVolumes say which folders of the machine functions may read, and where they may write.
func keysOfVolumes() []Key {
	return []Key{
		{
			Name: "volumes", About: "folders that functions may read, or with mode = \"rw\" write to, by name (docs/volumes.md); as tables [volumes.NAME], which ostraka agent volume writes",
			Example: `{genome = {path = "/data/genome", mode = "ro"}}`, kind: tables,
			read: func(p *Preferences, value any) (err error) {
				p.Volumes, err = readVolumes(value)
				return err
			},
			show: func(p *Preferences) string {
				return namesOf(p.Volumes, func(v volume.Mapping) string { return v.Name })
			},
		},
		{
			Name: "volume_access", About: "which folders which functions get, by patterns of paths (docs/volumes.md); as tables [[volume_access]], or on one line",
			Example: `[{functions = ["survey"], allow = ["/data/public"]}, {deny = ["/data/private"]}]`, kind: tables,
			read: func(p *Preferences, value any) (err error) {
				p.VolumeAccess, err = each(value, MaxVolumeAccess, readAccess)
				return err
			},
			show: func(p *Preferences) string { return unlessZero(len(p.VolumeAccess)) },
		},
	}
}

func readVolumes(value any) (list []volume.Mapping, err error) {
	named, ok := value.(map[string]any)
	if !ok || len(named) == 0 || len(named) > volume.MaxOfMachine {
		return nil, fmt.Errorf("write 1 to %d tables [volumes.NAME], or leave them out", volume.MaxOfMachine)
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if err := volume.CheckName(name); err != nil {
			return nil, err
		}
		values, ok := named[name].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s is no table: write it below [volumes.%s]", name, name)
		}
		v, err := readVolume(name, table{values, map[string]bool{}})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, v)
	}
	if err := volume.CheckApart(list); err != nil {
		return nil, err
	}
	return list, nil
}

func readVolume(name string, t table) (v volume.Mapping, err error) {
	var mode string
	v.Name = name
	if err := t.texts([]string{"path", "mode"}, &v.Path, &mode); err != nil {
		return v, err
	}
	if v.Projects, err = ids(t, "projects", MaxVolumeProjects); err != nil {
		return v, err
	}
	if v.MaxBytes, err = t.size("max_bytes"); err != nil {
		return v, err
	}
	if err := t.rest(); err != nil {
		return v, err
	}
	v.Mode = volume.Mode(cmp.Or(mode, string(volume.ReadOnly)))
	switch {
	case v.Mode != volume.ReadOnly && v.Mode != volume.ReadWrite:
		return v, fmt.Errorf("mode: %w", volume.CheckMode(v.Mode))
	case v.MaxBytes < 0 || v.MaxBytes > volume.MaxWrittenBytes:
		return v, fmt.Errorf("max_bytes: write 1 to %d bytes, such as \"10Gi\"", int64(volume.MaxWrittenBytes))
	case v.Mode == volume.ReadWrite && v.MaxBytes == 0:
		return v, fmt.Errorf("max_bytes: with mode = %q write how much functions may keep in it, such as \"10Gi\"", volume.ReadWrite)
	case v.Mode == volume.ReadOnly && v.MaxBytes != 0:
		return v, errors.New("max_bytes: it bounds what functions write, and they only read this one: leave it out, or write mode = \"rw\"")
	case !filepath.IsAbs(v.Path) || filepath.Clean(v.Path) != v.Path:
		return v, fmt.Errorf("path: %q is no plain absolute path: write one that begins at / and has no . or .. in it; ostraka agent volume add finds it", v.Path)
	}
	return v, nil
}

func readAccess(t table) (a VolumeAccess, err error) {
	if a.Projects, err = ids(t, "projects", MaxListed); err != nil {
		return a, err
	}
	for _, l := range []struct {
		name string
		into *[]string
		read func(string) error
	}{
		{"functions", &a.Functions, func(s string) error { _, err := parseFunction(s); return err }},
		{"allow", &a.Allow, volume.CheckPattern},
		{"deny", &a.Deny, volume.CheckPattern},
	} {
		if *l.into, err = t.list(l.name, MaxListed); err != nil {
			return a, err
		}
		for _, s := range *l.into {
			if err := l.read(s); err != nil {
				return a, fmt.Errorf("%s: %w", l.name, err)
			}
		}
	}
	if len(a.Allow)+len(a.Deny) == 0 {
		return a, errors.New("it narrows nothing: write patterns of paths after allow or deny")
	}
	return a, t.rest()
}

// ids reads a list of projects.
func ids(t table, name string, most int) (list []uuid.UUID, err error) {
	texts, err := t.list(name, most)
	for _, text := range texts {
		id, err := uuid.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is no ID of a project", name, text)
		}
		list = append(list, id)
	}
	return list, err
}

// list reads a list of texts; none where there is none.
func (t table) list(name string, most int) (list []string, err error) {
	t.asked[name] = true
	value, there := t.values[name]
	if !there {
		return nil, nil
	}
	items, ok := value.([]any)
	if !ok || len(items) == 0 || len(items) > most {
		return nil, fmt.Errorf("%s: write a list of 1 to %d, or leave the line out", name, most)
	}
	for _, item := range items {
		text, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("%s: write texts in quotes", name)
		}
		if slices.Contains(list, text) {
			return nil, fmt.Errorf("%s: %q stands there twice", name, text)
		}
		list = append(list, text)
	}
	return list, nil
}
