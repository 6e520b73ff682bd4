package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/guardian"
)

// TestAPolicyHidesNothingFromRules has a project's heuristics overlook what the built-in rules refuse.
func TestAPolicyHidesNothingFromRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *engine.Options) {
		rules, err := guardian.CompiledDefaults()
		require.NoError(t, err)
		o.Heuristics, o.GuardianRules = functions.DefaultHeuristics(), rules
	})
	w.setHeuristics(codeRisk(functions.HeuristicRule{At: 1, Do: functions.DoFlag}))
	w.pushCode("reboots", "import os\ndef handler(x):\n    os.system('reboot')\n    return x\n")
	w.pushCode("echoes", "import os\ndef handler(x):\n    os.system('echo reboot')\n    return x\n")
	w.settleAll()
	submit := func(name string) error {
		_, _, err := w.SubmitJob(t.Context(), w.by, w.project, functions.NewJob{Function: name, Partition: rangeOf(1), Quorum: 1}, functions.Idempotency{})
		return err
	}
	requireCode(t, submit("reboots"), "denied_by_guardian")
	require.NoError(t, submit("echoes"))
	require.Zero(t, w.count("select count(*) from flags where kind = 'finding'"), "people see what the policy wants them to")
}
