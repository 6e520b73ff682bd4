package webhook

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/guardian"
)

// hostOf is what may be said of a URL: its path may be a secret.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}

// changes is what has more sent to the outside, in the words of the guardian. A yes is bound to the URL, which it does not tell.
func changes(by functions.Principal, project uuid.UUID, spec Spec, action string) base.Intent {
	i := intent(by, project, guardian.WebhookChange, spec, action)
	sum := sha256.Sum256([]byte(spec.URL))
	i.Asked = struct {
		URL string `json:"url_sha256"`
	}{hex.EncodeToString(sum[:])}
	return i
}

// stops is what has less sent: no project's rule keeps people from it.
func stops(by functions.Principal, project uuid.UUID, w Webhook, action string) base.Intent {
	return intent(by, project, guardian.WebhookStop, w.spec(), action)
}

func intent(by functions.Principal, project uuid.UUID, kind guardian.Kind, spec Spec, action string) base.Intent {
	facts := guardian.WebhookFacts{Webhook: guardian.Webhook{Name: spec.Name, Host: hostOf(spec.URL)}, Action: action}
	for _, k := range spec.Kinds {
		facts.Webhook.Kinds = append(facts.Webhook.Kinds, string(k))
	}
	return base.Intent{By: by, Project: project, Kind: kind, Subject: "webhook:" + spec.Name, Facts: facts}
}

func (w Webhook) spec() Spec { return Spec{Name: w.Name, URL: w.URL, Kinds: w.Kinds} }
