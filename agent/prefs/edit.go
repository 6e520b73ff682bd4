package prefs

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Set writes one preference into the content of the file and leaves everything else as it is, comments included. The value is written
// as on a command line: 2, 512Mi, true, or mon,tue for a list.
func Set(content []byte, name, value string) ([]byte, error) {
	key, found := find(name)
	if !found {
		return nil, unknown(name)
	}
	return change(content, name, []string{name + " = " + key.literal(value)})
}

// Unset removes one preference from the content of the file.
func Unset(content []byte, name string) ([]byte, error) {
	if _, found := find(name); !found {
		return nil, unknown(name)
	}
	return change(content, name, nil)
}

func unknown(name string) error {
	var names []string
	for _, k := range Keys() {
		names = append(names, k.Name)
	}
	return fmt.Errorf("there is no preference %q: choose one of %s", name, strings.Join(names, ", "))
}

// literal is a value as TOML writes it.
func (k Key) literal(value string) string {
	value = strings.TrimSpace(value)
	switch k.kind {
	case list:
		items := strings.Split(value, ",")
		for i := range items {
			items[i] = quote(strings.TrimSpace(items[i]))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case text:
		return quote(value)
	case tables:
		return value
	case size:
		return quote(value)
	default:
		if _, err := strconv.ParseInt(value, 10, 64); err == nil || value == "true" || value == "false" {
			return value
		}
		return quote(value) // Parse says what is wrong with it
	}
}

// change replaces the lines of a preference. Where it ends is found by trying: the right end is the first that leaves a file in which
// nothing else has changed.
func change(content []byte, name string, with []string) ([]byte, error) {
	before := map[string]any{}
	if err := toml.Unmarshal(content, &before); err != nil {
		return nil, syntax(err)
	}
	_, there := before[name]
	delete(before, name)
	lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	if len(content) == 0 {
		lines = nil
	}
	if !there {
		return add(lines, before, name, with)
	}
	first := lineOf(content, name) - 1
	for last := first; last < len(lines); last++ {
		changed := make([]string, 0, len(lines)+1)
		changed = append(append(append(changed, lines[:first]...), with...), lines[last+1:]...)
		after := map[string]any{}
		if toml.Unmarshal(join(changed), &after) != nil {
			continue
		}
		if _, still := after[name]; still && len(with) == 0 { // in another table of its name
			continue
		}
		if delete(after, name); reflect.DeepEqual(before, after) {
			return checked(join(changed))
		}
	}
	return nil, fmt.Errorf("%s stands in the file in a way that cannot be changed by machine: edit it by hand", name)
}

// add puts in a preference that was not there: at the end, or before the tables where the file ends with one, which it would be part
// of otherwise.
func add(lines []string, before map[string]any, name string, with []string) ([]byte, error) {
	for at := len(lines); at >= 0; at-- {
		if at < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[at]), "[") {
			continue
		}
		changed := slices.Concat(lines[:at], with, lines[at:])
		after := map[string]any{}
		if err := toml.Unmarshal(join(changed), &after); err != nil && at < len(lines) {
			continue
		}
		if delete(after, name); reflect.DeepEqual(before, after) {
			return checked(join(changed))
		}
	}
	return checked(join(append(lines, with...))) // which says what is wrong
}

func join(lines []string) []byte {
	if len(lines) == 0 {
		return nil
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

func checked(content []byte) ([]byte, error) {
	if len(content) > MaxBytes {
		return nil, errors.New("the file would become too long: shorten its lists")
	}
	_, err := Parse(content)
	return content, err
}

// Typed is a value of the file as Set takes it: 512Mi and not "512Mi", mon,tue and not ["mon", "tue"].
func (k Key) Typed(value string) string {
	if k.kind == list {
		var read struct{ V []string }
		if toml.Unmarshal([]byte("V = "+value), &read) == nil {
			return strings.Join(read.V, ",")
		}
	}
	if k.kind == text || k.kind == size {
		if plain, err := strconv.Unquote(value); err == nil {
			return plain
		}
	}
	return value
}

// ByHand says whether a preference is more than one line can say, so that it is written with an editor.
func (k Key) ByHand() bool { return k.kind == tables }
