//go:build linux

package main

import (
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/runtime/volume"
)

// recheckVolumes reads what --recheck-volume says: NAME=FOLDER, and the projects that it is for after commas.
func recheckVolumes(texts []string) (list []volume.Mapping, err error) {
	if len(texts) > volume.MaxOfMachine {
		return nil, usageError("--recheck-volume is given %d times: a server has at most %d volumes", len(texts), volume.MaxOfMachine)
	}
	named := map[string]bool{}
	for _, text := range texts {
		name, rest, found := strings.Cut(text, "=")
		parts := strings.Split(rest, ",")
		m := volume.Mapping{Name: name, Path: parts[0], Mode: volume.ReadOnly}
		if err := volume.CheckName(name); err != nil || !found {
			return nil, usageError("--recheck-volume %q: write NAME=FOLDER, as in genome=/data/genome", text)
		}
		if !filepath.IsAbs(m.Path) || filepath.Clean(m.Path) != m.Path {
			return nil, usageError("--recheck-volume %q: write the folder as a plain absolute path", text)
		}
		if named[name] {
			return nil, usageError("--recheck-volume names volume %s twice", name)
		}
		for _, project := range parts[1:] {
			id, err := uuid.Parse(project)
			if err != nil {
				return nil, usageError("--recheck-volume %q: %q is no ID of a project", text, project)
			}
			m.Projects = append(m.Projects, id)
		}
		named[name], list = true, append(list, m)
	}
	return list, nil
}
