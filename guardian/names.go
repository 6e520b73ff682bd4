package guardian

import (
	"reflect"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
)

// names are what an expression about these operations can name, with their types: what every operation has, and the facts that all of
// these have.
func names(on []Kind) map[string]reflect.Type {
	all := map[string]reflect.Type{
		"kind": reflect.TypeFor[string](), "project": reflect.TypeFor[string](), "subject": reflect.TypeFor[string](),
		"actor": reflect.TypeFor[Actor](),
	}
	if len(on) == 0 {
		return all
	}
	counts := map[string]int{}
	types := map[string]reflect.Type{}
	for _, kind := range on {
		d, _ := Describe(kind)
		for name, t := range fields(reflect.TypeOf(d.Facts)) {
			if old, there := types[name]; there && old != t {
				continue
			}
			types[name] = t
			counts[name]++
		}
	}
	for name, t := range types {
		if counts[name] == len(on) {
			all[name] = t
		}
	}
	return all
}

// fields are those of a struct by their names in JSON.
func fields(t reflect.Type) map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		all[name] = t.Field(i).Type
	}
	return all
}

// structs adds what a type is made of to the types that CEL must know.
func structs(t reflect.Type, seen map[reflect.Type]bool, list *[]any) {
	switch {
	case t.Kind() == reflect.Slice:
		structs(t.Elem(), seen, list)
	case t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]() && !seen[t]:
		seen[t] = true
		*list = append(*list, t)
		for _, f := range fields(t) {
			structs(f, seen, list)
		}
	}
}

// typeOf is CEL's type for one of ours.
func typeOf(t reflect.Type) *cel.Type {
	switch t.Kind() { //nolint:exhaustive // facts are of these; a test compiles a rule for each
	case reflect.String:
		return cel.StringType
	case reflect.Bool:
		return cel.BoolType
	case reflect.Int64:
		return cel.IntType
	case reflect.Float64:
		return cel.DoubleType
	case reflect.Slice:
		return cel.ListType(typeOf(t.Elem()))
	}
	if t == reflect.TypeFor[time.Time]() {
		return cel.TimestampType
	}
	return cel.ObjectType(t.String())
}

// values are what an expression sees of an operation.
func values(o Operation) map[string]any {
	all := map[string]any{"kind": string(o.Kind), "project": o.Project, "subject": o.Subject, "actor": o.Actor}
	facts := reflect.ValueOf(o.Facts)
	for i := range facts.NumField() {
		name, _, _ := strings.Cut(facts.Type().Field(i).Tag.Get("json"), ",")
		all[name] = facts.Field(i).Interface()
	}
	return all
}
