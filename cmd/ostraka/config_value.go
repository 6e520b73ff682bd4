package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// configValue is the value of a flag, whatever its type: a text, or several where the flag holds a list.
type configValue struct {
	text string
	list []string
}

// shown is the value for people.
func (v configValue) shown() string {
	if v.list != nil {
		return strings.Join(v.list, ", ")
	}
	return v.text
}

// valueOf reads a flag.
func valueOf(f *pflag.Flag) configValue {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return configValue{list: slices.Clone(list.GetSlice())}
	}
	if f.Value.Type() == numbersKind {
		pairs := strings.FieldsFunc(strings.Trim(f.Value.String(), "[]"), func(r rune) bool { return r == ',' })
		slices.Sort(pairs)
		return configValue{text: strings.Join(pairs, ",")}
	}
	return configValue{text: f.Value.String()}
}

// set gives a flag the value, as if the flag were not given.
func (v configValue) set(f *pflag.Flag) error {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.Replace(v.list)
	}
	if v.text == "" && f.Value.Type() == numbersKind {
		return nil // an empty table names nothing
	}
	return f.Value.Set(v.text)
}

// The kinds of flags that a file writes otherwise than as a string, by pflag's names.
const (
	numbersKind = "stringToInt64" // NAME=NUMBER: a table in the file
	listKind    = "stringSlice"
	arrayKind   = "stringArray"
)

// fromTOML makes of a value in a file the value of a flag of that kind. What the flag cannot be shows when it is set.
func fromTOML(kind string, value any) (configValue, error) {
	switch kind {
	case "bool":
		if b, ok := value.(bool); ok {
			return configValue{text: strconv.FormatBool(b)}, nil
		}
		return configValue{}, fmt.Errorf("write true or false, and no %s", tomlName(value))
	case "int", "int64", "uint64":
		if n, ok := value.(int64); ok {
			return configValue{text: strconv.FormatInt(n, 10)}, nil
		}
		return configValue{}, fmt.Errorf("write a whole number, and no %s", tomlName(value))
	case "float64":
		switch n := value.(type) {
		case int64:
			return configValue{text: strconv.FormatInt(n, 10)}, nil
		case float64:
			return configValue{text: strconv.FormatFloat(n, 'g', -1, 64)}, nil
		}
		return configValue{}, fmt.Errorf("write a number, and no %s", tomlName(value))
	case listKind, arrayKind:
		return listFromTOML(value)
	case numbersKind:
		return numbersFromTOML(value)
	}
	if text, ok := value.(string); ok {
		return configValue{text: text}, nil
	}
	return configValue{}, fmt.Errorf("write it between quotes: it is a string, and no %s", tomlName(value))
}

func listFromTOML(value any) (configValue, error) {
	items, ok := value.([]any)
	if !ok {
		return configValue{}, fmt.Errorf(`write a list such as ["a", "b"], and no %s`, tomlName(value))
	}
	list := make([]string, len(items))
	for i, item := range items {
		if list[i], ok = item.(string); !ok {
			return configValue{}, fmt.Errorf("write strings into the list, and no %s", tomlName(item))
		}
	}
	return configValue{list: list}, nil
}

func numbersFromTOML(value any) (configValue, error) {
	table, ok := value.(map[string]any)
	if !ok {
		return configValue{}, fmt.Errorf("write a section with a line NAME = NUMBER for each, and no %s", tomlName(value))
	}
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(table)) {
		n, ok := table[name].(int64)
		if !ok {
			return configValue{}, fmt.Errorf("%s: write a whole number, and no %s", name, tomlName(table[name]))
		}
		pairs = append(pairs, name+"="+strconv.FormatInt(n, 10))
	}
	return configValue{text: strings.Join(pairs, ",")}, nil
}

// tomlName is what TOML calls a value.
func tomlName(value any) string {
	switch value.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case int64:
		return "integer"
	case float64:
		return "float"
	case []any:
		return "array"
	case map[string]any:
		return "table"
	default:
		return "date or time"
	}
}
