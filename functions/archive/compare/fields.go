package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxOpen is how many fields a document may have of which the receipt says nothing. One that this program writes has some dozens; of another one
// nobody would read the names.
const maxOpen = 1000

// fields are those of a document, found by paths such as record.policy or aggregations[0].count, and which of them were compared. Each object and
// list is parsed once: a document may have as many bytes as archive.MaxDocument, and dozens of its fields are looked at.
type fields struct {
	root    json.RawMessage
	objects map[string]map[string]json.RawMessage // by path
	lists   map[string][]json.RawMessage
	seen    map[string]bool // what was compared, with all that is below it
	above   map[string]bool // what something of was compared
}

func newFields(root json.RawMessage) *fields {
	return &fields{root: root, objects: map[string]map[string]json.RawMessage{}, lists: map[string][]json.RawMessage{}, seen: map[string]bool{}, above: map[string]bool{}}
}

// split cuts the last step off a path: a name, or a place in a list.
func split(path string) (above, name string, place int) {
	at := strings.LastIndexAny(path, ".[")
	if at < 0 {
		return "", path, -1
	}
	if path[at] == '.' {
		return path[:at], path[at+1:], -1
	}
	place, err := strconv.Atoi(strings.TrimSuffix(path[at+1:], "]"))
	if err != nil || place < 0 {
		return path[:at], path[at:], -1 // no name that a field has
	}
	return path[:at], "", place
}

// at is what stands at a path.
func (f *fields) at(path string) (json.RawMessage, bool) {
	if path == "" {
		return f.root, true
	}
	above, name, place := split(path)
	if place < 0 {
		value, found := f.object(above)[name]
		return value, found
	}
	if list := f.list(above); place < len(list) {
		return list[place], true
	}
	return nil, false
}

func (f *fields) object(path string) map[string]json.RawMessage {
	all, known := f.objects[path]
	if !known {
		if text, found := f.at(path); found {
			_ = json.Unmarshal(text, &all) // what is no object has no fields
		}
		f.objects[path] = all
	}
	return all
}

func (f *fields) list(path string) []json.RawMessage {
	all, known := f.lists[path]
	if !known {
		if text, found := f.at(path); found {
			_ = json.Unmarshal(text, &all) // what is no list has no places
		}
		f.lists[path] = all
	}
	return all
}

// compared notes that fields were compared, with all that is below them.
func (f *fields) compared(paths ...string) {
	for _, path := range paths {
		f.seen[path] = true
		for path != "" {
			path, _, _ = split(path)
			f.above[path] = true
		}
	}
}

// notCompared names the fields that were not compared, each by the path above which something was.
func (f *fields) notCompared() ([]string, error) {
	in := json.NewDecoder(bytes.NewReader(f.root))
	in.UseNumber()
	var root map[string]any
	if err := in.Decode(&root); err != nil {
		return nil, fmt.Errorf("reading the document: %w", err)
	}
	var open []string
	for _, name := range names(root) {
		if open = f.below(open, name, root[name]); len(open) > maxOpen {
			return nil, fmt.Errorf("the document has more than %d fields of which the receipt says nothing", maxOpen)
		}
	}
	return open, nil
}

// below adds what was not compared at a path; the path itself where nothing of it was. It ends where there is too much.
func (f *fields) below(open []string, path string, value any) []string {
	if f.seen[path] || len(open) > maxOpen {
		return open
	}
	if !f.above[path] {
		return append(open, path)
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range names(value) {
			open = f.below(open, path+"."+name, value[name])
		}
	case []any:
		for i, v := range value {
			open = f.below(open, fmt.Sprintf("%s[%d]", path, i), v)
		}
	default:
		return append(open, path)
	}
	return open
}

func names(fields map[string]any) []string {
	all := make([]string, 0, len(fields))
	for name := range fields {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
