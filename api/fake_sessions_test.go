package api_test

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/tenant"
)

// goodLink is a sign-in link of the owner.
const goodLink = "ostraka_link_good"

// A session's secret in the fake is the key that it was opened with, with this before it.
const sessionOf = "session-of-"

var fakeKeys = map[functions.Role]string{
	functions.RoleOwner: ownerKey, functions.RoleSubmitter: submitterKey, functions.RoleViewer: viewerKey, functions.RoleOperator: operatorKey,
}

func (f *fake) AuthenticateSession(ctx context.Context, secret string) (functions.Principal, error) {
	f.cookies.Add(1)
	for _, key := range fakeKeys {
		if secret == sessionOf+key && !f.signedOut {
			p, err := f.Authenticate(ctx, key)
			p.Session = thingID
			return p, err
		}
	}
	return functions.Principal{}, tenant.ErrNoSession
}

func (f *fake) UseSignInLink(ctx context.Context, secret string) (functions.Principal, error) {
	if secret != goodLink {
		return functions.Principal{}, &functions.Error{Kind: functions.KindUnauthorized, Code: "link_used", Message: "used", Hint: "another"}
	}
	return f.Authenticate(ctx, ownerKey)
}

func (f *fake) OpenSession(_ context.Context, as functions.Principal, _ string) (string, error) {
	f.opened = as
	return sessionOf + fakeKeys[as.Role], f.begin()
}

func (f *fake) CreateSignInLink(context.Context, functions.Principal) (string, time.Time, error) {
	return goodLink, when, f.begin()
}

func (f *fake) ListSessions(_ context.Context, _ functions.Principal, page functions.ListPage) ([]tenant.Session, error) {
	return list(f, page, func(int) tenant.Session { return tenant.Session{ID: thingID} })
}

func (f *fake) RevokeSession(_ context.Context, by functions.Principal, id uuid.UUID) error {
	f.signedOut = f.signedOut || by.Session == id
	return f.begin()
}
