package functions

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions/store"
)

// What a token may do whose maker says nothing, and the most that one may say: a token that leaks must come to an end by itself.
const (
	DefaultTokenUses = 1000                // agents
	DefaultTokenLife = 90 * 24 * time.Hour // agents that have joined stay for longer
)

// NewEnrolmentToken is a token that is to be made.
type NewEnrolmentToken struct {
	Name      string
	Owner     string     // whose machines join with it; "": all that do are taken for one owner's
	ExpiresAt *time.Time // nil: in DefaultTokenLife
	MaxUses   int64      // agents that may join with it; 0: DefaultTokenUses
}

// check also fills in what was left out, but for MaxUses.
func (n *NewEnrolmentToken) check() error {
	if err := checkNewSecret("enrolment token", n.Name, n.ExpiresAt); err != nil {
		return err
	}
	if n.MaxUses < 0 || n.MaxUses > MaxTokenUses {
		return Invalid("bad_uses", fmt.Sprintf("a token is for 1 to %d agents, not %d", MaxTokenUses, n.MaxUses), fmt.Sprintf("choose a number, or leave it out for %d", DefaultTokenUses))
	}
	if n.ExpiresAt == nil {
		n.ExpiresAt = new(time.Now().Add(DefaultTokenLife).UTC())
	}
	return checkOwner(n.Owner)
}

// CreateEnrolmentToken makes a token with which agents join the project. The secret is shown this once.
func (s *Service) CreateEnrolmentToken(ctx context.Context, by Principal, project uuid.UUID, n NewEnrolmentToken, idem Idempotency) (t EnrolmentToken, secret string, replayed bool, err error) {
	if err := n.check(); err != nil {
		return EnrolmentToken{}, "", false, err
	}
	err = s.control(ctx, func(tx pgx.Tx) error {
		if _, err := getProject(ctx, tx, project); err != nil {
			return err
		}
		var id uuid.UUID
		if id, replayed, err = remember(ctx, tx, project, "create-enrolment-token", idem, newID()); err != nil {
			return err
		}
		if replayed {
			t, _, err = store.One[EnrolmentToken](ctx, tx, store.GetEnrolmentToken, project, id)
			return err
		}
		if err := s.tokenWithin(ctx, tx, project, &n); err != nil {
			return err
		}
		secret = newSecret(tokenKind)
		if t, _, err = store.One[EnrolmentToken](ctx, tx, store.AddEnrolmentToken, id, project, n.Name, secretDigest(secret), n.ExpiresAt, n.Owner, n.MaxUses); err != nil {
			return err
		}
		return auditServer(ctx, tx, by.Actor(), "enrolment-token.create", id.String(), map[string]any{
			"project": project, "name": n.Name, "owner": n.Owner, "expires_at": n.ExpiresAt, "max_uses": n.MaxUses,
		})
	})
	return t, secret, replayed, err
}

// ListEnrolmentTokens lists a project's enrolment tokens.
func (s *Service) ListEnrolmentTokens(ctx context.Context, project uuid.UUID, page ListPage) ([]EnrolmentToken, error) {
	return listControl[EnrolmentToken](ctx, s, store.ListEnrolmentTokens, page, project)
}

// RevokeEnrolmentToken ends a token at once. Agents that have joined with it stay.
func (s *Service) RevokeEnrolmentToken(ctx context.Context, by Principal, project, id uuid.UUID) error {
	return s.revoke(ctx, by, store.RevokeEnrolmentToken, "enrolment-token", project, id)
}

// tokenWithin bounds how many agents may join with a token, and fills that in where it was left out.
func (s *Service) tokenWithin(ctx context.Context, tx pgx.Tx, project uuid.UUID, n *NewEnrolmentToken) error {
	most, err := s.limitOf(ctx, tx, project, QuotaAgentsPerToken)
	if err != nil {
		return err
	}
	if n.MaxUses == 0 {
		n.MaxUses = DefaultTokenUses
		if most > 0 {
			n.MaxUses = min(n.MaxUses, most)
		}
	}
	if most > 0 && n.MaxUses > most {
		return quotaError(quotaOf(QuotaAgentsPerToken), most, 0, n.MaxUses)
	}
	return nil
}
