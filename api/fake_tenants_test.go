package api_test

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/tenant"
)

func (f *fake) project() functions.Project {
	return functions.Project{ID: projectID, Name: "numbers", FollowupsEnabled: true, Revision: 3, CreatedAt: when}
}

func (f *fake) CreateProject(_ context.Context, _ functions.Principal, _ string, idem functions.Idempotency) (functions.Project, string, bool, error) {
	f.idem = idem
	return f.project(), "first-key", f.replayed, f.begin()
}

func (f *fake) GetProject(_ context.Context, id uuid.UUID) (functions.Project, error) {
	if id != projectID {
		return functions.Project{}, functions.NotFound("project", id.String())
	}
	return f.project(), f.begin()
}

func (f *fake) ListProjects(_ context.Context, page functions.ListPage) ([]functions.Project, error) {
	return list(f, page, func(int) functions.Project { return f.project() })
}

func (f *fake) UpdateProject(_ context.Context, _ functions.Principal, _ uuid.UUID, change tenant.ProjectChange, revision int64) (functions.Project, error) {
	f.followups, f.revision = change.FollowupsEnabled, revision
	if revision != 3 {
		return functions.Project{}, functions.ErrRevision
	}
	return f.project(), f.begin()
}

func (f *fake) CreateKey(_ context.Context, _ functions.Principal, _ uuid.UUID, name string, role functions.Role, expires *functions.Expiry, idem functions.Idempotency) (functions.Key, string, bool, error) {
	f.idem = idem
	return functions.Key{ID: thingID, Name: name, Role: role, ExpiresAt: expires.From(when), CreatedAt: when}, "the-secret", f.replayed, f.begin()
}

func (f *fake) ListKeys(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]functions.Key, error) {
	return list(f, page, func(int) functions.Key { return functions.Key{ID: thingID} })
}

func (f *fake) RevokeKey(context.Context, functions.Principal, uuid.UUID, uuid.UUID) error {
	return f.begin()
}

func (f *fake) RotateKey(_ context.Context, _ functions.Principal, _, id uuid.UUID, _ time.Duration, expires *functions.Expiry, idem functions.Idempotency) (functions.Key, string, bool, error) {
	return functions.Key{ID: id, ExpiresAt: expires.From(when)}, "secret", idem.Key == "replayed", f.begin()
}

func (f *fake) RecoverOwner(_ context.Context, _ functions.Principal, _ uuid.UUID, name, _ string, expires *functions.Expiry, idem functions.Idempotency) (functions.Key, string, bool, error) {
	return functions.Key{Name: name, Role: functions.RoleOwner, ExpiresAt: expires.From(when)}, "secret", idem.Key == "replayed", f.begin()
}

func (f *fake) CreateEnrolmentToken(_ context.Context, _ functions.Principal, _ uuid.UUID, n fleet.NewEnrolmentToken, idem functions.Idempotency) (fleet.EnrolmentToken, string, bool, error) {
	f.idem = idem
	return fleet.EnrolmentToken{ID: thingID, Name: n.Name, ExpiresAt: n.Expires.From(when), CreatedAt: when}, "the-secret", f.replayed, f.begin()
}

func (f *fake) ListEnrolmentTokens(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]fleet.EnrolmentToken, error) {
	return list(f, page, func(int) fleet.EnrolmentToken { return fleet.EnrolmentToken{ID: thingID} })
}

func (f *fake) RevokeEnrolmentToken(context.Context, functions.Principal, uuid.UUID, uuid.UUID) error {
	return f.begin()
}

func (f *fake) RegisterSigningKey(_ context.Context, _ functions.Principal, _ uuid.UUID, k functions.NewSigningKey) (functions.SigningKey, bool, error) {
	f.signingKey = k
	return f.signing(1), !f.replayed, f.begin()
}

func (f *fake) signing(generation int) functions.SigningKey {
	return functions.SigningKey{Generation: generation, PublicKey: make([]byte, 32), Signature: make([]byte, 64), CreatedAt: when}
}

func (f *fake) ListSigningKeys(context.Context, uuid.UUID) ([]functions.SigningKey, error) {
	return []functions.SigningKey{f.signing(1), f.signing(2)}, f.begin()
}

func (f *fake) ProjectQuotas(context.Context, uuid.UUID) ([]functions.Quota, error) {
	return []functions.Quota{{Name: functions.QuotaOpenJobs, Limit: 10, Default: 1000, Own: true, Used: new(int64(3))}}, f.begin()
}

func (f *fake) SetQuotas(ctx context.Context, _ functions.Principal, project uuid.UUID, values map[functions.QuotaName]*int64) ([]functions.Quota, error) {
	f.quotas = values
	return f.ProjectQuotas(ctx, project)
}
