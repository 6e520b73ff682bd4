// Package compare holds the document of an archive to what the log vouches for. It is pure: servers that import archives ask it, and so do those who
// verify one without a server.
package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	file "github.com/ostraka/ostraka/runtime/archive"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// Names refuses a document that other programs read otherwise than this one: with a field that stands in it twice, at any depth, or one whose
// name differs from that of a known field in letter case alone, in the document or in the record of the job.
func Names(text []byte, d file.Document, record reflect.Type) error {
	if err := canonical.Valid(bytes.TrimSpace(text), file.MaxDocument+1); err != nil {
		return fmt.Errorf("the document: %w", err)
	}
	if err := checkNames(text, reflect.TypeFor[file.Document](), ""); err != nil {
		return err
	}
	return checkNames(d.Record, record, "record")
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// checkNames looks at every object that is read into a struct. What is kept as it stands (json.RawMessage) may have any names.
func checkNames(text json.RawMessage, as reflect.Type, path string) error {
	for as.Kind() == reflect.Pointer {
		as = as.Elem()
	}
	if reflect.PointerTo(as).Implements(unmarshaler) { // also json.RawMessage and time.Time
		return nil
	}
	switch as.Kind() {
	case reflect.Struct:
		return checkFields(text, as, path)
	case reflect.Slice, reflect.Array:
		var values []json.RawMessage
		if json.Unmarshal(text, &values) != nil {
			return nil //nolint:nilerr // null, or bytes as a text
		}
		for i, value := range values {
			if err := checkNames(value, as.Elem(), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		var values map[string]json.RawMessage
		if json.Unmarshal(text, &values) != nil {
			return nil //nolint:nilerr // whoever reads it says what is wrong
		}
		for name, value := range values {
			if err := checkNames(value, as.Elem(), path+"."+name); err != nil {
				return err
			}
		}
	default:
	}
	return nil
}

func checkFields(text json.RawMessage, as reflect.Type, path string) error {
	var values map[string]json.RawMessage
	if json.Unmarshal(text, &values) != nil {
		return nil //nolint:nilerr // whoever reads it into the struct says what is wrong
	}
	known := map[string]reflect.Type{}
	fieldsOf(as, known)
	for name, value := range values {
		if field, exact := known[name]; exact {
			if err := checkNames(value, field, strings.TrimPrefix(path+"."+name, ".")); err != nil {
				return err
			}
			continue
		}
		for field := range known {
			if strings.EqualFold(field, name) {
				return errors.New(shown(fmt.Sprintf("the document has a field %.40q beside or in place of %s, which is none of its own", name, strings.TrimPrefix(path+"."+field, "."))))
			}
		}
	}
	return nil
}

// fieldsOf collects the names by which the fields of a struct are read, with those of structs in it.
func fieldsOf(as reflect.Type, known map[string]reflect.Type) {
	for f := range as.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			fieldsOf(inner, known)
		case name == "":
			known[f.Name] = f.Type
		default:
			known[name] = f.Type
		}
	}
}
