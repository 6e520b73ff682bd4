package verify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/verify"
)

func TestTighten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		is    verify.Policy
		floor verify.Floor
		want  verify.Policy
	}{
		{verify.Policy{None: true}, verify.Floor{}, verify.Policy{None: true}},
		{verify.Policy{None: true}, verify.Floor{Quorum: 3}, verify.Policy{Quorum: 3}},
		{verify.Policy{Quorum: 2}, verify.Floor{Quorum: 3}, verify.Policy{Quorum: 3}},
		{verify.Policy{Quorum: 4}, verify.Floor{Quorum: 3}, verify.Policy{Quorum: 4}},
		{verify.Policy{Quorum: 1, MaxAttempts: 2}, verify.Floor{Quorum: 3}, verify.Policy{Quorum: 3}},
		{verify.Policy{Quorum: 4}, verify.Floor{TargetError: 0.01}, verify.Policy{TargetError: 0.01, AssumeHostile: verify.DefaultHostile}},
		{verify.Policy{TargetError: 0.1, AssumeHostile: 0.2}, verify.Floor{TargetError: 0.01, Quorum: 3}, verify.Policy{TargetError: 0.01, AssumeHostile: 0.2}},
		{verify.Policy{TargetError: 0.001}, verify.Floor{TargetError: 0.01}, verify.Policy{TargetError: 0.001}},
		{verify.Policy{TargetError: 0.001, Confirm: "true"}, verify.Floor{RecheckAll: true}, verify.Policy{Recheck: verify.RecheckAll, Confirm: "true"}},
		{verify.Policy{Recheck: verify.RecheckAll}, verify.Floor{Quorum: 3, TargetError: 0.01}, verify.Policy{Recheck: verify.RecheckAll}},
		{verify.Policy{Quorum: 2}, verify.Floor{Quorum: 1000}, verify.Policy{Quorum: verify.MaxQuorum}},
	} {
		got := c.is.Tighten(c.floor)
		require.Equal(t, c.want, got, "%+v with %+v", c.is, c.floor)
		require.NoError(t, got.Validate())
		require.Equal(t, got, got.Tighten(c.floor), "twice is once")
	}
}
