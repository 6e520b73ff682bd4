package guardian_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// mutating are the operations of openapi.yaml that do more than read, by their IDs.
func mutating(t *testing.T) (ids []string) {
	t.Helper()
	text, err := os.ReadFile("../openapi.yaml")
	require.NoError(t, err)
	methods, names := regexp.MustCompile(`^    (get|put|post|delete|patch|head|options|trace):`), regexp.MustCompile(`^      operationId: (\S+)`)
	method := ""
	for line := range strings.Lines(string(text)) {
		if m := methods.FindStringSubmatch(line); m != nil {
			method = m[1]
		}
		if m := names.FindStringSubmatch(line); m != nil && method != "get" && method != "head" && method != "options" {
			ids = append(ids, m[1])
		}
	}
	require.Greater(t, len(ids), 50, "openapi.yaml is written in another way")
	return ids
}

// steps are the kinds of the server's steps.
func steps(t *testing.T) (kinds []string) {
	t.Helper()
	text, err := os.ReadFile("../functions/stepargs/steps.go")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`Kind\(\) string\s*\{\s*return "(\w+)"`).FindAllStringSubmatch(string(text), -1) {
		kinds = append(kinds, m[1])
	}
	require.Greater(t, len(kinds), 20, "functions/stepargs/steps.go is written in another way")
	return kinds
}

func TestEveryChangeIsOnTheList(t *testing.T) {
	asked, carries := guardian.ForAPI(), guardian.APICarriesOn()
	ids := mutating(t)
	for _, id := range ids {
		_, a := asked[id]
		_, b := carries[id]
		require.NotEqual(t, a, b, "the operation %s of openapi.yaml changes something: name it in guardian/api.go, in ForAPI or, with a reason, in APICarriesOn", id)
	}
	for id, kind := range asked {
		require.Contains(t, ids, id, "there is no such operation any more")
		_, known := guardian.Describe(kind)
		require.True(t, known, kind)
	}
	for id, reason := range carries {
		require.Contains(t, ids, id, "there is no such operation any more")
		require.NotEmpty(t, reason)
	}
	begins, goesOn := guardian.ForStep(), guardian.StepsCarryOn()
	kinds := steps(t)
	for _, step := range kinds {
		_, a := begins[step]
		_, b := goesOn[step]
		require.NotEqual(t, a, b, "the step %s is not on the list: name it in guardian/steps.go, in ForStep or, with a reason, in StepsCarryOn", step)
	}
	for step, list := range begins {
		require.Contains(t, kinds, step, "there is no such step any more")
		for _, kind := range list {
			_, known := guardian.Describe(kind)
			require.True(t, known, kind)
		}
	}
	for step, reason := range goesOn {
		require.Contains(t, kinds, step, "there is no such step any more")
		require.NotEmpty(t, reason)
	}
}

func TestTheListIsWhole(t *testing.T) {
	all := guardian.Operations()
	require.True(t, slices.IsSortedFunc(all, func(a, b guardian.Described) int { return strings.Compare(string(a.Kind), string(b.Kind)) }))
	for _, d := range all {
		require.True(t, d.Risk.Known(), d.Kind)
		require.NotEmpty(t, d.Doc, d.Kind)
		o := guardian.Operation{Kind: d.Kind, Facts: d.Facts}
		require.NoError(t, o.Check())
		text, err := o.Canonical()
		require.NoError(t, err)
		var back guardian.Operation
		require.NoError(t, back.UnmarshalJSON(text))
		require.Equal(t, o, back)
		_, err = guardian.Compile(rule("x", guardian.Deny, `actor.role == "owner" && subject == "" && project == "" && kind == "`+string(d.Kind)+`"`, d.Kind))
		require.NoError(t, err)
	}
}

// The levels are those of the sandboxes.
func TestLevelsOfIsolation(t *testing.T) {
	r := rule("x", guardian.Allow, "")
	for _, level := range []bundle.Isolation{bundle.GVisor, bundle.Container, bundle.Linux, bundle.LinuxNoCgroup, bundle.Landlock, bundle.Process} {
		r.Conditions.Isolation = string(level)
		_, err := guardian.Compile(r)
		require.NoError(t, err)
		for _, other := range []bundle.Isolation{bundle.GVisor, bundle.Container, bundle.Linux, bundle.LinuxNoCgroup, bundle.Landlock, bundle.Process} {
			broken := r.Conditions.Broken(guardian.Planned{Isolation: string(other)})
			require.Equal(t, other.AtLeast(level), len(broken) == 0, "%s for %s", other, level)
		}
	}
	require.Equal(t, bundle.MaxQuorum, guardian.MaxQuorum)
}
