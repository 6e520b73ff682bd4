package e2e

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api/apitest"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/eula"
	"github.com/ostraka/ostraka/runtime/statement"
)

// TestTenants tries every operation of the specification on a real server, with no key, with a key of another project, and with
// every role of the project.
func TestTenants(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := startWorld(t, 0)
	stranger := w.createProject(ctx, "strangers")
	ours := w.createProject(ctx, "ours")
	apitest.CheckTenants(t, apitest.Tenants{
		URL: "http://" + w.address, Project: ours.id.String(),
		Owner:     ours.ownerKey,
		Viewer:    w.createKey(ctx, ours, client.NewKeyRoleViewer),
		Submitter: w.createKey(ctx, ours, client.NewKeyRoleSubmitter),
		Stranger:  stranger.ownerKey,
		Operator:  w.operator,
		Agent:     w.enrol(ctx, ours),
	})
}

func (w *world) createKey(ctx context.Context, p project, role client.NewKeyRole) string {
	made, err := p.owner.CreateKeyWithResponse(ctx, p.id, nil, client.NewKey{Name: string(role), Role: role})
	require.NoError(w.t, err)
	require.NotNil(w.t, made.JSON201, string(made.Body))
	return made.JSON201.Secret
}

// enrol makes an agent that does nothing, and returns its key.
func (w *world) enrol(ctx context.Context, p project) string {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(w.t, err)
	enrolled, err := connect(w.t, w.address, p.token).EnrolAgentWithResponse(ctx, nil, client.Enrolment{
		Eula: acceptance(public, private),
		Name: "idle", Isolation: "process", PublicKey: public, Proof: ed25519.Sign(private, statement.Enrolment(public, p.token)),
		Platform: client.Platform{Os: "linux", Arch: "amd64", Interpreter: "none", Libc: "none", Agent: "test"},
	})
	require.NoError(w.t, err)
	require.NotNil(w.t, enrolled.JSON201, string(enrolled.Body))
	return enrolled.JSON201.Key
}

// acceptance is what an agent says whose owner has accepted the agreement that the program carries.
func acceptance(public ed25519.PublicKey, key ed25519.PrivateKey) *client.Acceptance {
	d, at := eula.Embedded(), time.Now().UTC().Truncate(time.Second)
	signature := ed25519.Sign(key, statement.Acceptance(public, d.Version, d.Digest, at))
	return &client.Acceptance{Version: d.Version, Digest: d.Digest, AcceptedAt: at, Signature: signature}
}
