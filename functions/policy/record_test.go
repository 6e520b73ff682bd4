package policy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/guardian"
)

// TestRefusalsByOtherRulesAreOthers holds which refusals are recorded though one like them was told a moment ago.
func TestRefusalsByOtherRulesAreOthers(t *testing.T) {
	deny := func(layer guardian.Layer, name string) guardian.Applied {
		return guardian.Applied{Layer: layer, Name: name, Then: guardian.Deny}
	}
	ask := func(name string) guardian.Applied {
		return guardian.Applied{Layer: guardian.ProjectLayer, Name: name, Then: guardian.Ask}
	}
	refused := func(verdict guardian.Verdict, decisive guardian.Applied, others ...guardian.Applied) refusalKey {
		return judged{decision: guardian.Decision{Verdict: verdict, Rule: &decisive, Applied: append(others, decisive)}}.refusalKey()
	}
	asked := ask("a")
	asked.Approval = "given"
	require.Equal(t, refused(guardian.Ask, ask("b")), refused(guardian.Ask, ask("b"), asked), "one that has its yes refuses nothing")
	all := map[refusalKey]bool{
		refused(guardian.Deny, deny(guardian.ProjectLayer, "a")):                 true,
		refused(guardian.Deny, deny(guardian.OperatorLayer, "a")):                true,
		refused(guardian.Deny, deny(guardian.ProjectLayer, "b")):                 true,
		refused(guardian.Ask, ask("a")):                                          true,
		refused(guardian.Ask, ask("a"), ask("b")):                                true,
		judged{decision: guardian.Decision{Verdict: guardian.Deny}}.refusalKey(): true,
	}
	require.Len(t, all, 6)
	require.True(t, all[refused(guardian.Deny, deny(guardian.ProjectLayer, "a"), ask("b"))], "what else was asked does not matter where one denies")
}
