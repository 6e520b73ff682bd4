package insight

import (
	"fmt"
	"time"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/policy"
	"github.com/ostraka/ostraka/guardian"
)

// waitsForApproval says in one sentence what a job waits for, and who can say yes.
func waitsForApproval(a functions.JobApproval) functions.Reason {
	return functions.Reason{
		Code: "approval_needed",
		Text: fmt.Sprintf("Nothing is lent until %s approves the job: %s (rule %s). Without a yes it is cancelled at %s.",
			policy.WhoDecides(guardian.Layer(a.Layer)), a.Reason, a.Rule, a.ExpiresAt.UTC().Format(time.RFC3339)),
		Hint: "ostraka approval approve " + a.ID.String() + " --reason WHY, or deny",
	}
}
