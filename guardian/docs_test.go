package guardian_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/guardian"
)

// TestTheDocsListEverything holds the tables of docs/guardian.md against the code. Where it fails, it says which line belongs there.
func TestTheDocsListEverything(t *testing.T) {
	text, err := os.ReadFile("../docs/guardian.md")
	require.NoError(t, err)
	seen := map[reflect.Type]bool{}
	for _, d := range guardian.Operations() {
		waits := "is denied"
		if d.Waits {
			waits = "waits"
		}
		facts := reflect.TypeOf(d.Facts)
		require.Contains(t, string(text), fmt.Sprintf("\n| `%s` | %s | %s | %s | %s |\n", d.Kind, d.Risk, waits, d.Doc, factNames(facts)))
		for i := range facts.NumField() {
			seen[element(facts.Field(i).Type)] = true
		}
	}
	for at := range seen {
		for i := 0; at.Kind() == reflect.Struct && i < at.NumField(); i++ {
			name, _, _ := strings.Cut(at.Field(i).Tag.Get("json"), ",")
			require.Contains(t, string(text), "`"+name+"`", "a field of %s is not explained", at.Name())
		}
	}
	for _, r := range guardian.Defaults() {
		require.Contains(t, string(text), fmt.Sprintf("\n| `%s` | %s | %s | %s |\n", r.Name, r.Then, r.Risk, r.Reason))
	}
}

func factNames(facts reflect.Type) string {
	var names []string
	for i := range facts.NumField() {
		name, _, _ := strings.Cut(facts.Field(i).Tag.Get("json"), ",")
		names = append(names, "`"+name+"`")
	}
	return strings.Join(names, ", ")
}

// element is what a list holds, or the type itself; a time is no struct of facts.
func element(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Slice {
		return t.Elem()
	}
	if t.String() == "time.Time" {
		return reflect.TypeFor[string]()
	}
	return t
}
