package guardian

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/ostraka/ostraka/runtime/expression"
)

var (
	unknownName  = regexp.MustCompile(`^undeclared reference to '([^']*)'`)
	unknownField = regexp.MustCompile(`^undefined field '([^']*)'`)
)

// explain says what is wrong, and what to do, in the words of rules.
func explain(on []Kind, message string) (detail, hint string) {
	if m := unknownName.FindStringSubmatch(message); m != nil {
		known := sortedNames(names(on))
		return fmt.Sprintf("there is no fact %q for %s%s", m[1], operationsNamed(on), Nearest(m[1], known)), "there are " + strings.Join(known, ", ")
	}
	if m := unknownField.FindStringSubmatch(message); m != nil {
		known := fieldNames(on)
		return fmt.Sprintf("no fact for %s has a field %q%s", operationsNamed(on), m[1], Nearest(m[1], known)), "docs/guardian.md lists them"
	}
	switch {
	case strings.Contains(message, "reserved identifier: function"):
		return "function is a word that CEL keeps for itself", "the version of a function is called code: code.name, code.isolation"
	case strings.Contains(message, "recursion"):
		return expression.Brief(message), fmt.Sprintf("an expression nests at most %d deep, and a chain of operators counts: make several rules of it", expression.MaxNesting)
	}
	return expression.Brief(message), "see https://cel.dev for the language, and docs/guardian.md for what can be named"
}

func operationsNamed(on []Kind) string {
	switch {
	case len(on) == 0:
		return "all operations"
	case len(on) > 3:
		return fmt.Sprintf("all of these %d operations", len(on))
	}
	list := make([]string, len(on))
	for i, kind := range on {
		list[i] = string(kind)
	}
	return strings.Join(list, " and ")
}

func sortedNames(of map[string]reflect.Type) []string {
	list := make([]string, 0, len(of))
	for name := range of {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// fieldNames are the fields of all structs that can be reached.
func fieldNames(on []Kind) []string {
	var list []any
	seen := map[reflect.Type]bool{}
	for _, t := range names(on) {
		structs(t, seen, &list)
	}
	var all []string
	for t := range seen {
		all = append(all, sortedNames(fields(t))...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
