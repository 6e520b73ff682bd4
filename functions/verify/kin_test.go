package verify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/verify"
)

func TestAnOwnerIsCaughtWithItsSecondAgent(t *testing.T) {
	for name, c := range map[string]struct {
		kin  verify.Kin
		want verify.Standing
	}{
		"nothing is known":       {verify.Kin{}, verify.Active},
		"one may be broken":      {verify.Kin{Caught: 1, Failed: 9}, verify.Active},
		"two are no chance":      {verify.Kin{Caught: 2, Failed: 4}, verify.Caught},
		"little is not enough":   {verify.Kin{Caught: 2, Failed: 4, Passed: 4*verify.ForgivenPerFailure - 1}, verify.Caught},
		"two among a large herd": {verify.Kin{Caught: 2, Failed: 4, Passed: 4 * verify.ForgivenPerFailure}, verify.Active},
	} {
		t.Run(name, func(t *testing.T) {
			got, why := c.kin.Standing()
			require.Equal(t, c.want, got)
			require.NotEmpty(t, why)
			standing, _ := verify.StandingOf(verify.Evidence{}.Among(c.kin))
			require.Equal(t, c.want, standing, "a new agent of the owner is caught with it")
		})
	}
}

func TestAnOwnerHasOneProbation(t *testing.T) {
	require.True(t, verify.Evidence{}.Among(verify.Kin{SinceFailure: verify.ProbationAudits - 1}).OnProbation())
	require.False(t, verify.Evidence{}.Among(verify.Kin{SinceFailure: verify.ProbationAudits}).OnProbation())
	require.False(t, verify.Evidence{SinceFailure: verify.ProbationAudits}.Among(verify.Kin{}).OnProbation())
}

func TestAnOwnerHasOneRecord(t *testing.T) {
	require.False(t, verify.Evidence{}.Among(verify.Kin{Vouched: verify.ProbationAudits - 1}).Known())
	require.True(t, verify.Evidence{}.Among(verify.Kin{Vouched: verify.ProbationAudits}).Known())
	require.True(t, verify.Evidence{Vouched: verify.ProbationAudits}.Among(verify.Kin{}).Known())
}
