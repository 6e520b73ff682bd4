package prefs

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/pelletier/go-toml/v2"

	"github.com/ostraka/ostraka/runtime/volume"
)

// AddVolume writes a volume into the content of the file and leaves everything else as it is.
func AddVolume(content []byte, v volume.Mapping) ([]byte, error) {
	p, err := Parse(content)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(p.Volumes, func(o volume.Mapping) bool { return o.Name == v.Name }) {
		return nil, fmt.Errorf("there is a volume %s already: remove it first, or choose another name", v.Name)
	}
	lines := []string{"[volumes." + v.Name + "]", "path = " + quote(v.Path), "mode = " + quote(string(v.Mode))}
	if v.MaxBytes > 0 {
		lines = append(lines, "max_bytes = "+strconv.FormatInt(v.MaxBytes, 10))
	}
	if len(v.Projects) > 0 {
		lines = append(lines, "projects = "+listOf(v.Projects, uuid.UUID.String))
	}
	text := string(content)
	if text != "" {
		text = strings.TrimSuffix(text, "\n") + "\n\n"
	}
	return checked([]byte(text + strings.Join(lines, "\n") + "\n"))
}

// RemoveVolume takes a volume out of the content of the file; found is false where there is none of that name.
func RemoveVolume(content []byte, name string) (changed []byte, found bool, err error) {
	before := map[string]any{}
	if err := toml.Unmarshal(content, &before); err != nil {
		return nil, false, syntax(err)
	}
	volumes, _ := before["volumes"].(map[string]any)
	if _, found = volumes[name]; !found {
		return content, false, nil
	}
	if delete(volumes, name); len(volumes) == 0 {
		delete(before, "volumes")
	}
	header := regexp.MustCompile(`^\s*\[\s*volumes\s*\.\s*["']?` + regexp.QuoteMeta(name) + `["']?\s*\]`)
	lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	first := slices.IndexFunc(lines, header.MatchString)
	for last := first + 1; first >= 0 && last <= len(lines); last++ {
		rest := join(slices.Concat(lines[:first], lines[last:]))
		after := map[string]any{}
		if toml.Unmarshal(rest, &after) == nil && reflect.DeepEqual(before, after) {
			changed, err = checked(rest)
			return changed, true, err
		}
	}
	return nil, true, fmt.Errorf("volume %s stands in the file in a way that cannot be changed by machine: ostraka agent prefs edit", name)
}
