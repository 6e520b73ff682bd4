package insight

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/insight/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// maxFlagsExplained is how many kinds and rules of open flags an explanation names; it says how many more there are.
const maxFlagsExplained = 8

// reasonFlags is the code of the reason that names a job's open flags.
const reasonFlags = "flags"

type openFlags struct {
	Kind  string
	Rule  string
	Flags int64
	Times int64
}

// flagsOfJob counts the open flags of a job.
func (s *Service) flagsOfJob(ctx context.Context, project, job uuid.UUID) (rows []openFlags, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		rows, err = store.Many[openFlags](ctx, tx, sql.FlagsOfJob, job, maxFlagsExplained+1)
		return err
	})
	return rows, err
}

// explainFlags adds the open flags to an explanation.
func explainFlags(e *functions.Explanation, job uuid.UUID, rows []openFlags) {
	if len(rows) == 0 {
		return
	}
	var words []string
	for _, r := range rows[:min(len(rows), maxFlagsExplained)] {
		words = append(words, r.text())
	}
	if len(rows) > maxFlagsExplained {
		words = append(words, "and other kinds")
	}
	e.Reasons = append(e.Reasons, functions.Reason{
		Code: reasonFlags, Text: "Open flags: " + strings.Join(words, ", ") + ".",
		Hint: fmt.Sprintf("ostraka flag list --job %s, then ostraka flag show FLAG", job),
	})
}

func (r openFlags) text() string {
	text := fmt.Sprintf("%d %s", r.Flags, r.Kind)
	if r.Rule != "" {
		text += " (" + r.Rule + ")"
	}
	if r.Times > r.Flags {
		text += fmt.Sprintf(", %d times", r.Times)
	}
	return text
}
