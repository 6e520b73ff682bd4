package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/guardian"
)

// TestARuleIsTestedBeforeItIsPublished: one by which decisions would have been others takes a word of who publishes it, and so does deleting it.
func TestARuleIsTestedBeforeItIsPublished(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.submit(2)
	harmless, err := w.PublishGuardianRule(ctx, w.by, w.project, guardRule("huge", guardian.Deny, "job.shards > 1000000", guardian.JobSubmit), 0, false)
	require.NoError(t, err, "no decision would have been another")
	require.NoError(t, w.WithdrawGuardianRule(ctx, w.by, w.project, "huge", harmless.Version, false))

	none := guardRule("none", guardian.Deny, "", guardian.JobSubmit)
	_, err = w.PublishGuardianRule(ctx, w.by, w.project, none, 0, false)
	requireCode(t, err, "rule_unconfirmed")
	require.ErrorContains(t, err, "job.submit")
	require.Zero(t, w.count("select count(*) from guardian_rules where name = 'none'"))
	made, err := w.PublishGuardianRule(ctx, w.by, w.project, none, 0, true)
	require.NoError(t, err)

	none.Enabled = false
	_, err = w.PublishGuardianRule(ctx, w.by, w.project, none, made.Version, false)
	requireCode(t, err, "rule_unconfirmed")
	requireCode(t, w.WithdrawGuardianRule(ctx, w.by, w.project, "none", made.Version, false), "rule_unconfirmed")
	require.NoError(t, w.WithdrawGuardianRule(ctx, w.by, w.project, "none", made.Version, true))
	w.submit(2)
	require.Error(t, w.WithdrawGuardianRule(ctx, w.by, w.project, "never", 1, true))
}
