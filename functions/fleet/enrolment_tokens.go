package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/guardian"
)

// EnrolmentToken lets agents join a project.
type EnrolmentToken struct {
	ID        uuid.UUID  `json:"id"`
	Name      string     `json:"name"`
	Owner     string     `json:"owner,omitempty" doc:"Whose machines join with it. Left out: all that do are taken for one owner's."`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	RevokedAt *time.Time `json:"revoked_at,omitempty"`
	MaxUses   *int64     `json:"max_uses,omitempty" doc:"How many agents may join with it. Tokens that an earlier version made have no limit."`
	Uses      int64      `json:"uses" doc:"How many agents have joined with it. One that enrols again does not count again."`
}

// What a token may do whose maker says nothing, and the most that one may say: a token that leaks must come to an end by itself.
const (
	DefaultTokenUses = 1000                // agents
	DefaultTokenLife = 90 * 24 * time.Hour // agents that have joined stay for longer
)

// NewEnrolmentToken is a token that is to be made.
type NewEnrolmentToken struct {
	Name    string
	Owner   string            // whose machines join with it; "": all that do are taken for one owner's
	Expires *functions.Expiry // nil: in DefaultTokenLife
	MaxUses int64             // agents that may join with it; 0: DefaultTokenUses
}

// check also fills in what was left out, but for MaxUses.
func (n *NewEnrolmentToken) check(now time.Time) error {
	if err := tenant.CheckNewSecret("enrolment token", n.Name, n.Expires, now); err != nil {
		return err
	}
	if n.MaxUses < 0 || n.MaxUses > functions.MaxTokenUses {
		return functions.Invalid("bad_uses", fmt.Sprintf("a token is for 1 to %d agents, not %d", functions.MaxTokenUses, n.MaxUses), fmt.Sprintf("choose a number, or leave it out for %d", DefaultTokenUses))
	}
	if n.Expires == nil {
		n.Expires = &functions.Expiry{Seconds: int64(DefaultTokenLife.Seconds())}
	}
	return functions.CheckOwner(n.Owner)
}

// CreateEnrolmentToken makes a token with which agents join the project. The secret is shown this once.
func (s *Service) CreateEnrolmentToken(ctx context.Context, by functions.Principal, project uuid.UUID, n NewEnrolmentToken, idem functions.Idempotency) (t EnrolmentToken, secret string, replayed bool, err error) {
	now := time.Now()
	if err := n.check(now); err != nil {
		return EnrolmentToken{}, "", false, err
	}
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		if _, err := tenant.GetProject(ctx, tx, project); err != nil {
			return err
		}
		var id uuid.UUID
		if id, replayed, err = base.Remember(ctx, tx, project, "create-enrolment-token", idem, base.NewID()); err != nil {
			return err
		}
		if replayed {
			t, _, err = store.One[EnrolmentToken](ctx, tx, sql.GetEnrolmentToken, project, id)
			return err
		}
		if err := s.tokenWithin(ctx, tx, project, &n); err != nil {
			return err
		}
		ends := n.Expires.From(now)
		about := guardian.Token{Name: n.Name, Uses: n.MaxUses, Owner: n.Owner, Expires: *ends, LifetimeSeconds: n.Expires.Lifetime(now)}
		intent := base.Intent{By: by, Project: project, Kind: guardian.TokenCreate, Subject: n.Name, Facts: guardian.TokenFacts{Token: about}, Asked: n.Expires}
		if err := s.env.AskControl(ctx, tx, intent); err != nil {
			return err
		}
		secret = base.NewSecret(base.TokenKind)
		if t, _, err = store.One[EnrolmentToken](ctx, tx, sql.AddEnrolmentToken, id, project, n.Name, base.SecretDigest(secret), ends, n.Owner, n.MaxUses); err != nil {
			return err
		}
		return base.AuditServer(ctx, tx, by.Actor(), "enrolment-token.create", id.String(), map[string]any{
			"project": project, "name": n.Name, "owner": n.Owner, "expires_at": ends, "max_uses": n.MaxUses,
		})
	})
	return t, secret, replayed, err
}

// ListEnrolmentTokens lists a project's enrolment tokens.
func (s *Service) ListEnrolmentTokens(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]EnrolmentToken, error) {
	return base.ListControl[EnrolmentToken](ctx, s.env, sql.ListEnrolmentTokens, page, project)
}

// RevokeEnrolmentToken ends a token at once. Agents that have joined with it stay.
func (s *Service) RevokeEnrolmentToken(ctx context.Context, by functions.Principal, project, id uuid.UUID) error {
	intent := base.Intent{By: by, Project: project, Kind: guardian.TokenRevoke, Subject: id.String(), Facts: guardian.TokenFacts{Token: guardian.Token{ID: id.String()}}}
	return s.tenant.RevokeSecret(ctx, intent, sql.RevokeEnrolmentToken, "enrolment-token", id)
}

// tokenWithin bounds how many agents may join with a token, and fills that in where it was left out.
func (s *Service) tokenWithin(ctx context.Context, tx pgx.Tx, project uuid.UUID, n *NewEnrolmentToken) error {
	most, err := s.tenant.LimitOf(ctx, tx, project, functions.QuotaAgentsPerToken)
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
		return tenant.QuotaError(tenant.QuotaOf(functions.QuotaAgentsPerToken), most, 0, n.MaxUses)
	}
	return nil
}
