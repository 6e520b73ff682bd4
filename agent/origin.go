package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/agent/trust"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/signing"
)

// meetProjects learns whose functions to execute: from the token, and once from the server that the agent has joined.
func (a *agent) meetProjects(ctx context.Context) error {
	if err := a.trustToken(); err != nil {
		return err
	}
	done, err := a.trust.Learned(a.options.URL)
	if err != nil || done {
		return err
	}
	return a.persist(ctx, "asking for the projects' signing keys", a.learnKeys)
}

// trustToken takes the key that the project's owner has put into the token. A key that is known already may have come later.
func (a *agent) trustToken() error {
	t := a.token
	if t.Fingerprint == "" {
		return nil
	}
	changed, err := a.trust.Replace(t.Project, "", t.Fingerprint, trust.ByToken)
	if changed {
		a.log.Info("trusting the signing key that the enrolment token names", "project", t.Project, "fingerprint", t.Fingerprint)
	}
	return err
}

// learnKeys trusts the keys of the projects that the agent has just joined, where the token has named none.
func (a *agent) learnKeys(ctx context.Context) error {
	found := map[uuid.UUID]string{}
	for cursor := (*string)(nil); ; {
		page, err := a.server.projects(ctx, cursor)
		if err != nil {
			return err
		}
		for _, p := range page.Items {
			if newest, err := signing.Newest(chainOf(p.SigningKeys)); err == nil {
				found[p.Project] = signing.Fingerprint(newest.PublicKey)
			} else if !a.allowsUnsigned() {
				a.log.Warn("the project does not sign its functions, and this agent runs none that are not signed: it will refuse them unless it is started with --allow-unsigned", "project", p.Project)
			}
		}
		if page.NextCursor == "" {
			break
		}
		cursor = &page.NextCursor
	}
	learned, err := a.trust.Learn(a.options.URL, found)
	for project, fingerprint := range learned {
		a.log.Info("trusting the project's signing key from now on; compare the fingerprint with the project's owner", "project", project, "fingerprint", fingerprint)
	}
	return err
}

// allowsUnsigned says whether the machine's owner lets it execute unsigned functions.
func (a *agent) allowsUnsigned() bool {
	return a.options.AllowUnsigned || a.keeper.current().AllowUnsigned
}

// checkOrigin refuses a function that does not come from the project's owner, and follows the owner's keys.
func (a *agent) checkOrigin(lease *client.Lease) error {
	trusted, err := a.trust.Trusted(lease.Project)
	if err != nil {
		return err
	}
	offer := trust.Offer{Project: lease.Project, Function: lease.Function, Digest: lease.BundleDigest}
	if s := lease.Signing; s != nil {
		offer.Signed, offer.Signature, offer.Keys = true, s.Signature, chainOf(s.Keys)
	}
	now, err := trust.Judge(trusted, a.allowsUnsigned(), offer)
	var refusal *trust.Refusal
	if errors.As(err, &refusal) {
		return refused(refusal.Code, refusal.Text)
	}
	if err != nil || now == trusted {
		return err
	}
	how := trust.ByOldKey
	if trusted == "" {
		how = trust.AtFirstUse
	}
	changed, err := a.trust.Replace(lease.Project, trusted, now, how)
	if err != nil {
		return err
	}
	if changed {
		a.log.Warn("trusting another signing key of the project from now on", "project", lease.Project, "because_of", how, "fingerprint", now)
	}
	return nil
}

// checkName refuses a bundle that is another function of the project than the one that was signed under this name.
func checkName(lease *client.Lease, b *bundle.Bundle) error {
	if lease.Signing != nil && b.Manifest.Name != lease.Function {
		return refused(trust.BadSignature, fmt.Sprintf("the bundle is the function %q, and the signature is over %q", b.Manifest.Name, lease.Function))
	}
	return nil
}

func chainOf(keys []client.SigningKey) []signing.Link {
	chain := make([]signing.Link, 0, len(keys))
	for _, k := range keys {
		chain = append(chain, signing.Link{Generation: int(k.Generation), PublicKey: k.PublicKey, Signature: k.Signature})
	}
	return chain
}
