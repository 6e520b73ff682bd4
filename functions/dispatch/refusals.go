package dispatch

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/store"
)

const (
	// MaxRefusalText is the longest reason of a refusal, in characters.
	MaxRefusalText = 300
	// firstRefusal is how long an agent is not lent a version of a function that it has refused once: long enough that refused work
	// does not go round and round, short enough for an owner who allows it after all.
	firstRefusal = time.Minute
	// longestRefusal bounds that time, which doubles with each refusal.
	longestRefusal = 15 * time.Minute
)

// Refusal is why an agent gives a lease back.
type Refusal struct {
	Code    string `json:"code" pattern:"^[a-z][a-z_]{0,39}$" doc:"For programs."`
	Text    string `json:"text" maxLength:"300" doc:"For people: what the function asks for and what the machine allows."`
	Refuses bool   `json:"refuses" doc:"The agent would give the same version of the function back again: do not lend it to this agent for a while. False: it only cannot go on now."`
}

var refusalCode = regexp.MustCompile(`^[a-z][a-z_]{0,39}$`)

func (r Refusal) check() error {
	if !refusalCode.MatchString(r.Code) {
		return functions.Invalid("bad_refusal", fmt.Sprintf("the code %q of a refusal is not one", r.Code), "use a lower-case letter and up to 39 more or _")
	}
	if n := len([]rune(r.Text)); n > MaxRefusalText {
		return functions.Invalid("bad_refusal", fmt.Sprintf("the text of the refusal has %d characters, at most %d are kept", n, MaxRefusalText), "say it in fewer words")
	}
	return nil
}

// RefuseLease gives a lease back like ReturnLease, and keeps why when the agent does not take the function at all.
func (s *Service) RefuseLease(ctx context.Context, agent, lease uuid.UUID, why Refusal) error {
	if err := why.check(); err != nil {
		return err
	}
	if why.Refuses {
		if err := s.keepRefusal(ctx, agent, lease, why); err != nil {
			return fmt.Errorf("keeping why lease %s is refused: %w", lease, err)
		}
	}
	return s.ReturnLease(ctx, agent, lease)
}

// keepRefusal runs before the lease is returned, so that what was refused is not lent to the same agent in between.
func (s *Service) keepRefusal(ctx context.Context, agent, lease uuid.UUID, why Refusal) error {
	holder, err := s.leaseHolder(ctx, agent, lease)
	if err != nil {
		return err
	}
	return s.env.Project(ctx, holder.ProjectID, func(tx *store.Tx) error {
		_, err := store.Exec(ctx, tx, sql.AddRefusal, lease, agent, why.Code, why.Text, firstRefusal, longestRefusal)
		return err
	})
}
